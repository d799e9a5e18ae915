"""Add cosignatures of checkpoints."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0022"
down_revision = "0021"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "cosignature",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("checkpoint_id", sa.BigInteger(), sa.ForeignKey("checkpoint.id"), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("public", sa.LargeBinary(), nullable=False),
        sa.Column("signed_at", sa.BigInteger(), nullable=False),
        sa.Column("signature", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("checkpoint_id", "public"),
        sa.CheckConstraint("length(name) >= 1", name="name"),
        sa.CheckConstraint("length(public) = 32", name="public"),
        sa.CheckConstraint("signed_at >= 0", name="signed_at"),
        sa.CheckConstraint("length(signature) = 64", name="signature"),
    )
    for statement in append_only.triggers(op.get_context().dialect.name, "cosignature"):
        op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
