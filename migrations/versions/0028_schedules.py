"""Schedules, and what became of each of their occurrences."""

import sqlalchemy as sa
from alembic import op

revision = "0028"
down_revision = "0027"
branch_labels = None
depends_on = None


def upgrade() -> None:
    schedules()
    occurrences()


def number() -> sa.Column[int]:
    """Return the column of a row's number."""
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", kind, primary_key=True, nullable=False)


def schedules() -> None:
    op.create_table(
        "schedule",
        number(),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("folded", sa.String(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), sa.ForeignKey("user.id"), nullable=False),
        sa.Column("spec", sa.String(), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("reason", sa.String(), nullable=True),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("folded"),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 64", name="name"),
        sa.CheckConstraint("length(folded) >= 1", name="folded"),
        sa.CheckConstraint("length(spec) <= 262144", name="spec"),
        sa.CheckConstraint("next_at IS NULL OR reason IS NULL", name="on"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_schedule_next_at", "schedule", ["next_at"])


def occurrences() -> None:
    op.create_table(
        "occurrence",
        number(),
        sa.Column("schedule_id", sa.BigInteger(), sa.ForeignKey("schedule.id"), nullable=False),
        sa.Column("due_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=True),
        sa.Column("problem", sa.String(), nullable=True),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("schedule_id", "due_at"),
        sa.CheckConstraint("state IN ('pending', 'done', 'refused', 'skipped')", name="state"),
        sa.CheckConstraint(
            "(state IN ('refused', 'skipped')) = (problem IS NOT NULL)", name="problem"
        ),
        sa.CheckConstraint("version >= 1", name="version"),
        sa.CheckConstraint("(state = 'pending') = (finished_at IS NULL)", name="finished_at"),
        sqlite_autoincrement=True,
    )


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
