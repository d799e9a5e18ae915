"""Messages about requests for the operator's webhook, until they are delivered."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    deliveries()


def deliveries() -> None:
    number = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    op.create_table(
        "delivery",
        sa.Column("id", number, primary_key=True, nullable=False),
        sa.Column("public_id", sa.String(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        sa.Column("asker_id", sa.BigInteger(), sa.ForeignKey("asker.id"), nullable=False),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.UniqueConstraint("public_id"),
        sa.UniqueConstraint("asker_id", "event"),
        sa.CheckConstraint("length(public_id) >= 1", name="public_id"),
        sa.CheckConstraint("event IN ('request.opened', 'request.decided')", name="event"),
        sa.CheckConstraint("state IN ('waiting', 'delivered', 'given_up')", name="state"),
        sa.CheckConstraint("attempts >= 0", name="attempts"),
        sa.CheckConstraint("length(answer) <= 200", name="answer"),
        sa.CheckConstraint("(state = 'waiting') = (finished_at IS NULL)", name="finished_at"),
        sqlite_autoincrement=True,
    )
    waiting = sa.text("state = 'waiting'")
    op.create_index(
        "ix_delivery_waiting",
        "delivery",
        ["next_at"],
        sqlite_where=waiting,
        postgresql_where=waiting,
    )


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
