"""Record which states of the rows a query was read from, where the engine can name them."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import editions

revision = "0030"
down_revision = "0029"
branch_labels = None
depends_on = None

WATCHED = (
    *("id", "name", "folded", "dataset_id", "canonical_hash", "spec", "sql", "sql_hash"),
    *("mechanism", "calibration", "granularity", "dimension", "keys", "sensitivity_l1"),
    *("sensitivity_l2_squared", "sensitivity_linf", "ladder_finest", "ladder_unit"),
    *("ladder_doubling", "ladder_last", "ceiling", "max_levels", "status", "wrapped_dek"),
    *("asserted_by", "created_at", "by", "sealed_fingerprint", "structure", "power"),
    *("histogram", "frozen", "mismatches", "declaration", "read_states"),
)
"""The columns of a query whose changes make a new edition."""


def upgrade() -> None:
    op.add_column("query", sa.Column("read_states", sa.String(), nullable=True))
    _watch()


def _watch() -> None:
    """Replace the trigger that names the columns."""
    dialect = op.get_context().dialect.name
    name = "edition_query_update" if dialect == "sqlite" else "edition_query_change"
    place = "" if dialect == "sqlite" else ' ON "query"'
    op.execute(f'DROP TRIGGER "{name}"{place}')
    for statement in editions.triggers(dialect, "query", WATCHED):
        if name in statement:
            op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
