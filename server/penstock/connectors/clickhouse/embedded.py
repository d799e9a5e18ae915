"""Read with the ClickHouse inside this process, chdb, on a folder of tables: ``chdb:///FOLDER``.

A folder is opened by one process at a time, and a process opens one folder; it is closed when no
reading needs it any more.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import chdb
import pyarrow as pa
from chdb.session import Session as Connection

from penstock.connectors.clickhouse.failures import code_of, is_gone, own_words
from penstock.connectors.clickhouse.session import SETTINGS, Limits, Relations, inside
from penstock.connectors.clickhouse.session import Session as Reading
from penstock.connectors.connections import AT
from penstock.errors import InvalidInput, Unavailable

_ERRORS: Final = (chdb.ChdbError, RuntimeError, pa.ArrowException, OSError)


class Embedded:
    """Read with one connection at a time, which writes nothing but temporary tables of its own.

    A connection is not used again after a failure: rows of the failed statement may be left in it,
    and would stand before those of the next one.
    """

    def __init__(self, folder: Path, settings: Mapping[str, str]) -> None:
        self._folder = folder
        given = ", ".join(f"{name} = '{value}'" for name, value in settings.items())
        self._settings = f"SET {given}"
        self._connection = self._opened()

    def close(self) -> None:
        """End the reading."""
        with suppress(*_ERRORS):
            self._connection.close()

    @property
    def version(self) -> str:
        """Return ClickHouse's version."""
        with own_words(_ERRORS, running=False):
            (row,) = self._answered("SELECT version() AS version").to_pylist()
        return str(row["version"])

    def types(self, name: str) -> dict[str, str] | None:
        """Return the types of a view's columns; None if there is no such view."""
        return self._described(f"DESCRIBE TABLE {name}")

    def table(self, text: str, relations: Relations) -> pa.Table:
        """Run one SELECT; return its rows."""
        with self._made(relations), own_words(_ERRORS, running=True):
            return self._answered(inside(text))

    def schema(self, text: str, relations: Relations) -> dict[str, str] | None:
        """Return the columns of a SELECT without running it; None if ClickHouse refuses it."""
        with self._made(relations):
            return self._described(f"DESCRIBE TABLE ({inside(text)})", missing=False)

    @contextmanager
    def _made(self, relations: Relations) -> Iterator[None]:
        for name, (types, rows) in relations.items():
            with own_words(_ERRORS, running=False):
                # Names and types are ours; chdb finds the rows by the name of this variable.
                self._connection.query(f"CREATE TEMPORARY TABLE {name} ({types}) ENGINE = Memory")
                if len(rows):
                    self._connection.query(f"INSERT INTO {name} SELECT * FROM Python(rows)")  # noqa: S608
        try:
            yield
        finally:
            with suppress(*_ERRORS):
                for name in relations:
                    self._connection.query(f"DROP TEMPORARY TABLE IF EXISTS {name}")

    def _described(self, text: str, *, missing: bool = True) -> dict[str, str] | None:
        try:
            rows = self._answered(text).to_pylist()
        except _ERRORS as error:
            if is_gone(code_of(str(error))) or not missing:
                return None
            with own_words(_ERRORS, running=False):
                raise
        return {row["name"]: row["type"] for row in rows}

    def _answered(self, text: str) -> pa.Table:
        try:
            return self._connection.query(text, "ArrowTable")
        except _ERRORS:
            failed, self._connection = self._connection, self._opened()
            with suppress(*_ERRORS):
                failed.close()
            raise

    def _opened(self) -> Any:
        connection: Any = Connection(f"{self._folder}?mode=ro")  # type: ignore[no-untyped-call]
        try:
            connection.query(self._settings)
        except _ERRORS:
            connection.close()
            raise
        return connection


@contextmanager
def reading(address: str, limits: Limits) -> Iterator[Reading]:
    """Yield a session; raise ``Unavailable`` if the folder cannot be opened."""
    folder = folder_of(address)
    if not (folder / "metadata").is_dir():
        # It would be made, and have no view.
        raise Unavailable(
            "The folder of the connection has no tables of ClickHouse: check it with penstock"
            " connection check, and that the server may read it. Nothing was released."
        )
    try:
        session = Embedded(folder, {**SETTINGS, **limits.inside})
    except _ERRORS:
        raise Unavailable(
            "ClickHouse cannot open the connection's folder: another process has it open, or this"
            " one reads another folder. Read by several processes through a server. Nothing was"
            " released."
        ) from None
    try:
        yield session
    finally:
        session.close()


def folder_of(address: str) -> Path:
    """Return the folder of an address; raise ``InvalidInput`` for another form."""
    parts = urlsplit(address)
    path = unquote(parts.path)
    if parts.netloc or parts.query or parts.fragment or len(path) < 2 or "?" in path:
        raise InvalidInput(
            "The connection's address cannot be read; it is like chdb:///srv/clickhouse, the path"
            " of a folder, with %-escapes.",
            pointer=AT,
        )
    return Path(path)
