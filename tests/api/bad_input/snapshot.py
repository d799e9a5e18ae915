"""Everything that a home and its data hold, so that a change of anything shows."""

import hashlib
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path


def snapshot(database: Path, *places: Path) -> dict[str, str]:
    """By table how many rows it has and a hash of them, and a hash of each file in ``places``."""
    return {**tables(database), **dict(_files(places))}


def tables(database: Path) -> dict[str, str]:
    """Each table's number of rows and a hash of the rows, and a hash of the schema."""
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


def _files(places: Iterable[Path]) -> Iterable[tuple[str, str]]:
    for place in places:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            if path.is_file():
                yield str(path), _hash(path.read_bytes())


def _hash(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
