"""Take snapshots of everything in a home and its data, so that any change is visible."""

import hashlib
import sqlite3
from contextlib import closing
from pathlib import Path

from sqlalchemy import select

from penstock.persistence import Database
from penstock.persistence.tables.columns import metadata


def tables(database: Path) -> dict[str, str]:
    """Return each table's number of rows in a SQLite file, their hash, and one of the schema."""
    found = {}
    with closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        schema = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name")
        described = schema.fetchall()
        found["schema"] = _hash(repr(described).encode())
        for name in [name for kind, name, _ in described if kind == "table"]:
            # The name is the schema's own.
            rows = connection.execute(f'SELECT * FROM "{name}" ORDER BY rowid').fetchall()  # noqa: S608
            found[f"table {name}"] = f"{len(rows)} rows, {_hash(repr(rows).encode())}"
    return found


def tables_of(database: Database) -> dict[str, str]:
    """Return each table's number of rows in any database, and a hash of them."""
    found = {}
    with database.read() as session:
        for table in metadata.sorted_tables:
            rows = session.connection().execute(select(table).order_by(*table.primary_key)).all()
            found[f"table {table.name}"] = f"{len(rows)} rows, {_hash(repr(rows).encode())}"
    return found


def files(*places: Path) -> dict[str, str]:
    """Return a hash of each file, and of each file in a folder."""
    return {
        str(path): _hash(path.read_bytes())
        for place in places
        for path in (sorted(place.rglob("*")) if place.is_dir() else [place])
        if path.is_file()
    }


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
