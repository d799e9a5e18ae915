"""Read which keys a backup needs from its file alone, without a database.

A SQLite file is read in place, an archive of ``pg_dump`` by ``pg_restore``, which writes
the rows of a table as text.
"""

import re
import sqlite3
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from penstock.errors import InvalidInput, Unavailable

TABLES = {
    "alembic_version": ("version_num",),
    "dataset": ("name", "folded", "version", "wrapped_kek"),
    "log_key": ("public", "wrapped"),
    "secret_check": ("name", "digest"),
}
"""The tables that are read, and their columns."""

Rows = list[tuple[bytes, ...]]

_SQLITE, _ARCHIVE = b"SQLite format 3\0", b"PGDMP"
_COPY = re.compile(r'COPY \S+?\.?"?(\w+)"? \((.*)\) FROM stdin;')
_ESCAPES = {"b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


@dataclass(frozen=True)
class Contents:
    """Hold rows of a backup's tables, as bytes; no rows for a table that its schema lacks."""

    kind: str
    rows: dict[str, Rows]


def read(path: Path) -> Contents:
    """Return the keys that a backup needs.

    Raises ``InvalidInput`` for a file that is not a backup or is damaged, ``Unavailable`` if it
    cannot be read, or ``pg_restore`` is missing.
    """
    try:
        with path.open("rb") as file:
            start = file.read(len(_SQLITE))
    except OSError as error:
        raise Unavailable(f"{path} cannot be read ({error.strerror}). Name a backup.") from error
    if start == _SQLITE:
        return Contents("sqlite", _of_sqlite(path))
    if start.startswith(_ARCHIVE):
        return Contents("postgresql", _of_archive(path))
    raise _no_backup(path, "is neither a SQLite database nor an archive of pg_dump")


def _of_sqlite(path: Path) -> dict[str, Rows]:
    address = f"file:{quote(str(path.absolute()))}?immutable=1"
    try:
        with closing(sqlite3.connect(address, uri=True)) as opened:
            # All of it, since a truncated copy may still return some tables.
            if opened.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                raise _no_backup(path, "is damaged")
            names = {row[0] for row in opened.execute("SELECT name FROM sqlite_master")}
            return {
                table: [
                    tuple(cell if isinstance(cell, bytes) else str(cell).encode() for cell in row)
                    for row in opened.execute(
                        f"SELECT {', '.join(columns)} FROM {table} ORDER BY rowid"  # noqa: S608 - names of ours
                    )
                ]
                for table, columns in TABLES.items()
                if table in names
            }
    except sqlite3.Error as error:
        raise _no_backup(path, f"cannot be read ({error})") from error


def _of_archive(path: Path) -> dict[str, Rows]:
    tables = [f"--table={table}" for table in TABLES]
    try:
        done = subprocess.run(  # noqa: S603 - the program is named here
            ["pg_restore", "--data-only", *tables, "--file=-", str(path.absolute())],  # noqa: S607 - where it is on the path
            stdin=subprocess.DEVNULL,
            capture_output=True,
        )
    except FileNotFoundError as error:
        raise Unavailable(
            "pg_restore is not installed here. Install PostgreSQL's client programs"
            " (postgresql-client), of the version that made the backup or newer."
        ) from error
    if done.returncode:
        raise _no_backup(path, f"cannot be read: pg_restore failed with {done.returncode}")
    return dict(_copied(done.stdout.decode()))


def _copied(text: str) -> Iterator[tuple[str, Rows]]:
    """Yield the tables in a text of ``COPY`` statements."""
    lines = iter(text.split("\n"))
    for line in lines:
        match = _COPY.fullmatch(line)
        if match and match[1] in TABLES:
            names = [name.strip(' "') for name in match[2].split(",")]
            places = [names.index(name) for name in TABLES[match[1]]]
            rows: Rows = []
            for row in lines:
                if row == "\\.":
                    break
                cells = row.split("\t")
                rows.append(tuple(_cell(cells[place]) for place in places))
            yield match[1], rows


def _cell(text: str) -> bytes:
    if text.startswith("\\\\x"):
        return bytes.fromhex(text[3:])
    return re.sub(r"\\(.)", lambda match: _ESCAPES.get(match[1], match[1]), text).encode()


def _no_backup(path: Path, what: str) -> InvalidInput:
    return InvalidInput(f"{path} {what}. Name a file that `penstock backup` made.")


def newest(rows: Sequence[tuple[bytes, ...]]) -> str:
    """Return the schema that the table of versions states."""
    return max((row[0].decode() for row in rows), default="")
