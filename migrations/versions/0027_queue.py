"""The queue of jobs on PostgreSQL, in a schema of its own, as the library procrastinate needs it.

The library's text is a copy, so that this revision makes the same tables whatever version is
installed.  Its functions get a fixed search path: they name their tables without a schema.
"""

from pathlib import Path

from alembic import context, op

revision = "0027"
down_revision = "0026"
branch_labels = None
depends_on = None

SCHEMA = "penstock_queue"
TEXT = Path(__file__).parents[1] / "queue" / "procrastinate-3.10.sql"
FIXED_PATHS = f"""
DO $$
DECLARE
    each regprocedure;
BEGIN
    FOR each IN SELECT oid FROM pg_proc WHERE pronamespace = '{SCHEMA}'::regnamespace LOOP
        EXECUTE format('ALTER FUNCTION %s SET search_path = {SCHEMA}, pg_temp', each);
    END LOOP;
END;
$$;
"""  # noqa: S608 - a constant


def upgrade() -> None:
    """Make the queue's schema; on SQLite jobs run in the server, and there is nothing to make."""
    if op.get_context().dialect.name != "postgresql":
        return
    run(f"CREATE SCHEMA {SCHEMA};\nSET LOCAL search_path TO {SCHEMA};\n")
    run(TEXT.read_text())
    run(FIXED_PATHS + "SET LOCAL search_path TO DEFAULT;\n")


def run(statements: str) -> None:
    """Run several statements as they are: they hold signs that stand for parameters elsewhere."""
    if context.is_offline_mode():
        op.get_context().impl.static_output(statements)
        return
    driver = op.get_bind().connection.cursor()
    driver.execute(statements)
    driver.close()


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
