"""Record corrected declarations of datasets, and withdrawn datasets."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0021"
down_revision = "0020"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("dataset", sa.Column("declaration", sa.Integer(), nullable=True))
    op.add_column("dataset", sa.Column("withdrawn_at", sa.DateTime(timezone=True), nullable=True))
    op.add_column("query", sa.Column("declaration", sa.Integer(), nullable=True))
    _former_declarations()
    for statement in append_only.triggers(op.get_context().dialect.name, "former_declaration"):
        op.execute(statement)


def _former_declarations() -> None:
    op.create_table(
        "former_declaration",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("dataset_id", sa.BigInteger(), sa.ForeignKey("dataset.id"), nullable=False),
        sa.Column("number", sa.Integer(), nullable=False),
        sa.Column("spec", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("dataset_id", "number"),
        sa.CheckConstraint("number >= 1", name="number"),
        sa.CheckConstraint('length("by") >= 1', name="by"),
    )


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
