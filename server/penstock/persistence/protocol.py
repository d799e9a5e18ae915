"""Define the protocol of a database: engines, locks, failures, and who watches its writes."""

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any, Protocol

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from penstock.errors import Unavailable
from penstock.persistence.statements.glances import KeptConnections


class Need(Enum):
    """Name how much a transaction adds, which decides if it may run when disk space is scarce."""

    GROWTH = "growth"
    LITTLE = "little"
    """Sessions, and records of idempotent requests."""

    RELIEF = "relief"
    """Revocations of access, and deletions of rows."""


@dataclass(frozen=True)
class Engines:
    """Hold one engine for each kind of transaction.

    ``reader`` sees one state and cannot write.  ``alone`` writes while nobody else does;
    ``beside`` writes while others of its kind do, and locks the rows that it depends on.
    ``aside`` also writes during an ``alone`` transaction: only to rows that no other transaction
    writes or reads.  ``once`` has connections for single statements that read.
    """

    reader: Engine
    alone: Engine
    beside: Engine
    aside: Engine
    once: KeptConnections

    def dispose(self, *, close: bool = True) -> None:
        """Close the idle connections, or with ``close=False`` merely forget them."""
        for pool in (self.once, self.reader, self.alone, self.beside, self.aside):
            pool.dispose(close=close)


class LongContent(Protocol):
    """Hold where a long content is stored, to read it before its transaction ends."""

    def opened(self) -> AbstractContextManager[tuple[int, Iterator[bytes]]]:
        """Return its size in bytes, and its pieces in their order."""


class Dialect(Protocol):
    """Define the operations that ``Database`` and the migrations need from a database."""

    name: str
    place: str
    moves: int
    """How often a connection found another server than the one before it: after a fail-over."""

    @property
    def options(self) -> Mapping[str, Any]:
        """Return libpq's options; none for a file."""

    def engines(self) -> Engines:
        """Return pools of connections for the server's own transactions."""

    def migrator(self) -> Engine:
        """Return connections that may change the schema, one at a time."""

    def create(self) -> None:
        """Make an empty database if there is none.  Raises ``DatabaseUnavailable``."""

    def exists(self) -> bool:
        """Return True if there may be a database; only connecting can tell."""

    def copy(self, path: Path) -> None:
        """Write one state of the database into the empty file ``path``, and check the copy."""

    def begin_now(self, connection: Connection) -> None:
        """Begin the transaction, unless its first statement has done so already."""

    def lock_log(self, connection: Connection) -> None:
        """Wait for the log, and keep others from appending to it until the transaction ends."""

    def lock_row(self, connection: Connection, table: str, key: int) -> None:
        """Lock a row before the next statement, until the transaction ends."""

    def size(self, connection: Connection) -> int:
        """Return the size of the database in bytes, if its server states it; 0 for a file."""

    def failed(self, connection: Connection) -> bool:
        """Return True if a commit would roll back silently, because a statement failed before."""

    def large(self, connection: Connection, content: bytes) -> Any:
        """Return what an INSERT takes for a large ``content``, so that no copy outlives it."""

    def check_references(self, connection: Connection) -> None:
        """Raise ``SchemaUnknown`` if a migration left a foreign key to a missing row."""

    def role(self, connection: Connection) -> str | None:
        """Return the connected role, or None if the database has no roles."""

    def entitle(self, connection: Connection, role: str) -> None:
        """Grant ``role`` exactly the privileges that the server needs."""

    def unprotected(self, connection: Connection) -> list[str]:
        """Return the tables of history that the connected role may change, triggers aside."""

    def failure(self, error: DBAPIError, *, at_commit: bool = False) -> Unavailable | None:
        """Return what ``error`` means to an operator; None if the database did not fail."""


class Watch(Protocol):
    """Watch every write transaction except those ``aside``; an exception raised here ends it."""

    def coming(self, info: dict[str, Any]) -> None:
        """Prepare a transaction before it begins and blocks others; ``info`` is its session's."""

    def begun(self, session: Session) -> None:
        """Check a transaction before anything is done in it."""

    def ending(self, session: Session) -> None:
        """Check a transaction before it is committed."""

    def committed(self, info: dict[str, Any]) -> None:
        """Act after the commit, with its session's ``info``, before any request is answered."""


class Keeper(Protocol):
    """Keep a reserve of disk space for the database."""

    def require(self, need: Need, grows: int = 0) -> None:
        """Raise ``NoRoom`` if a transaction of ``need`` may not take ``grows`` more bytes."""
