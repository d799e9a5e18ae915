"""Compile a statement once for each database, and run it on the driver's connection.

A release runs ten statements, and SQLAlchemy takes longer to look each up among its compiled ones,
to convert its parameters and to describe its result than the database takes to run it.  A statement
that is held here is the same to everything else: whoever listens to a connection's statements
hears of it, and the driver's errors are raised as SQLAlchemy's.

PostgreSQL keeps it parsed from its first run in a session on: there are many sessions, and a
release's statements take longer to plan than to run.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any, TypeVar

from sqlalchemy import Connection, Delete, Dialect, Insert, Update
from sqlalchemy.exc import DBAPIError
from sqlalchemy.sql.selectable import SelectBase

Runnable = SelectBase | Insert | Update | Delete

Result = TypeVar("Result")

TOGETHER = 8
"""The most rows that PostgreSQL stores by one statement: it keeps one parsed for each number."""

_NUMBER = re.compile(r"\$(\d+)")
_STORES_A_ROW = re.compile(
    r"(INSERT INTO \S+ \([^()]*\) VALUES )(\((?:[^()]|\([^()]*\))*\))", re.DOTALL
)

Row = dict[str, Any]
"""A row by the names of its columns."""


class Prepared:
    """Hold a statement for transactions: one that reads, or one that changes single rows.

    Its parameters have fixed numbers: none expands into a list.
    """

    def __init__(self, statement: Runnable) -> None:
        self._statement = statement
        self._compiled: dict[str, Compiled] = {}

    def first(self, connection: Connection, parameters: Mapping[str, object]) -> Row | None:
        """Return the first row, or None.  Raises ``sqlalchemy.exc.DBAPIError``."""
        compiled = self._for(connection)
        return compiled.run(connection, compiled.bound(parameters), compiled.first)

    def every(self, connection: Connection, parameters: Mapping[str, object]) -> list[Row]:
        """Return all rows.  Raises ``sqlalchemy.exc.DBAPIError``."""
        compiled = self._for(connection)
        return compiled.run(connection, compiled.bound(parameters), compiled.every)

    def change(self, connection: Connection, parameters: Mapping[str, object]) -> None:
        """Run it, if it returns no rows.  Raises ``sqlalchemy.exc.DBAPIError``."""
        compiled = self._for(connection)
        compiled.run(connection, compiled.bound(parameters), _nothing)

    def change_all(
        self, connection: Connection, parameters: Sequence[Mapping[str, object]]
    ) -> None:
        """Run it once for each row's parameters, or once for all of few rows that are stored.

        Raises ``sqlalchemy.exc.DBAPIError``.
        """
        compiled = self._for(connection)
        every = [compiled.bound(row) for row in parameters]
        together = compiled.storing(len(every))
        if together is None:
            compiled.run(connection, every, _nothing, many=True)
        else:
            compiled.run(connection, list(chain.from_iterable(every)), _nothing, text=together)

    def _for(self, connection: Connection) -> "Compiled":
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = Compiled(self._statement, dialect)
        return compiled


class Compiled:
    """Hold a statement's text for one dialect, its parameters, and how its columns are read."""

    def __init__(self, statement: Runnable, dialect: Dialect) -> None:
        compiled: Any = statement.compile(dialect=dialect)
        self.text, self._order = str(compiled), compiled.positiontup
        self.options = {"prepare": True} if dialect.name == "postgresql" else {}
        # Only those with a value: one that nobody gives is an error, not NULL.
        self._given = {
            name: value
            for name, value in compiled.params.items()
            if not compiled.binds[name].required
        }
        self._is_numbered = not compiled.positional
        if self._is_numbered:
            self.text, self._order = numbered(self.text)
        self._several: dict[int, str | None] = {}
        if self._is_numbered:
            self._several = {count: several(self.text, count) for count in range(2, TOGETHER + 1)}
        # Of a change, those that it returns.
        self._columns = tuple(getattr(statement, "selected_columns", statement.exported_columns))
        self._dialect = dialect
        self._writers = [
            (name, write)
            for name, parameter in compiled.binds.items()
            if (write := parameter.type.dialect_impl(dialect).bind_processor(dialect)) is not None
        ]
        self._names = tuple(column.name for column in self._columns)
        self._converters: Sequence[tuple[int, Callable[[Any], Any]]] | None = None

    def bound(self, parameters: Mapping[str, object]) -> Any:
        """Return the parameters as the driver takes them."""
        values = {**self._given, **parameters}
        for name, write in self._writers:
            values[name] = write(values[name])
        return [values[name] for name in self._order]

    def storing(self, rows: int) -> str | None:
        """Return the text that stores so many rows at once; None if it is run for each.

        PostgreSQL's driver takes longer to repeat a statement than to send a longer one.
        """
        return self._several.get(rows)

    def cursor(self, connection: Any) -> Any:
        """Return a cursor of a driver's connection that takes its parameters."""
        return connection.numbered_cursor() if self._is_numbered else connection.cursor()

    def run(
        self,
        connection: Connection,
        bound: Any,
        read: Callable[[Any], Result],
        *,
        many: bool = False,
        text: str | None = None,
    ) -> Result:
        """Run it with ``bound`` parameters, or a list of those; return what ``read`` does with it.

        ``text`` is run in place of the statement's own.

        ``read`` is given the cursor, which is closed afterwards: an open one would keep SQLite's
        connection at the state that it read.  Raises ``sqlalchemy.exc.DBAPIError``.
        """
        # The engine's alone, unless somebody listens to this connection: those of both together are
        # joined anew for each connection.
        own = connection._has_events  # noqa: SLF001 - as SQLAlchemy asks before it tells anybody
        listeners = connection.dispatch if own else connection.engine.dispatch
        fairy = connection.connection
        cursor = self.cursor(fairy.driver_connection)
        text = text or self.text
        happening = (connection, cursor, text, bound, None, many)
        for heard in listeners.before_cursor_execute:
            heard(*happening)
        try:
            if many:
                cursor.executemany(text, bound)
            else:
                cursor.execute(text, bound, **self.options)
            for heard in listeners.after_cursor_execute:
                heard(*happening)
            # SQLite goes on with the statement while rows are taken, and may fail then.
            return read(cursor)
        except self._dialect.loaded_dbapi.Error as error:
            ended = self._dialect.is_disconnect(error, fairy.dbapi_connection, cursor)
            if ended:
                connection.invalidate(error)
            raise wrapped(error, self._dialect, text, ended=ended) from error
        finally:
            cursor.close()

    def first(self, cursor: Any) -> Row | None:
        """Return the first row of a driver's cursor, or None."""
        row = cursor.fetchone()
        return None if row is None else self.named(row, cursor)

    def every(self, cursor: Any) -> list[Row]:
        """Return all rows of a driver's cursor."""
        return [self.named(row, cursor) for row in cursor.fetchall()]

    def named(self, row: Sequence[Any], cursor: Any) -> Row:
        """Return a row of a driver's cursor by the names of its columns."""
        converters = self._converters
        if converters is None:
            # Only now, since some depend on the type that the database gives a column; and only
            # once, since a driver makes the description anew each time.
            every = [
                column.type.dialect_impl(self._dialect).result_processor(self._dialect, kind[1])
                for column, kind in zip(self._columns, cursor.description, strict=True)
            ]
            converters = self._converters = [
                (place, convert) for place, convert in enumerate(every) if convert is not None
            ]
        values = list(row)
        for place, convert in converters:
            if values[place] is not None:
                values[place] = convert(values[place])
        return dict(zip(self._names, values, strict=True))


def _nothing(_: Any) -> None:
    """Read nothing from a cursor."""


def numbered(text: str) -> tuple[str, list[str]]:
    """Return a statement whose parameters have numbers instead of names, and their names.

    psycopg looks for names in a long statement whenever it runs.
    """
    names: list[str] = []

    def number(named: re.Match[str]) -> str:
        name = named[1]
        if name is None:
            return "%"
        if name not in names:
            names.append(name)
        return f"${names.index(name) + 1}"

    return re.sub(r"%(?:%|\((\w+)\)s)", number, text), names


def several(text: str, rows: int) -> str | None:
    """Return an INSERT of one row, whose parameters have numbers, for several rows.

    Any other statement has no such text.
    """
    single = _STORES_A_ROW.fullmatch(text)
    if single is None:
        return None
    beginning, row = single.groups()
    count = len(set(_NUMBER.findall(row)))
    shifted = (
        _NUMBER.sub(lambda number: f"${int(number[1]) + count * place}", row)  # noqa: B023 - called now
        for place in range(rows)
    )
    return beginning + ", ".join(shifted)


def wrapped(error: Any, dialect: Dialect, text: str, *, ended: bool) -> BaseException:
    """Return a driver's error as SQLAlchemy raises it; ``ended`` says if its connection has."""
    raised: BaseException = DBAPIError.instance(
        text,
        None,
        error,
        dialect.loaded_dbapi.Error,
        hide_parameters=True,
        connection_invalidated=ended,
        dialect=dialect,
    )
    return raised
