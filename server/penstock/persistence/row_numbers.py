"""Take numbers of rows before the rows are stored.

A row that is signed with its number needs it first: rows of history are never updated.
"""

from collections.abc import Sequence
from functools import cache
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Connection,
    TextClause,
    cast,
    func,
    literal_column,
    null,
    select,
    text,
)

_SQLITE = (
    'SELECT max(coalesce((SELECT max(id) FROM "{table}"), 0),'
    " coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{table}'), 0)) + 1"
)
_POSTGRESQL = "SELECT nextval('\"{table}_id_seq\"') FROM generate_series(1, :count)"


def take(connection: Connection, table: str, count: int) -> list[int]:
    """Return ``count`` numbers for new rows of ``table``, in a transaction that writes.

    On SQLite that transaction is alone; on PostgreSQL no other transaction gets them, and unused
    numbers are skipped.
    """
    if connection.dialect.name == "sqlite":
        first: int = connection.execute(_statement(_SQLITE, table)).scalar_one()
        return list(range(first, first + count))
    result = connection.execute(_statement(_POSTGRESQL, table), {"count": count})
    return list(result.scalars())


def next_number(dialect: str, table: str, *, named: bool = True) -> ColumnElement[int | None]:
    """Return an expression of a free number for a row of ``table``, as ``take`` gives.

    With ``named`` False it is null on SQLite, which numbers the rows of that table itself.
    """
    if dialect != "sqlite":
        return func.nextval(f'"{table}_id_seq"', type_=BigInteger)
    if not named:
        return cast(null(), BigInteger)
    return literal_column(f"({_SQLITE.format(table=table)})", BigInteger)


def next_numbers(dialect: str, table: str, count: ColumnElement[int]) -> ColumnElement[Any]:
    """Return an expression of free numbers for rows of ``table``: the first one, or a list."""
    if dialect == "sqlite":
        return literal_column(f"({_SQLITE.format(table=table)})", BigInteger)
    drawn = select(func.nextval(f'"{table}_id_seq"', type_=BigInteger))
    return func.array(drawn.select_from(func.generate_series(1, count)).scalar_subquery())


def listed(numbers: int | Sequence[int], count: int) -> Sequence[int]:
    """Return as a list what ``next_numbers`` read."""
    return range(numbers, numbers + count) if isinstance(numbers, int) else numbers


@cache
def _statement(wording: str, table: str) -> TextClause:
    return text(wording.format(table=table))


def required(key: int | None) -> int:
    """Return the key of a stored row, which the type of its column does not guarantee.

    Raises ``RuntimeError`` for a row that is not stored.
    """
    if key is None:
        raise RuntimeError("a row was used before it was stored")
    return key
