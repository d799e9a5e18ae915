"""Add jobs: long work on behalf of a user."""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "work",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("public_id", sa.String(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), sa.ForeignKey("user.id"), nullable=False),
        sa.Column("key", sa.String(), nullable=False),
        sa.Column("request", sa.LargeBinary(), nullable=False),
        sa.Column("kind", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("fields", sa.String(), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempt", sa.Integer(), nullable=False),
        sa.Column("stage", sa.String(), nullable=False),
        sa.Column("percent", sa.Integer(), nullable=True),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("result", sa.String(), nullable=True),
        sa.Column("host", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("beat_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("public_id"),
        sa.UniqueConstraint("user_id", "key"),
        sa.CheckConstraint("length(public_id) >= 1", name="public_id"),
        sa.CheckConstraint("length(key) BETWEEN 1 AND 255", name="key"),
        sa.CheckConstraint("length(request) = 32", name="request"),
        sa.CheckConstraint("length(kind) BETWEEN 1 AND 64", name="kind"),
        sa.CheckConstraint("length(subject) <= 64", name="subject"),
        sa.CheckConstraint("length(fields) <= 262144", name="fields"),
        sa.CheckConstraint("state IN ('running', 'done', 'failed')", name="state"),
        sa.CheckConstraint("attempt >= 1", name="attempt"),
        sa.CheckConstraint("percent BETWEEN 0 AND 100", name="percent"),
        sa.CheckConstraint("(state = 'failed') = (problem IS NOT NULL)", name="problem"),
        sa.CheckConstraint("(state = 'done') = (result IS NOT NULL)", name="result"),
        sa.CheckConstraint("length(host) >= 1", name="host"),
        sa.CheckConstraint("(state = 'running') = (finished_at IS NULL)", name="finished_at"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_work_expires_at", "work", ["expires_at"])


def downgrade() -> None:
    """Refuse: a schema is never downgraded; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
