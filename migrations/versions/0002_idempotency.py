"""Remember requests that carry an idempotency key, for a day."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "idempotency",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("user_id", sa.BigInteger(), sa.ForeignKey("user.id"), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("status", sa.Integer(), nullable=True),
        sa.Column("answer", sa.LargeBinary(), nullable=True),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("user_id", "key"),
        sa.CheckConstraint("length(key) BETWEEN 1 AND 255", name="key"),
        sa.CheckConstraint("length(request) = 32", name="request"),
        sa.CheckConstraint("status BETWEEN 200 AND 299", name="status"),
        sa.CheckConstraint("(status IS NULL) = (answer IS NULL)", name="answered"),
    )
    op.create_index("ix_idempotency_expires_at", "idempotency", ["expires_at"])


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
