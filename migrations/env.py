"""Run Alembic over the connection that ``penstock.persistence.migrate`` passes.

Without a connection it writes out the statements, for a database whose owner applies them by hand.
"""

from alembic import context
from sqlalchemy import Connection

from penstock.persistence import tables


def online(connection: Connection) -> None:
    """Run the migrations inside the caller's transaction."""
    context.configure(
        connection=connection,
        target_metadata=tables.metadata,
        render_as_batch=True,
        transactional_ddl=True,
    )
    context.run_migrations()


def offline() -> None:
    """Write out the statements for the dialect that the caller named."""
    context.configure(
        dialect_name=context.config.attributes["dialect"],
        target_metadata=tables.metadata,
        literal_binds=True,
        transactional_ddl=True,
    )
    with context.begin_transaction():
        context.run_migrations()


if context.is_offline_mode():
    offline()
else:
    online(context.config.attributes["connection"])
