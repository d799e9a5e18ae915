"""Use SQLite: one file, one writer at a time.

Python's ``sqlite3`` opens no transaction before a SELECT and SQLAlchemy drops ``FOR
UPDATE`` silently, so the drivers' own transactions are switched off and ``BEGIN`` is
emitted here: ``BEGIN IMMEDIATE`` if the transaction may write, which serializes writers before
anything is read.
"""

import contextlib
import os
import re
import sqlite3
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, literal, type_coerce
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool
from sqlalchemy.types import UserDefinedType

from penstock.errors import DatabaseUnavailable, SchemaUnknown, Unavailable
from penstock.persistence.backups import sqlite_copy
from penstock.persistence.protocol import Engines
from penstock.persistence.statements.glances import KeptConnections
from penstock.persistence.write_queue import WriteQueue

OLDEST = (3, 35)
"""The first version of SQLite that has RETURNING."""

SHORTEST_NAP_SECONDS = 0.0005
LONGEST_NAP_SECONDS = 0.004
"""The pause between two attempts to become the writer."""

LARGE = 1 << 20
"""The size in bytes from which a content is let go as soon as a statement has it."""

PIECE = 1 << 18
"""The size in bytes of what is read at once of a long content: it stays in the cache."""

_USED_UP = "used up"
"""The key in a connection's ``info`` that says that a statement of it keeps a large content."""


class _Purpose(Enum):
    """Name what the connections of an engine are for."""

    READ = "read"
    WRITE = "write"
    MIGRATE = "migrate"


class SQLite:
    """Hold a SQLite file in WAL mode.  Opening never creates it."""

    name = "sqlite"
    options: Mapping[str, Any] = MappingProxyType({})
    moves = 0

    def __init__(self, path: Path, busy_timeout_seconds: float) -> None:
        self._path = path.absolute()
        self.place = str(self._path)
        self._timeout = busy_timeout_seconds
        self._queue = WriteQueue(self._path)

    def create(self) -> None:
        try:
            # SQLite gives its -wal and -shm files the mode of the database.
            descriptor = os.open(self._path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        except OSError as error:
            reason = os.strerror(error.errno or 0)
            raise self._unavailable(
                f"The database {self._path.name} cannot be created ({reason})."
                " Make its folder, writable for the server's user, and try again."
            ) from error
        os.close(descriptor)

    def engines(self) -> Engines:
        reader, writer = self._engine(_Purpose.READ), self._engine(_Purpose.WRITE)
        once = KeptConnections(reader, self._check_file)
        return Engines(reader=reader, alone=writer, beside=writer, aside=writer, once=once)

    def migrator(self) -> Engine:
        return self._engine(_Purpose.MIGRATE)

    def _engine(self, purpose: _Purpose) -> Engine:
        engine = create_engine(
            "sqlite://",
            creator=lambda: self._connect(purpose),
            poolclass=QueuePool,
            pool_size=8,
            max_overflow=-1,
            pool_use_lifo=True,
            hide_parameters=True,
        )
        first = "BEGIN" if purpose is _Purpose.READ else "BEGIN IMMEDIATE"

        def begin(connection: Connection) -> None:
            if purpose is _Purpose.WRITE:
                self._wait_to_write(connection)
            else:
                connection.exec_driver_sql(first)

        event.listen(engine, "begin", begin)
        event.listen(engine, "connect", self._note_file)
        event.listen(engine, "checkin", _close_used_up)
        event.listen(engine, "checkout", self._refuse_another_file)
        return engine

    def _wait_to_write(self, connection: Connection) -> None:
        """Run ``BEGIN IMMEDIATE`` once no other transaction writes, or fail when time is over.

        Whoever came first tries first (``write_queue``), and alone: it is awake when the lock gets
        free, and all others sleep.  SQLite's own wait sleeps for up to a tenth of a second: among
        several writers the lock is then idle, and some are passed over for seconds.
        """
        until = time.monotonic() + self._timeout
        place = self._queue.wait(self._timeout)
        try:
            self._try_to_write(connection, until)
        finally:
            if place is not None:
                self._queue.leave(place)

    def _try_to_write(self, connection: Connection, until: float) -> None:
        driver: Any = connection.connection.driver_connection
        nap = SHORTEST_NAP_SECONDS
        while time.monotonic() < until:
            try:
                driver.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
                    break
            else:
                return
            time.sleep(nap)
            nap = min(2 * nap, LONGEST_NAP_SECONDS)
        # If this fails as well, its error has a message of ours.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def _connect(self, purpose: _Purpose) -> sqlite3.Connection:
        if sqlite3.sqlite_version_info < OLDEST:
            raise self._unavailable(
                f"Python is linked with SQLite {sqlite3.sqlite_version}, and"
                f" {'.'.join(map(str, OLDEST))} is the oldest that has what Penstock uses. Install"
                " a newer SQLite or another Python, or use PostgreSQL."
            )
        connection = sqlite3.connect(
            f"file:{quote(str(self._path))}?mode=rw",  # never creates a lost file
            uri=True,
            timeout=self._timeout,
            isolation_level=None,
            check_same_thread=False,
        )
        with contextlib.ExitStack() as undo:
            undo.callback(connection.close)
            self._set_pragmas(connection, purpose)
            undo.pop_all()
        return connection

    def _set_pragmas(self, connection: sqlite3.Connection, purpose: _Purpose) -> None:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise self._unavailable(
                f"The database {self._path.name} cannot have a write-ahead log in its folder"
                f" (its journal mode stays {mode}). Move it to a local, writable disk."
            )
        # NORMAL may lose a commit at a power cut, and a lost release would be redrawn.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        # Without these, INSERT OR REPLACE deletes history without its triggers firing.
        connection.execute("PRAGMA recursive_triggers = ON")
        if purpose is not _Purpose.MIGRATE:
            connection.execute("PRAGMA foreign_keys = ON")
        if purpose is _Purpose.READ:
            connection.execute("PRAGMA query_only = ON")
        if purpose is _Purpose.WRITE:
            connection.execute("PRAGMA busy_timeout = 0")  # _wait_to_write waits instead

    def _identity(self) -> tuple[int, int] | None:
        try:
            # Of the path as text: each connection that is taken asks.
            status = os.stat(self.place)  # noqa: PTH116
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _note_file(self, _: object, entry: ConnectionPoolEntry) -> None:
        entry.info["file"] = self._identity()

    def _refuse_another_file(
        self, _: object, entry: ConnectionPoolEntry, __: PoolProxiedConnection
    ) -> None:
        self._check_file(entry)

    def _check_file(self, entry: ConnectionPoolEntry | PoolProxiedConnection) -> None:
        # A pooled connection keeps writing to a file that was moved or replaced by a restore.
        if entry.info["file"] != self._identity():
            raise DisconnectionError

    def _unavailable(self, detail: str) -> DatabaseUnavailable:
        return DatabaseUnavailable(detail, path=str(self._path))

    def exists(self) -> bool:
        return self._path.exists()

    def large(self, connection: Connection, content: bytes) -> Any:
        """Return what an INSERT takes for ``content``; see ``Dialect.large``.

        SQLite copies parameters, and keeps its copy until the statement runs again or is closed.
        """
        if len(content) < LARGE:
            return content
        connection.info[_USED_UP] = True
        # An expression: after the INSERT its row holds nothing, and loads what was stored.
        return type_coerce(literal(_Once(content), _AsItIs()), _AsItIs())

    def copy(self, path: Path) -> None:
        sqlite_copy.copy(self._path, path)

    def begin_now(self, connection: Connection) -> None:
        """Do nothing: it began with ``BEGIN IMMEDIATE``."""

    def lock_log(self, connection: Connection) -> None:
        """Do nothing: a write transaction is alone already."""

    def lock_row(self, connection: Connection, table: str, key: int) -> None:
        """Do nothing: a write transaction is alone already."""

    def size(self, connection: Connection) -> int:  # noqa: ARG002 - its disk tells what is left
        return 0

    def failed(self, connection: Connection) -> bool:
        # A statement fails alone, unless SQLite undoes all of them: it does when its disk is full.
        driver: Any = connection.connection.driver_connection
        return not driver.in_transaction

    def role(self, connection: Connection) -> str | None:  # noqa: ARG002 - a file knows no roles
        return None

    def entitle(self, connection: Connection, role: str) -> None:
        """Do nothing: a file has no roles; a process that may write it may write all of it."""

    def unprotected(self, connection: Connection) -> list[str]:  # noqa: ARG002 - see ``entitle``
        return []

    def check_references(self, connection: Connection) -> None:
        # Rebuilding a table needs foreign keys off, so they are checked before the commit.
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        if broken:
            tables = ", ".join(sorted({str(row[0]) for row in broken}))
            raise SchemaUnknown(
                f"The upgrade would leave {len(broken)} rows with references to missing rows (in"
                f" {tables}); nothing was changed. Restore a backup and try again."
            )

    def failure(
        self,
        error: DBAPIError,
        *,
        at_commit: bool = False,  # noqa: ARG002 - a commit that fails changed nothing
    ) -> Unavailable | None:
        code = getattr(error.orig, "sqlite_errorcode", None)
        if code is None:
            return None
        if code == sqlite3.SQLITE_ERROR and _LACKING.match(str(error.orig)):
            return SchemaUnknown(
                "The database lacks a table or a column that this version of Penstock needs."
                " Run `penstock db upgrade`."
            )
        sentence = _FAILURES.get(code & 0xFF)
        if sentence is None:
            return None
        return self._unavailable(sentence.format(name=self._path.name, timeout=self._timeout))


@dataclass(frozen=True)
class LongBlob:
    """Hold where a BLOB is stored; see ``LongContent``.

    SELECT would hold it twice, in memory that the kernel must clear first: that takes several times
    as long as reading it.
    """

    connection: Connection
    table: str
    column: str
    key: int

    @contextlib.contextmanager
    def opened(self) -> Iterator[tuple[int, Iterator[bytes]]]:
        """Yield its size and its pieces."""
        driver: Any = self.connection.connection.driver_connection
        with _as_errors_of_statements():
            blob = driver.blobopen(self.table, self.column, self.key, readonly=True)
        with contextlib.closing(blob):
            yield len(blob), _pieces(blob)


def _pieces(blob: sqlite3.Blob) -> Iterator[bytes]:
    while True:
        with _as_errors_of_statements():
            piece = blob.read(PIECE)
        if not piece:
            return
        yield piece


@contextlib.contextmanager
def _as_errors_of_statements() -> Iterator[None]:
    """Raise errors of the driver as SQLAlchemy raises them for statements."""
    try:
        yield
    except sqlite3.Error as error:
        raise DBAPIError("reading a long content", None, error) from error


class _Once:
    """Hold a content until ``sqlite3`` copies it into a statement, and not while that runs."""

    def __init__(self, content: bytes) -> None:
        self._content = content

    def __conform__(self, _: object) -> bytes:
        content, self._content = self._content, b""
        return content


class _AsItIs(UserDefinedType[_Once]):
    """Pass a parameter to ``sqlite3`` as it is."""

    cache_ok = True


def _close_used_up(_: object, entry: ConnectionPoolEntry) -> None:
    if _USED_UP in entry.info:
        entry.invalidate()


_LACKING = re.compile("no such (table|column)|table .* has no column")

_FAILURES = {
    sqlite3.SQLITE_BUSY: (
        "The database {name} is locked: another process has held it for more than"
        " {timeout:g} s. Try again; if it lasts, look for a backup or an upgrade that hangs."
    ),
    sqlite3.SQLITE_LOCKED: (
        "The database {name} is locked by another connection of this process. Try again."
    ),
    sqlite3.SQLITE_FULL: (
        "The disk of the database {name} is full; nothing was changed."
        " Free some space and try again."
    ),
    sqlite3.SQLITE_READONLY: (
        "The database {name} is read-only; nothing was changed."
        " Make the file and its folder writable for the server's user."
    ),
    sqlite3.SQLITE_NOTADB: (
        "The file {name} is not a database, or is encrypted. Restore the database, or name the"
        " right file in PENSTOCK_DATABASE_URL."
    ),
    sqlite3.SQLITE_CORRUPT: (
        "The database {name} is damaged. Stop the server and restore a backup."
    ),
    sqlite3.SQLITE_IOERR: (
        "The disk of the database {name} reports an input/output error; nothing was changed."
        " Check the disk, and whether it has room left, then try again."
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "The database {name} cannot be opened. If there is none yet, run `penstock init`;"
        " otherwise check that it is where PENSTOCK_DATABASE_URL says, and readable."
    ),
    sqlite3.SQLITE_PERM: (
        "The database {name} may not be read. Give the server's user access to the file."
    ),
    sqlite3.SQLITE_PROTOCOL: (
        "The database {name} stays locked by other processes. Try again in a moment."
    ),
}
