"""Record after a restore which queries draw no new noise, and what accounts have spent at least."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("query", sa.Column("frozen", sa.String(), nullable=True))
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "spent_floor",
        sa.Column("id", kind, primary_key=True, nullable=False),
        sa.Column("dataset_id", sa.BigInteger(), sa.ForeignKey("dataset.id"), nullable=False),
        sa.Column("tier_id", sa.BigInteger(), sa.ForeignKey("tier.id"), nullable=False),
        sa.Column("loss", sa.BigInteger(), nullable=False),
        sa.Column("failure", sa.BigInteger(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.CheckConstraint("loss >= 0", name="loss"),
        sa.CheckConstraint("failure >= 0", name="failure"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_spent_floor_dataset_id", "spent_floor", ["dataset_id"])
    for statement in append_only.triggers(op.get_context().dialect.name, "spent_floor"):
        op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
