"""The elements of streams that are answers of queries on versions of their datasets."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0029"
down_revision = "0028"
branch_labels = None
depends_on = None

COLUMNS = ("id", "query_id", "dataset_id", "step", "created_at")


def upgrade() -> None:
    op.create_table(
        "fed_element",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("query_id", sa.BigInteger(), sa.ForeignKey("query.id"), nullable=False),
        sa.Column("dataset_id", sa.BigInteger(), sa.ForeignKey("dataset.id"), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("query_id", "dataset_id"),
        sa.UniqueConstraint("query_id", "step"),
        sa.CheckConstraint("step >= 1", name="step"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_fed_element_dataset_id", "fed_element", ["dataset_id"])
    dialect = op.get_context().dialect.name
    for statement in append_only.triggers(dialect, "fed_element", renewed="mac", fixed=COLUMNS):
        op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
