"""A consistent copy of the database in one file, made while others read and write.

SQLite's is another database file, PostgreSQL's an archive of ``pg_dump``.  Both are one
snapshot, and are looked through before they count as made.  Keys are not in the database,
so they are in no copy of it.
"""

import os
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import Conflict, Unavailable
from penstock.persistence.database import Database
from penstock.persistence.dialects import dialect_of


@dataclass(frozen=True)
class Copy:
    """A copy that was made and looked through: the file, and its schema."""

    path: Path
    kind: str
    schema: str
    size: int


def back_up(url: str, path: Path) -> Copy:
    """Copy the database at ``url`` into a new file of mode 0600.

    ``url`` is that of the role that owns the database.  Raises ``SchemaUnknown`` for
    another schema than this version's, ``Conflict`` where ``path`` exists,
    ``Unavailable`` and ``DatabaseUnavailable`` where the copy cannot be made or is not
    whole; then no file is left.
    """
    database = Database(url)
    try:
        schema = database.check_schema()
    finally:
        database.close()
    dialect = dialect_of(url)
    with ExitStack() as undo:
        _create(path)
        undo.callback(path.unlink, missing_ok=True)
        dialect.copy(path)
        _sync(path)
        undo.pop_all()
    return Copy(path, dialect.name, schema, path.stat().st_size)


def _create(path: Path) -> None:
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_CLOEXEC, 0o600))
    except FileExistsError as error:
        raise Conflict(
            f"{path} exists already. Nothing was written; name a file that is not there yet."
        ) from error
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be written ({error.strerror}). Name a file in a folder that exists,"
            " and that this account may write to."
        ) from error


def _sync(path: Path) -> None:
    """Let file and name survive a power cut."""
    for place, flags in ((path, os.O_RDWR), (path.parent, os.O_RDONLY)):
        descriptor = os.open(place, flags | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
