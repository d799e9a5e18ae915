"""Connect to PostgreSQL through psycopg: many writers at a time, in READ COMMITTED.

Transactions are begun here and not by the driver.  A reading transaction sees one snapshot and is
READ ONLY.  A writing one holds the *gate*, an advisory lock: exclusively, to be alone as on SQLite;
or shared with others that lock the rows that they depend on.  The end of the log is a second
advisory lock.  Both end with their transaction.

Nothing waits forever.  The server bounds locks, statements and idle transactions, and waiting for a
silent server is ended here.
"""

import contextlib
import math
import select
from pathlib import Path
from typing import Any

import psycopg
from psycopg import pq
from psycopg.types.string import StrDumper
from sqlalchemy import URL, Connection, Engine, create_engine, event
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.exc import DBAPIError, DisconnectionError
from sqlalchemy.pool import PoolProxiedConnection, QueuePool

from penstock.errors import InvalidInput, Unavailable
from penstock.persistence.backups import postgresql_dump as dump
from penstock.persistence.postgresql import durability, failures, roles
from penstock.persistence.postgresql.breaker import Breaker
from penstock.persistence.postgresql.driver import Cursor, DriverConnection, ServerCursor
from penstock.persistence.protocol import Engines
from penstock.persistence.statements.glances import KeptConnections

GATE = int.from_bytes(b"penstock")
LOG = GATE + 1
"""Keys of advisory locks, which are local to one database."""

_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
_WRITING = "BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE"
_ALONE = f"SELECT pg_advisory_xact_lock({GATE})"
# For one transaction: each session plans a release's statements once and not with each set of
# parameters, which takes longer than running them. They find rows by keys, whatever these are.
_GENERIC_PLAN = "set_config('plan_cache_mode', 'force_generic_plan', true)"
_GENERIC_PLANS = "SET plan_cache_mode = force_generic_plan"
_BESIDE = f"SELECT pg_advisory_xact_lock_shared({GATE}), {_GENERIC_PLAN}"
_END_OF_LOG = f"SELECT pg_advisory_xact_lock({LOG}), {_GENERIC_PLAN}"

WORK_SECONDS = 20.0
"""Seconds that one statement may take in addition to waiting for a lock."""

SILENCE_SECONDS = 5.0
"""Additional seconds of silence after which the connection is abandoned."""

IDLE_SECONDS = 60.0
"""Seconds that a transaction may be idle between two statements; a draw takes less."""

SHORTEST_CONNECT_SECONDS = 2
"""Shortest connection timeout in seconds; libpq treats smaller ones as this."""


class PostgreSQL:
    """Hold one database of a PostgreSQL server.

    ``busy_timeout_seconds`` is how long a statement may wait for a lock, ``patience_seconds`` how
    long the server may be silent on all connections.  ``replicated`` requires that every commit
    waits for a standby; it waits no longer than that, too.
    """

    name = "postgresql"

    def __init__(
        self,
        url: URL,
        busy_timeout_seconds: float,
        patience_seconds: float,
        *,
        replicated: bool = False,
    ) -> None:
        self.options = _options(url, patience_seconds)
        self.breaker = Breaker(self._answers, patience_seconds)
        host, port = self.options.get("host", "localhost"), self.options.get("port", 5432)
        self.place = f"{host} port {port}, database {url.database}"
        self._lock_seconds = busy_timeout_seconds
        self._replicated = replicated
        self._server: tuple[int, str | None] | None = None
        self.moves = 0

    def create(self) -> None:
        """Do nothing: the owner makes the database by ``createdb``."""

    def engines(self) -> Engines:
        pool = self._engine(self._lock_seconds + WORK_SECONDS)
        # One pool of connections, with four ways to begin a transaction, and one without any.
        reader, alone, beside, aside = (pool.execution_options() for _ in range(4))
        once = KeptConnections(pool, _check_idle, lambda driver: driver.execute(_GENERIC_PLANS))
        confirmed = (durability.CONFIRMED,) if self._replicated else ()
        in_any_case = (durability.CONFIRMED_IN_ANY_CASE,) if self._replicated else ()
        _begin(reader, _SNAPSHOT)
        _begin(alone, _WRITING, _ALONE, *confirmed)
        _begin(beside, _WRITING, _BESIDE, *confirmed)
        _begin(aside, _WRITING, *in_any_case)
        return Engines(reader, alone, beside, aside, once)

    def large(self, connection: Connection, content: bytes) -> Any:  # noqa: ARG002 - nothing lasts
        return content

    def migrator(self) -> Engine:
        engine = self._engine(0.0)  # a migration may take any time
        _begin(engine, _WRITING, _ALONE)
        return engine

    def exists(self) -> bool:
        return True

    def copy(self, path: Path) -> None:
        dump.copy(self.options, path)

    def begin_now(self, connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        if driver.ahead:
            connection.exec_driver_sql("SELECT")

    def lock_log(self, connection: Connection) -> None:
        _ahead(connection, _END_OF_LOG)

    def lock_row(self, connection: Connection, table: str, key: int) -> None:
        statement = f'SELECT id FROM "{table}" WHERE id = %s::BIGINT FOR UPDATE'  # noqa: S608 - ours
        _ahead(connection, statement, key)

    def size(self, connection: Connection) -> int:
        result = connection.exec_driver_sql("SELECT pg_database_size(current_database())")
        return int(result.scalar_one())

    def failed(self, connection: Connection) -> bool:
        driver: Any = connection.connection.driver_connection
        return bool(driver.info.transaction_status == pq.TransactionStatus.INERROR)

    def role(self, connection: Connection) -> str | None:
        return roles.current(connection)

    def entitle(self, connection: Connection, role: str) -> None:
        roles.entitle(connection, role)

    def unprotected(self, connection: Connection) -> list[str]:
        return roles.unprotected(connection)

    def check_references(self, connection: Connection) -> None:
        """Do nothing: foreign keys hold at every statement."""

    def failure(self, error: DBAPIError, *, at_commit: bool = False) -> Unavailable | None:
        return failures.of(error, self.place, self._lock_seconds, at_commit=at_commit)

    def _engine(self, statement_seconds: float) -> Engine:
        engine = create_engine(
            "postgresql+psycopg://",
            creator=lambda: self._connect(statement_seconds),
            poolclass=QueuePool,
            pool_size=8,
            max_overflow=-1,
            pool_use_lifo=True,
            hide_parameters=True,
            use_native_hstore=False,
        )
        event.listen(engine, "checkout", _refuse_ended)
        return engine

    def _connect(self, statement_seconds: float) -> "DriverConnection":
        self.breaker.require_closed()
        try:
            connection = DriverConnection.connect(**self.options, autocommit=True)
        except psycopg.errors.ConnectionTimeout:
            self.breaker.trip()
            raise
        with contextlib.ExitStack() as undo:
            undo.callback(connection.close)
            connection.breaker, connection.cursor_factory = self.breaker, Cursor
            connection.server_cursor_factory = ServerCursor
            self._configure(connection, statement_seconds)
            undo.pop_all()
        return connection

    def _answers(self) -> bool:
        """Return True if the server sends any answer, on a separate connection."""
        try:
            with DriverConnection.connect(**self.options, autocommit=True) as connection:
                connection.patience = self.breaker.patience
                connection.execute("SELECT 1")
        except (psycopg.errors.ConnectionTimeout, failures.Silent):
            return False
        except psycopg.Error:
            return True  # it refuses, or is not there: requests fail at once with that
        return True

    def _configure(self, connection: "DriverConnection", statement_seconds: float) -> None:
        connection.adapters.register_dumper(str, _Text)
        connection.patience = self._lock_seconds + WORK_SECONDS + SILENCE_SECONDS
        session = durability.settle(
            connection,
            lock=_milliseconds(self._lock_seconds),
            statement=_milliseconds(statement_seconds),
            idle=_milliseconds(IDLE_SECONDS),
        )
        durability.require(session, self.place, replicated=self._replicated)
        if self._replicated:
            connection.watch_commits(self.breaker.patience)
        if self._server not in (None, session.server):
            self.moves += 1
        self._server = session.server
        if not statement_seconds:
            connection.patience, connection.breaker = float("inf"), None


def _ahead(connection: Connection, statement: str, *values: int) -> None:
    driver: Any = connection.connection.driver_connection
    driver.ahead = [*driver.ahead, (statement, values)]


class _Text(StrDumper):
    """Refuse text with NUL, which PostgreSQL cannot hold and no stored name has.

    A search for a name with NUL must find nothing, not fail; so NUL becomes another character that
    no name has.
    """

    def dump(self, obj: str) -> Any:
        return super().dump(obj.replace("\0", "\uffff"))


def _options(url: URL, patience: float) -> dict[str, Any]:
    """Return libpq's options.  Those of the URL override those set here."""
    dialect = PGDialect_psycopg()  # type: ignore[no-untyped-call]  # SQLAlchemy's
    _, connect_options = dialect.create_connect_args(url.set(drivername="postgresql+psycopg"))  # type: ignore[no-untyped-call]  # SQLAlchemy's
    connect_options.pop("context", None)
    options = {
        "client_encoding": "utf8",
        "application_name": "penstock",
        "connect_timeout": max(SHORTEST_CONNECT_SECONDS, math.ceil(patience)),
        "tcp_user_timeout": math.ceil(4000 * patience),
        "keepalives_idle": 30,
        "keepalives_interval": 10,
        "keepalives_count": 3,
        **connect_options,
    }
    known = True
    try:
        psycopg.conninfo.make_conninfo("", **options)
    except psycopg.Error:
        known = False
    if not known:
        # Outside of the handler: the library's message may quote the URL.
        raise InvalidInput(
            "The database URL has an option that is unknown to PostgreSQL's library. Options are"
            " connection parameters, such as sslmode=verify-full."
        )
    return options


def _begin(engine: Engine, *statements: str) -> None:
    def begin(connection: Connection) -> None:
        driver: Any = connection.connection.driver_connection
        driver.ahead = [(statement, ()) for statement in statements]

    event.listen(engine, "begin", begin)


def _check_idle(connection: PoolProxiedConnection) -> None:
    """Check a connection that stayed out of the pool, as one that is taken out of it."""
    driver: Any = connection.driver_connection
    _refuse_ended(driver, connection, connection)


def _refuse_ended(connection: DriverConnection, *_: object) -> None:
    """Replace an idle connection that the server has ended, without asking the server.

    An unexpected message on an idle connection reports its end or, rarely, a changed setting; then
    a new session does as well.
    """
    if connection.breaker is not None:
        connection.breaker.require_closed()
    if connection.closed:
        raise DisconnectionError
    poll = select.poll()
    poll.register(connection.fileno(), select.POLLIN)
    if poll.poll(0):
        raise DisconnectionError


def _milliseconds(seconds: float) -> str:
    return str(max(1, round(seconds * 1000))) if seconds else "0"
