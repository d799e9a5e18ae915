"""The edition of everything that releases rest on: new with each change of it."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import editions

revision = "0026"
down_revision = "0025"
branch_labels = None
depends_on = None

WATCHED = {
    "tier": (),
    "dataset": (),
    "query_level": (),
    "query": (
        *("id", "name", "folded", "dataset_id", "canonical_hash", "spec", "sql", "sql_hash"),
        *("mechanism", "calibration", "granularity", "dimension", "keys", "sensitivity_l1"),
        *("sensitivity_l2_squared", "sensitivity_linf", "ladder_finest", "ladder_unit"),
        *("ladder_doubling", "ladder_last", "ceiling", "max_levels", "status", "wrapped_dek"),
        *("asserted_by", "created_at", "by", "sealed_fingerprint", "structure", "power"),
        *("histogram", "frozen", "mismatches", "declaration"),
    ),
}
"""The tables whose changes make a new edition, with the columns that count if not all do."""


def upgrade() -> None:
    dialect = op.get_context().dialect.name
    op.create_table(
        "edition",
        sa.Column("id", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("value", sa.String(), nullable=False),
        sa.CheckConstraint("id = 1", name=op.f("ck_edition_id")),
        sa.CheckConstraint("length(value) >= 1", name=op.f("ck_edition_value")),
        sa.PrimaryKeyConstraint("id", name=op.f("pk_edition")),
    )
    op.execute("INSERT INTO edition (id, value) VALUES (1, 'first')")
    for statement in editions.preparation(dialect):
        op.execute(statement)
    for table, columns in WATCHED.items():
        for statement in editions.triggers(dialect, table, columns):
            op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
