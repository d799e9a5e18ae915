"""Grant privileges in PostgreSQL: the server's role adds to history, and cannot change it.

The database's owner, who migrates it, is another role (``PENSTOCK_MIGRATION_DATABASE_URL``).  If
one role is both, only the triggers protect history, and that role could drop them.
"""

from sqlalchemy import Connection, bindparam, text

from penstock.persistence import tables
from penstock.persistence.append_only import HISTORY, RENEWED, SET_ONCE
from penstock.persistence.postgresql import job_queue

VERSION_TABLE = "alembic_version"
_CURRENT = text("SELECT current_user")
_MAY_CHANGE = text(
    "SELECT t FROM unnest(CAST(:tables AS text[])) AS t"
    " WHERE has_table_privilege(quote_ident(t), 'UPDATE, DELETE, TRUNCATE') ORDER BY t"
).bindparams(bindparam("tables"))


def current(connection: Connection) -> str:
    """Return the role that is connected."""
    role: str = connection.execute(_CURRENT).scalar_one()
    return role


def entitle(connection: Connection, role: str) -> None:
    """Grant ``role`` exactly what the server needs in the present schema."""
    quoted = connection.dialect.identifier_preparer.quote
    schema = quoted(connection.execute(text("SELECT current_schema()")).scalar_one())
    grantee = quoted(role)
    connection.exec_driver_sql(f"GRANT USAGE ON SCHEMA {schema} TO {grantee}")
    for name, table in sorted(tables.metadata.tables.items()):
        change = "" if name in HISTORY else ", UPDATE, DELETE"
        connection.exec_driver_sql(f"REVOKE ALL ON {quoted(name)} FROM {grantee}")
        connection.exec_driver_sql(f"GRANT SELECT, INSERT{change} ON {quoted(name)} TO {grantee}")
        if name in SET_ONCE or name in RENEWED:
            column = f"UPDATE ({quoted(SET_ONCE.get(name, 'mac'))})"
            connection.exec_driver_sql(f"GRANT {column} ON {quoted(name)} TO {grantee}")
        if table.autoincrement_column is not None:
            sequence = quoted(f"{name}_{table.autoincrement_column.name}_seq")
            connection.exec_driver_sql(f"GRANT USAGE ON SEQUENCE {sequence} TO {grantee}")
    connection.exec_driver_sql(f"GRANT SELECT ON {VERSION_TABLE} TO {grantee}")
    job_queue.entitle(connection, grantee)


def unprotected(connection: Connection) -> list[str]:
    """Return the tables of history that the connected role may update, delete from or truncate."""
    changeable = connection.execute(_MAY_CHANGE, {"tables": list(HISTORY)}).scalars().all()
    return list(changeable)
