"""Open the transactions of the one database.  Only services do.

Connections do not survive a fork: a child that uses or even closes its parent's connections
releases SQLite's locks and ends PostgreSQL's sessions.  So idle connections are closed before every
fork and each process opens its own.  Fork while no transaction is open.
"""

import os
import weakref
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError
from sqlmodel import Session

from penstock.errors import SchemaUnknown
from penstock.persistence import migrate
from penstock.persistence.dialects import dialect_of, raise_translated, translated
from penstock.persistence.protocol import Keeper, Need, Watch
from penstock.persistence.row_authentication import accept_for_single_row, accept_present_keys
from penstock.persistence.statements.glances import Glance, Glances, PreparedSelect

WRITING = "writing"
"""The key in ``Session.info`` of a write transaction; its value is the dialect."""


class ReadSession(Session):
    """Represent a read session.  Writing raises, since the changes would be lost."""

    def flush(self, objects: Sequence[Any] | None = None) -> None:
        if self.new or self.dirty or self.deleted:
            raise RuntimeError("a read transaction cannot write; open a write transaction")
        super().flush(objects)


class WriteSession(Session):
    """Represent a session of the one transaction that its connection has begun.

    The session joins it when it is first used for entities, or when it commits: statements that
    need none run on the connection, in a third of the time.
    """

    def __init__(self, connection: Connection, info: dict[Any, Any]) -> None:
        super().__init__(
            connection,
            expire_on_commit=False,
            info=info,
            join_transaction_mode="control_fully",
        )
        self._own = connection
        accept_present_keys(self.info)

    def connection(self, *_: Any, **__: Any) -> Connection:
        """Return the connection.  Raises ``RuntimeError`` once its transaction was undone."""
        if not self._own.in_transaction():
            # Each statement would be a transaction of its own, which nothing undoes.
            raise RuntimeError("the transaction was rolled back; nothing more is done in it")
        return self._own

    def rollback(self) -> None:
        """Undo the transaction, also what was done in it without the session."""
        super().rollback()
        self._own.rollback()

    def commit(self) -> None:
        """Commit the transaction; what is pending was flushed before."""
        if self.in_transaction() or self.dispatch.after_commit:
            # Joined now at the latest: a session that has begun without its connection, as one does
            # to which a row was added, would commit nothing.
            super().connection()
            super().commit()
        else:
            self._own.commit()

    def close(self) -> None:
        """Let go of entities, if there are any; the connection is its opener's."""
        if self.in_transaction() or self.identity_map or self.new:
            super().close()


class Database:
    """Hold a database and its pools of connections; cheap to keep, and safe across forks.

    ``url`` is like ``sqlite:////folder/penstock.db``; the file must exist (``migrate.upgrade``
    makes it); or like ``postgresql://user@host/penstock``.  Raises ``InvalidInput`` for a URL of
    another kind of database.  Sessions have ``info``; if ``replicated``, commits need a standby.
    """

    def __init__(
        self,
        url: str,
        *,
        busy_timeout_seconds: float = 10.0,
        patience_seconds: float = 5.0,
        replicated: bool = False,
        info: Mapping[str, object] | None = None,
    ) -> None:
        dialect = dialect_of(url, busy_timeout_seconds, patience_seconds, replicated=replicated)
        self._info, self._dialect = dict(info or {}), dialect
        self._engines = self._dialect.engines()
        self.watch: Watch | None = None
        self.keeper: Keeper | None = None
        weakref.finalize(self, self._engines.dispose)
        _databases.add(self)

    @contextmanager
    def read(self) -> Iterator[Session]:
        """Open a transaction that sees one state of the database and cannot change it.

        Raises ``DatabaseUnavailable`` with the next step; the state is then unchanged.
        """
        session = ReadSession(self._engines.reader, expire_on_commit=False, info=dict(self._info))
        with translated(self._dialect), session:
            yield session
            session.flush()

    def glance(self, statement: PreparedSelect, **parameters: object) -> Glance:
        """Run one statement that reads, and return the first of its rows.

        It sees one state of the database.  Neither a session nor a transaction is made for it: that
        would take several times as long, and two more round trips to a server.  Raises as ``read``.
        """
        info = dict(self._info)
        accept_for_single_row(info)
        try:
            return Glance(info, statement.first(self._engines.once, parameters))
        except DBAPIError as error:
            raise_translated(self._dialect, error)

    def glances(self, statement: PreparedSelect, **parameters: object) -> Glances:
        """Run one statement as ``glance`` does, and return all of its rows."""
        info = dict(self._info)
        # Each row is checked: they decide what is charged.
        accept_present_keys(info)
        try:
            return Glances(info, statement.every(self._engines.once, parameters))
        except DBAPIError as error:
            raise_translated(self._dialect, error)

    def write(self, *, need: Need = Need.GROWTH, grows: int = 0) -> AbstractContextManager[Session]:
        """Open a transaction that writes alone, and commits at the block's end.

        No other transaction changes what it reads.  ``need`` says what it adds, and ``grows`` how
        many bytes beyond a few; if the keeper has no room for that, it is refused before anything
        is done.

        An error in the block rolls back everything.  Nothing is retried here. Raises
        ``DatabaseUnavailable`` with the next step, also from the commit; the caller may repeat the
        request.  The state is then unchanged, unless it is ``Interrupted`` and ``uncertain``: the
        connection was lost before the commit was confirmed.
        """
        return self._write(self._engines.alone, self.watch, need, grows)

    def write_beside(
        self, *, need: Need = Need.GROWTH, grows: int = 0
    ) -> AbstractContextManager[Session]:
        """Open a transaction like ``write``, but beside others of its kind if possible.

        The block locks the rows that it depends on (``locks``).
        """
        return self._write(self._engines.beside, self.watch, need, grows)

    def write_unwatched(self, *, need: Need = Need.GROWTH) -> AbstractContextManager[Session]:
        """Open a transaction like ``write`` that the watch never refuses.

        It is for the action that ends the state in which the watch refuses everything.
        """
        return self._write(self._engines.alone, None, need, 0)

    def write_own_rows(self, *, need: Need = Need.RELIEF) -> AbstractContextManager[Session]:
        """Open a transaction beside others that the watch never refuses.

        It appends no leaf.  It is for rows that nothing else depends on: sessions and jobs."""
        return self._write(self._engines.beside, None, need, 0)

    @contextmanager
    def _write(
        self, engine: Engine, watch: Watch | None, need: Need, grows: int
    ) -> Iterator[Session]:
        info = {**self._info, WRITING: self._dialect}
        if watch is not None:
            watch.coming(info)
        with (
            translated(self._dialect),
            engine.connect() as connection,
            _begun(connection, info) as session,
        ):
            if self.keeper is not None:
                self.keeper.require(need, grows)
            if watch is not None:
                watch.begun(session)
            # Now at the latest, so that whatever the block does comes after the lock.
            self._dialect.begin_now(session.connection())
            yield session
            session.flush()
            if watch is not None:
                watch.ending(session)
            self._commit(session)
        if watch is not None:
            watch.committed(session.info)

    @contextmanager
    def write_aside(self) -> Iterator[Session]:
        """Open a transaction that blocks no others, and waits only for others of its kind.

        It is for the log's tree, which nothing else writes.  Raises as ``write`` does.
        """
        info = {**self._info, WRITING: self._dialect}
        with (
            translated(self._dialect),
            self._engines.aside.connect() as connection,
            _begun(connection, info) as session,
        ):
            yield session
            session.flush()
            self._commit(session)

    @property
    def moves(self) -> int:
        """Return how often this process found another server in the place of the one before."""
        return self._dialect.moves

    @property
    def kind(self) -> str:
        """Return the kind of database, ``sqlite`` or ``postgresql``."""
        return self._dialect.name

    @property
    def one_writer(self) -> bool:
        """Return True if one transaction of any kind writes at a time."""
        return self.kind == "sqlite"

    def _commit(self, session: Session) -> None:
        if self._dialect.failed(session.connection()):
            raise RuntimeError("a statement of this transaction failed; it cannot be committed")
        with translated(self._dialect, at_commit=True):
            session.commit()

    def size(self) -> int:
        """Return the size of the database in bytes, as its server counts them; 0 for a file."""
        with translated(self._dialect), self._engines.reader.connect() as connection:
            return self._dialect.size(connection)

    def check_schema(self) -> str:
        """Return the schema if it is exactly this version's; otherwise raise ``SchemaUnknown``."""
        head = migrate.NEWEST
        with translated(self._dialect), self._engines.reader.connect() as connection:
            current = migrate.revision_of(connection)
        if current == head:
            return head
        if current is None:
            problem = "The database is empty or belongs to another program"
            step = "Run `penstock db upgrade`, or `penstock init` in a new home."
        elif current in migrate.revisions():
            problem = f"The database has schema {current}, older than {head}"
            step = "Make a backup and run `penstock db upgrade`."
        else:
            problem = f"The database has schema {current}, which this version does not know"
            step = (
                "Install the version of Penstock that wrote it; `penstock db upgrade` cannot help."
            )
        raise SchemaUnknown(
            f"{problem}; this version of Penstock needs {head}. {step}",
            current=current,
            needed=head,
        )

    def unprotected(self) -> list[str]:
        """Return the tables of history that this server's role in the database may change.

        Triggers refuse that anyway.  Empty if the database has no roles.
        """
        with translated(self._dialect), self._engines.reader.connect() as connection:
            return self._dialect.unprotected(connection)

    def close(self) -> None:
        """Close the idle connections.  The next transaction opens new ones."""
        self._engines.dispose()

    def forget(self) -> None:
        """Leave the connections to the parent process, and start without any."""
        self._engines.dispose(close=False)


def _begun(connection: Connection, info: dict[Any, Any]) -> WriteSession:
    # Its end is a commit or a rollback, and never the end of a block.
    connection.begin()
    return WriteSession(connection, info)


_databases: weakref.WeakSet[Database] = weakref.WeakSet()


def _close_before_fork() -> None:
    for database in list(_databases):
        database.close()


def _forget_in_child() -> None:
    for database in list(_databases):
        database.forget()


os.register_at_fork(before=_close_before_fork, after_in_child=_forget_in_child)
