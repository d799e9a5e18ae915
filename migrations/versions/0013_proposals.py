"""Add proposals of actions that need two people, and the decisions about them."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None


def upgrade() -> None:
    _proposals()
    _decisions()
    for table in ("proposal", "decision"):
        for statement in append_only.triggers(op.get_context().dialect.name, table):
            op.execute(statement)


def _proposals() -> None:
    op.create_table(
        "proposal",
        _key(),
        sa.Column("public_id", sa.String(), nullable=False),
        sa.Column("act", sa.String(), nullable=False),
        sa.Column("request", sa.String(), nullable=False),
        sa.Column("basis", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("public_id"),
        sa.CheckConstraint("length(public_id) >= 1", name="public_id"),
        sa.CheckConstraint("length(act) >= 1", name="act"),
        sa.CheckConstraint('length("by") >= 1', name="by"),
        sa.CheckConstraint("expires_at > at", name="expires_at"),
        sqlite_autoincrement=True,
    )


def _decisions() -> None:
    op.create_table(
        "decision",
        _key(),
        sa.Column("proposal_id", sa.BigInteger(), sa.ForeignKey("proposal.id"), nullable=False),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("proposed_by", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("reason", sa.String(), nullable=True),
        sa.UniqueConstraint("proposal_id"),
        sa.CheckConstraint("outcome IN ('approved', 'withdrawn', 'failed')", name="outcome"),
        sa.CheckConstraint('length("by") >= 1', name="by"),
        sa.CheckConstraint("outcome = 'withdrawn' OR \"by\" <> proposed_by", name="another"),
        sa.CheckConstraint("(outcome = 'failed') = (reason IS NOT NULL)", name="reason"),
        sqlite_autoincrement=True,
    )


def _key() -> sa.Column[int]:
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", kind, primary_key=True, nullable=False)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
