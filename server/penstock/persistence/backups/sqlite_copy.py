"""Copy a SQLite file by SQLite's own backup interface."""

import sqlite3
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

from penstock.errors import DatabaseUnavailable


def copy(source: Path, path: Path) -> None:
    """Copy a SQLite file into the empty file ``path``, and check the copy.

    Raises ``DatabaseUnavailable`` if either fails or the copy has faults.
    """
    try:
        written(source, path)
        # Immutable, so that reading leaves no file of SQLite's beside it.
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
            f"The copy is damaged: {len(problems)} faults and {len(broken)} rows with references"
            f" to missing rows. The database itself may be damaged; keep the backups that you"
            f" have."
        )


def written(source: Path, path: Path) -> None:
    """Copy every page in one step, under one read transaction; writers can continue."""
    with (
        closing(sqlite3.connect(_address(source, "mode=ro"), uri=True)) as original,
        closing(sqlite3.connect(path)) as copied,
    ):
        original.backup(copied)


def _address(path: Path, options: str) -> str:
    return f"file:{quote(str(path))}?{options}"
