"""Numbers of rows that are known before the rows are stored.

What is signed with a row's number has to know it first: rows of history are never updated.
"""

from sqlalchemy import Connection, text

_SQLITE = (
    'SELECT max(coalesce((SELECT max(id) FROM "{table}"), 0),'
    " coalesce((SELECT seq FROM sqlite_sequence WHERE name = '{table}'), 0)) + 1"
)
_POSTGRESQL = "SELECT nextval('\"{table}_id_seq\"') FROM generate_series(1, :count)"


def take(connection: Connection, table: str, count: int) -> list[int]:
    """``count`` numbers for new rows of ``table``, in a transaction that writes.

    On SQLite that is alone; on PostgreSQL nobody else is given them, and those that are not
    used in the end are left out.
    """
    if connection.dialect.name == "sqlite":
        first: int = connection.execute(text(_SQLITE.format(table=table))).scalar_one()
        return list(range(first, first + count))
    statement = text(_POSTGRESQL.format(table=table))
    return list(connection.execute(statement, {"count": count}).scalars())
