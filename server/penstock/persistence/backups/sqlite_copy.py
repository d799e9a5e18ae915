"""Copy a SQLite file by SQLite's own backup interface."""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from penstock.errors import DatabaseUnavailable


def copy(source: Path, path: Path) -> None:
    """Copy a SQLite file into the empty file ``path``, and look through the copy.

    Raises ``DatabaseUnavailable`` where either cannot be done or shows a fault.
    """
    try:
        written(source, path)
        # Immutable, so that looking leaves no file of SQLite's beside it.
        with closing(sqlite3.connect(_address(path, "immutable=1"), uri=True)) as copied:
            problems = [row[0] for row in copied.execute("PRAGMA integrity_check")]
            broken = copied.execute("PRAGMA foreign_key_check").fetchall()
    except sqlite3.Error as error:
        raise DatabaseUnavailable(
            f"The database {source.name} cannot be copied ({error.sqlite_errorname})."
            " Check its disk and that of the copy, then try again.",
            path=str(path),
        ) from error
    if problems != ["ok"] or broken:
        raise DatabaseUnavailable(
            f"The copy is not whole: {len(problems)} faults and {len(broken)} rows without what"
            " they refer to. The database itself may be damaged; keep the backups that you have."
        )


def written(source: Path, path: Path) -> None:
    """Copy every page in one step, under one read transaction: writers go on meanwhile."""
    with (
        closing(sqlite3.connect(_address(source, "mode=ro"), uri=True)) as original,
        closing(sqlite3.connect(path)) as copied,
    ):
        original.backup(copied)


def _address(path: Path, options: str) -> str:
    return f"file:{quote(str(path))}?{options}"
