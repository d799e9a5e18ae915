"""Read with a ClickHouse server by its HTTP interface: ``clickhouse://USER:PASSWORD@HOST:PORT/``.

Keys and the salt are sent beside the statement, as external tables, so that no log has them.
"""

import math
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

import pyarrow as pa

from penstock.connectors.clickhouse.failures import (
    code_of,
    is_gone,
    own_words,
    refused_at_start,
)
from penstock.connectors.clickhouse.session import PATIENCE, SETTINGS, Limits, Relations, inside
from penstock.connectors.clickhouse.session import Session as Reading
from penstock.connectors.warehouses.address import Address, address_of
from penstock.errors import Unavailable

FORM: Final = "clickhouse://USER:PASSWORD@HOST:8443/DATABASE"
_ENCRYPTED: Final = frozenset({443, 8443})


class Server:
    """Read with one client; every statement is a request of its own."""

    def __init__(self, client: Any, external: Any, errors: tuple[type[Exception], ...]) -> None:
        self._client, self._external, self._errors = client, external, errors

    @property
    def version(self) -> str:
        """Return ClickHouse's version."""
        with own_words(self._errors, running=False):
            (row,) = self._answered("SELECT version() AS version", {}).to_pylist()
        return str(row["version"])

    def types(self, name: str) -> dict[str, str] | None:
        """Return the types of a view's columns; None if there is no such view."""
        return self._described(f"DESCRIBE TABLE {name}", {})

    def table(self, text: str, relations: Relations) -> pa.Table:
        """Run one SELECT; return its rows."""
        with own_words(self._errors, running=True):
            return self._answered(inside(text), relations)

    def schema(self, text: str, relations: Relations) -> dict[str, str] | None:
        """Return the columns of a SELECT without running it; None if ClickHouse refuses it."""
        return self._described(f"DESCRIBE TABLE ({inside(text)})", relations, missing=False)

    def _answered(self, text: str, relations: Relations) -> pa.Table:
        sent: Any = self._external() if relations else None
        for name, (types, rows) in relations.items():
            sent.add_file(file_name=name, fmt="Arrow", structure=types, data=_arrow(rows))
        return self._client.query_arrow(text, external_data=sent)

    def _described(
        self, text: str, relations: Relations, *, missing: bool = True
    ) -> dict[str, str] | None:
        try:
            rows = self._answered(text, relations).to_pylist()
        except self._errors as error:
            code = code_of(str(error))
            if is_gone(code) or (code is not None and not missing):
                return None
            with own_words(self._errors, running=False):
                raise
        return {row["name"]: row["type"] for row in rows}


@contextmanager
def reading(address: str, limits: Limits) -> Iterator[Reading]:
    """Yield a session; raise ``Unavailable`` if there is no server, or if it refuses."""
    parts = parts_of(address)
    try:
        import clickhouse_connect
        from clickhouse_connect.driver.exceptions import ClickHouseError
        from clickhouse_connect.driver.external import ExternalData
    except ImportError:
        raise Unavailable(
            "The server cannot reach a ClickHouse server yet: install what it needs with"
            " `pip install clickhouse-connect` and start it again. Nothing was released."
        ) from None
    errors = (ClickHouseError, pa.ArrowException, OSError)
    try:
        client = clickhouse_connect.get_client(
            host=parts.host,
            port=parts.port or 8443,
            username=parts.user or None,
            password=parts.password or "",
            database=parts.path[0] if parts.path else None,
            secure=is_encrypted(address),
            connect_timeout=PATIENCE,
            send_receive_timeout=math.ceil(limits.seconds) + PATIENCE,
            client_name="penstock",
            autogenerate_session_id=False,
            settings={**SETTINGS, **limits.everywhere, "readonly": "2"},
        )
    except errors as error:
        raise refused_at_start(code_of(str(error))) from None
    try:
        yield Server(client, ExternalData, errors)
    finally:
        with suppress(*errors):
            client.close()


def parts_of(address: str) -> Address:
    """Return the parts of an address; raise ``InvalidInput`` for another form."""
    scheme = "clickhouses" if address.lower().startswith("clickhouses:") else "clickhouse"
    return address_of(address, scheme, FORM)


def is_encrypted(address: str) -> bool:
    """Return True if a server is spoken to under TLS, by the scheme or by the port."""
    port = parts_of(address).port
    return address.lower().startswith("clickhouses:") or port is None or port in _ENCRYPTED


def _arrow(rows: pa.Table) -> bytes:
    sink = pa.BufferOutputStream()
    with pa.ipc.new_file(sink, rows.schema) as writer:
        writer.write_table(rows)
    written: bytes = sink.getvalue().to_pybytes()
    return written
