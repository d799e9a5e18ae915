"""Read by one statement, with neither a session nor a transaction around it.

That is for what every request reads.  Making a session, a connection and a result for one row takes
longer than reading it, and so does taking a connection out of SQLAlchemy's pool and putting it
back: a few stay out, and the one that was used last is used next.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlalchemy import Dialect, Engine, Select
from sqlalchemy.exc import DisconnectionError
from sqlalchemy.pool import PoolProxiedConnection

from penstock.persistence.statements.prepared import Compiled, Result, wrapped

MOST: Final = 4
"""The most connections that stay out of the pool while nobody reads."""


class KeptConnections:
    """Hold connections of ``engine`` for statements that read alone, from one to the next.

    ``prepare`` is called with the driver's connection of those that stay out of the pool, which are
    closed rather than put back: a setting may be their own.  While all of them read, others are
    taken out of the pool, unprepared, and put back.  ``check`` is called with a connection that was
    idle; it raises ``DisconnectionError`` if another one must take its place.
    """

    def __init__(
        self,
        engine: Engine,
        check: Callable[[PoolProxiedConnection], None],
        prepare: Callable[[Any], object] | None = None,
    ) -> None:
        self.dialect = engine.dialect
        self._engine, self._check, self._prepare = engine, check, prepare
        self._idle: list[PoolProxiedConnection] = []
        self._prepared: set[PoolProxiedConnection] = set()

    def take(self) -> PoolProxiedConnection:
        """Return a connection in no transaction, for ``keep`` or ``drop``.

        Raises as the driver and ``check`` do.
        """
        while self._idle:
            try:
                connection = self._idle.pop()
            except IndexError:  # another thread took it
                break
            if self._still_open(connection):
                return connection
        connection = self._engine.raw_connection()
        if self._prepare is not None and len(self._prepared) < MOST:
            self._prepared.add(connection)
            is_ready = False
            try:
                self._prepare(connection.driver_connection)
                is_ready = True
            finally:
                if not is_ready:
                    self.drop(connection)
        return connection

    def _still_open(self, connection: PoolProxiedConnection) -> bool:
        """Return False for a connection that ended, and drop one that cannot be checked."""
        is_checked = False
        try:
            self._check(connection)
            is_checked = True
        except DisconnectionError as error:
            self._prepared.discard(connection)
            connection.invalidate(error)
            is_checked = True
            return False
        finally:
            if not is_checked:
                self.drop(connection)
        return True

    def keep(self, connection: PoolProxiedConnection) -> None:
        """Take back a connection whose statement has ended without an error."""
        stays = self._prepare is None or connection in self._prepared
        if stays and len(self._idle) < MOST:
            self._idle.append(connection)
        else:
            self.drop(connection)

    def drop(self, connection: PoolProxiedConnection) -> None:
        """Give a connection back to the pool, or close it if it was prepared."""
        if connection in self._prepared:
            self._prepared.discard(connection)
            if connection.is_valid:
                connection.invalidate()
        connection.close()

    def dispose(self, *, close: bool = True) -> None:
        """Close the idle connections, or with ``close=False`` merely forget them."""
        idle, self._idle = self._idle, []
        if close:
            for connection in idle:
                self.drop(connection)
        else:
            # Kept alive: closing what is another process's would release its locks.
            _forgotten.extend({*idle, *self._prepared})
            self._prepared.clear()
        self._engine.dispose(close=close)


_forgotten: list[PoolProxiedConnection] = []


class PreparedSelect:
    """Hold a statement that every request reads by, whose parameters are integers and text.

    It is compiled once for each dialect and run on the driver's connection, and its values are
    converted as its columns' types say.
    """

    def __init__(self, statement: Select[Any]) -> None:
        self._statement = statement
        self._compiled: dict[str, Compiled] = {}

    def first(
        self, connections: KeptConnections, parameters: Mapping[str, object]
    ) -> dict[str, Any] | None:
        """Return the first row by the names of its columns, or None.

        Raises ``sqlalchemy.exc.DBAPIError``.
        """
        return self._read(connections, parameters, Compiled.first)

    def every(
        self, connections: KeptConnections, parameters: Mapping[str, object]
    ) -> list[dict[str, Any]]:
        """Return all rows; see ``first``."""
        return self._read(connections, parameters, Compiled.every)

    def _read(
        self,
        connections: KeptConnections,
        parameters: Mapping[str, object],
        read: Callable[[Compiled, Any], Result],
    ) -> Result:
        dialect = connections.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = Compiled(self._statement, dialect)
        errors, connection = dialect.loaded_dbapi.Error, None
        try:
            connection = connections.take()
            # Closed in any case: while it is open, SQLite's connection stays at the state it read.
            cursor = compiled.cursor(connection.driver_connection)
            try:
                cursor.execute(compiled.text, compiled.bound(parameters), **compiled.options)
                result = read(compiled, cursor)
            finally:
                cursor.close()
            connections.keep(connection)
            connection = None
        except errors as error:
            ended = connection is not None and _invalidated(error, dialect, connection)
            raise wrapped(error, dialect, compiled.text, ended=ended) from error
        finally:
            if connection is not None:
                connections.drop(connection)
        return result


def _invalidated(error: Any, dialect: Dialect, connection: PoolProxiedConnection) -> bool:
    """Invalidate a connection that has ended with this error, and return True if it has."""
    ended = dialect.is_disconnect(error, connection.dbapi_connection, None)
    if ended:
        connection.invalidate(error)
    return ended


@dataclass(frozen=True)
class Glance:
    """Hold the row that one statement read, by the names of its columns; None if there is none.

    ``info`` is what a session's is: the keys that the row may be signed under are in it.
    """

    info: dict[Any, Any]
    row: Mapping[str, Any] | None


@dataclass(frozen=True)
class Glances:
    """Hold all rows that one statement read, as ``Glance`` holds one."""

    info: dict[Any, Any]
    rows: Sequence[Mapping[str, Any]]
