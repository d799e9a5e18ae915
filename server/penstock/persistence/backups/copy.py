"""Copy the database consistently into one file, while others read and write.

SQLite's is another database file, PostgreSQL's an archive of ``pg_dump``.  Both are one snapshot,
and are checked before they count as complete.  Keys are not in the database, so no copy contains
them.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from penstock.errors import Conflict, Unavailable
from penstock.persistence.database import Database
from penstock.persistence.dialects import dialect_of

PART = ".part"
"""Suffix of a backup file's name until the backup is complete."""

_OF_SQLITE = ("-journal", "-wal", "-shm")


@dataclass(frozen=True)
class Copy:
    """Hold the path and schema of a copy that was made and checked."""

    path: Path
    kind: str
    schema: str
    size: int


def back_up(url: str, path: Path) -> Copy:
    """Copy the database at ``url`` into a new file of mode 0600.

    ``url`` is that of the role that owns the database.  The file gets its name when it is complete;
    a partial file of a killed process is overwritten.  Raises ``SchemaUnknown`` for another schema
    than this version's, ``Conflict`` if ``path`` exists, ``Unavailable`` and
    ``DatabaseUnavailable`` if the copy cannot be made or is incomplete; then no file is left.
    """
    database = Database(url)
    try:
        schema = database.check_schema()
    finally:
        database.close()
    dialect = dialect_of(url)
    with _unfinished(path) as beside:
        dialect.copy(beside)
        _sync(beside)
        _name(beside, path)
    _sync(path)
    return Copy(path, dialect.name, schema, path.stat().st_size)


@contextmanager
def _unfinished(path: Path) -> Iterator[Path]:
    """Yield an empty temporary file beside ``path``, for one writer at a time; it is removed."""
    beside = path.with_name(path.name + PART)
    if path.exists():
        raise _exists(path)
    try:
        descriptor = os.open(beside, os.O_CREAT | os.O_WRONLY | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise Unavailable(
            f"{path} cannot be written ({error.strerror}). Name a file in a folder that exists,"
            " and that this account may write to."
        ) from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            raise Conflict(
                f"{path} is being written by another process. Name another file."
            ) from error
        try:
            os.fchmod(descriptor, 0o600)
            os.ftruncate(descriptor, 0)
            yield beside
        finally:
            for left in (beside, *(Path(f"{beside}{suffix}") for suffix in _OF_SQLITE)):
                left.unlink(missing_ok=True)
    finally:
        os.close(descriptor)


def _name(beside: Path, path: Path) -> None:
    """Give a file its final name, unless that exists by now."""
    try:
        path.hardlink_to(beside)
    except FileExistsError as error:
        raise _exists(path) from error
    except OSError:  # a file system without links
        beside.rename(path)


def _exists(path: Path) -> Conflict:
    return Conflict(f"{path} exists already. Nothing was written; name a new file.")


def _sync(path: Path) -> None:
    """Flush the file and its directory entry to disk."""
    for place, flags in ((path, os.O_RDWR), (path.parent, os.O_RDONLY)):
        descriptor = os.open(place, flags | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
