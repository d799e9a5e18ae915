"""Everything in which one database differs from another, in one place.

SQLite.  One file, one writer at a time.  Python's ``sqlite3`` opens no transaction
before a SELECT and SQLAlchemy drops ``FOR UPDATE`` silently, so the drivers' own
transactions are switched off and ``BEGIN`` is emitted here: ``BEGIN IMMEDIATE`` where the
transaction may write, which serializes writers before anything is read.
"""

import contextlib
import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import contextmanager
from enum import Enum
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, DisconnectionError
from sqlalchemy.pool import ConnectionPoolEntry, PoolProxiedConnection, QueuePool

from penstock.errors import DatabaseUnavailable, InvalidInput, SchemaUnknown, Unavailable

SHORTEST_NAP_SECONDS = 0.0005
LONGEST_NAP_SECONDS = 0.004
"""Between two attempts to be the one that writes."""


class Purpose(Enum):
    """What the connections of an engine are for."""

    READ = "read"
    WRITE = "write"
    MIGRATE = "migrate"


class Dialect(Protocol):
    """What ``Database`` and the migrations ask of a database."""

    def engine(self, purpose: Purpose) -> Engine:
        """A pool of connections, each of which begins its transactions as ``purpose`` asks."""

    def create(self) -> None:
        """Make an empty database where there is none.  Raises ``DatabaseUnavailable``."""

    def check_references(self, connection: Connection) -> None:
        """Raise ``SchemaUnknown`` where a migration left a foreign key that points nowhere."""

    def failure(self, error: DBAPIError) -> Unavailable | None:
        """What ``error`` means to an operator; None where it is no failure of the database."""


class SQLite:
    """A SQLite file in WAL mode.  It is never created by being opened."""

    def __init__(self, path: Path, busy_timeout_seconds: float) -> None:
        self._path = path.absolute()
        self._timeout = busy_timeout_seconds

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

    def engine(self, purpose: Purpose) -> Engine:
        engine = create_engine(
            "sqlite://",
            creator=lambda: self._connect(purpose),
            poolclass=QueuePool,
            pool_size=8,
            max_overflow=-1,
            hide_parameters=True,
        )
        first = "BEGIN" if purpose is Purpose.READ else "BEGIN IMMEDIATE"

        def begin(connection: Connection) -> None:
            if purpose is Purpose.WRITE:
                self._wait_to_write(connection)
            else:
                connection.exec_driver_sql(first)

        event.listen(engine, "begin", begin)
        event.listen(engine, "connect", self._note_file)
        event.listen(engine, "checkout", self._refuse_another_file)
        return engine

    def _wait_to_write(self, connection: Connection) -> None:
        """``BEGIN IMMEDIATE`` as soon as nobody else writes, or fail when the time is over.

        SQLite's own wait naps for longer and longer, up to a tenth of a second: among
        several writers the lock lies idle meanwhile, and some are passed over for seconds.
        """
        driver: Any = connection.connection.driver_connection
        until = time.monotonic() + self._timeout
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
        # Where this fails as well, its error is one that can be told in our words.
        connection.exec_driver_sql("BEGIN IMMEDIATE")

    def _connect(self, purpose: Purpose) -> sqlite3.Connection:
        connection = sqlite3.connect(
            f"file:{quote(str(self._path))}?mode=rw",  # never creates: a lost file must show
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

    def _set_pragmas(self, connection: sqlite3.Connection, purpose: Purpose) -> None:
        (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
        if mode != "wal":
            raise self._unavailable(
                f"The database {self._path.name} cannot keep a write-ahead log where it lies"
                f" (its journal mode stays {mode}). Move it to a local, writable disk."
            )
        # NORMAL may lose a commit at a power cut, and a lost release would be redrawn.
        connection.execute("PRAGMA synchronous = FULL")
        connection.execute("PRAGMA fullfsync = ON")
        connection.execute("PRAGMA secure_delete = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        # Without these, INSERT OR REPLACE deletes history without its triggers firing.
        connection.execute("PRAGMA recursive_triggers = ON")
        if purpose is not Purpose.MIGRATE:
            connection.execute("PRAGMA foreign_keys = ON")
        if purpose is Purpose.READ:
            connection.execute("PRAGMA query_only = ON")
        if purpose is Purpose.WRITE:
            connection.execute("PRAGMA busy_timeout = 0")  # _wait_to_write waits instead

    def _identity(self) -> tuple[int, int] | None:
        try:
            status = self._path.stat()
        except OSError:
            return None
        return status.st_dev, status.st_ino

    def _note_file(self, _: object, entry: ConnectionPoolEntry) -> None:
        entry.info["file"] = self._identity()

    def _refuse_another_file(
        self, _: object, entry: ConnectionPoolEntry, __: PoolProxiedConnection
    ) -> None:
        # A pooled connection keeps writing to a file that was moved away or restored over.
        if entry.info["file"] != self._identity():
            raise DisconnectionError

    def _unavailable(self, detail: str) -> DatabaseUnavailable:
        return DatabaseUnavailable(detail, path=str(self._path))

    def check_references(self, connection: Connection) -> None:
        # Rebuilding a table needs foreign keys off, so they are checked before the commit.
        broken = connection.exec_driver_sql("PRAGMA foreign_key_check").fetchall()
        if broken:
            tables = ", ".join(sorted({str(row[0]) for row in broken}))
            raise SchemaUnknown(
                f"The upgrade would leave {len(broken)} rows without what they refer to"
                f" (in {tables}); nothing was changed. Restore a backup and try again."
            )

    def failure(self, error: DBAPIError) -> Unavailable | None:
        code = getattr(error.orig, "sqlite_errorcode", None)
        if code is None:
            return None
        if code == sqlite3.SQLITE_ERROR and str(error.orig).startswith("no such table"):
            return SchemaUnknown(
                "The database lacks a table that this version of Penstock needs."
                " Run `penstock db upgrade`."
            )
        sentence = _FAILURES.get(code & 0xFF)
        if sentence is None:
            return None
        return self._unavailable(sentence.format(name=self._path.name, timeout=self._timeout))


_FAILURES = {
    sqlite3.SQLITE_BUSY: (
        "The database {name} is locked: another process has kept it for more than"
        " {timeout:g} s. Ask again; if it lasts, look for a backup or an upgrade that hangs."
    ),
    sqlite3.SQLITE_LOCKED: (
        "The database {name} is locked by another connection of this process. Ask again."
    ),
    sqlite3.SQLITE_FULL: (
        "The disk of the database {name} is full; nothing was changed."
        " Free some space and ask again."
    ),
    sqlite3.SQLITE_READONLY: (
        "The database {name} is read-only; nothing was changed."
        " Make the file and its folder writable for the server's user."
    ),
    sqlite3.SQLITE_NOTADB: (
        "The file {name} is not a database, or is encrypted."
        " Put the database back, or name the right file in PENSTOCK_DATABASE_URL."
    ),
    sqlite3.SQLITE_CORRUPT: (
        "The database {name} is damaged. Stop the server and restore a backup."
    ),
    sqlite3.SQLITE_IOERR: (
        "The disk of the database {name} reports an input/output error; nothing was changed."
        " Check the disk, then ask again."
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "The database {name} cannot be opened. If there is none yet, run `penstock init`;"
        " otherwise check that it is where PENSTOCK_DATABASE_URL says, and readable."
    ),
    sqlite3.SQLITE_PERM: (
        "The database {name} may not be read. Give the server's user access to the file."
    ),
    sqlite3.SQLITE_PROTOCOL: (
        "The database {name} stays locked by other processes. Ask again in a moment."
    ),
}


@contextmanager
def translated(dialect: Dialect) -> Iterator[None]:
    """Tell failures of the database in the words of ``penstock.errors``."""
    try:
        yield
    except DBAPIError as error:
        failure = dialect.failure(error)
        if failure is None:
            raise
        raise failure from error


def dialect_of(url: str, busy_timeout_seconds: float = 10.0) -> Dialect:
    """The dialect that ``url`` names.  Raises ``InvalidInput`` where it names none of ours."""
    try:
        parsed = make_url(url)
    except ArgumentError as error:
        # The URL itself may hold a password and is not repeated.
        raise InvalidInput(
            "The database URL cannot be read. It looks like sqlite:////folder/penstock.db."
        ) from error
    if parsed.get_backend_name() != "sqlite":
        raise InvalidInput(
            f"This version of Penstock keeps its state in SQLite, not in"
            f" {parsed.get_backend_name()}. Use a URL like sqlite:////folder/penstock.db."
        )
    if not parsed.database or parsed.database == ":memory:" or parsed.query:
        raise InvalidInput(
            "Penstock needs a database in a file, named without options."
            " Use a URL like sqlite:////folder/penstock.db."
        )
    return SQLite(Path(parsed.database), busy_timeout_seconds)
