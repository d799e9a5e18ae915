"""Let messages for the webhook be about leaves of the log, and keep how far these were read."""

import sqlalchemy as sa
from alembic import op

revision = "0034"
down_revision = "0033"
branch_labels = None
depends_on = None

COPY = (
    "INSERT INTO delivery"
    " (id, public_id, event, asker_id, state, attempts, answer, at, next_at, finished_at)"
    " SELECT id, public_id, event, asker_id, state, attempts, answer, at, next_at, finished_at"
    " FROM earlier_delivery"
)
SUBJECT = "(asker_id IS NULL) <> (leaf_id IS NULL)"
EVENT = "length(event) BETWEEN 1 AND 64"


def upgrade() -> None:
    if op.get_context().dialect.name == "sqlite":
        renew_deliveries()
    else:
        change_deliveries()
    op.create_table(
        "log_reader",
        number("id", primary_key=True),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("next_leaf", sa.BigInteger(), nullable=False),
        sa.UniqueConstraint("name"),
        sa.CheckConstraint("length(name) >= 1", name="name"),
        sa.CheckConstraint("next_leaf >= 0", name="next_leaf"),
    )


def renew_deliveries() -> None:
    """Replace the table, which SQLite cannot change in place, and keep its rows."""
    op.drop_index("ix_delivery_waiting", "delivery")
    op.execute("ALTER TABLE delivery RENAME TO earlier_delivery")
    create_deliveries()
    op.execute(COPY)
    op.execute("DROP TABLE earlier_delivery")


def change_deliveries() -> None:
    for change in (
        "ADD COLUMN leaf_id BIGINT CONSTRAINT fk_delivery_leaf_id REFERENCES leaf (id)",
        "ALTER COLUMN asker_id DROP NOT NULL",
        "DROP CONSTRAINT ck_delivery_event",
        f"ADD CONSTRAINT ck_delivery_event CHECK ({EVENT})",
        f"ADD CONSTRAINT ck_delivery_subject CHECK ({SUBJECT})",
        "ADD CONSTRAINT uq_delivery_leaf_id UNIQUE (leaf_id)",
    ):
        op.execute(f"ALTER TABLE delivery {change}")


def create_deliveries() -> None:
    op.create_table(
        "delivery",
        number("id", primary_key=True),
        sa.Column("public_id", sa.String(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        number("asker_id", refers_to="asker.id"),
        number("leaf_id", refers_to="leaf.id"),
        sa.Column("state", sa.String(), nullable=False),
        sa.Column("attempts", sa.Integer(), nullable=False),
        sa.Column("answer", sa.String(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("next_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("finished_at", sa.DateTime(timezone=True), nullable=True),
        sa.UniqueConstraint("public_id"),
        sa.UniqueConstraint("asker_id", "event"),
        sa.UniqueConstraint("leaf_id"),
        sa.CheckConstraint("length(public_id) >= 1", name="public_id"),
        sa.CheckConstraint(EVENT, name="event"),
        sa.CheckConstraint(SUBJECT, name="subject"),
        sa.CheckConstraint("state IN ('waiting', 'delivered', 'given_up')", name="state"),
        sa.CheckConstraint("attempts >= 0", name="attempts"),
        sa.CheckConstraint("length(answer) <= 200", name="answer"),
        sa.CheckConstraint("(state = 'waiting') = (finished_at IS NULL)", name="finished_at"),
        sqlite_autoincrement=True,
    )
    waiting = sa.text("state = 'waiting'")
    op.create_index("ix_delivery_waiting", "delivery", ["next_at"], sqlite_where=waiting)


def number(name: str, *, primary_key: bool = False, refers_to: str = "") -> sa.Column[int]:
    """Return a column of 64-bit numbers: the row's own, or that of a row of another table."""
    if primary_key:
        kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
        return sa.Column(name, kind, primary_key=True, nullable=False)
    return sa.Column(name, sa.BigInteger(), sa.ForeignKey(refers_to), nullable=True)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
