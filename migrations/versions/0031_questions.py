"""Questions of analysts: allowances, what was spent of them, requests, and messages about these."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only, editions

revision = "0031"
down_revision = "0030"
branch_labels = None
depends_on = None

WATCHED = (
    *("id", "name", "folded", "dataset_id", "canonical_hash", "spec", "sql", "sql_hash"),
    *("mechanism", "calibration", "granularity", "dimension", "keys", "sensitivity_l1"),
    *("sensitivity_l2_squared", "sensitivity_linf", "ladder_finest", "ladder_unit"),
    *("ladder_doubling", "ladder_last", "ceiling", "max_levels", "status", "wrapped_dek"),
    *("asserted_by", "created_at", "by", "sealed_fingerprint", "structure", "power"),
    *("histogram", "frozen", "mismatches", "declaration", "read_states", "allowance_id"),
)
"""The columns of a query whose changes make a new edition."""

ALLOWANCE = (
    *("id", "dataset_id", "tier_id", "version", "epsilon", "delta", "order", "limit_loss"),
    *("limit_failure", "spent_loss", "spent_failure", "users", "at", "by"),
)
CHARGE = (
    *("id", "allowance_id", "seq", "query_id", "rung", "loss", "failure", "loss_total"),
    *("failure_total", "at"),
)


def upgrade() -> None:
    allowances()
    # Written as SQL, which both databases accept: a batch would create SQLite's table again.
    op.execute(
        'ALTER TABLE "query" ADD COLUMN allowance_id BIGINT'
        " CONSTRAINT fk_query_allowance_id REFERENCES allowance (id)"
    )
    op.create_index("ix_query_allowance_id", "query", ["allowance_id"])
    allowance_charges()
    _watch()
    dialect = op.get_context().dialect.name
    for table, columns in (("allowance", ALLOWANCE), ("allowance_charge", CHARGE)):
        for statement in append_only.triggers(dialect, table, renewed="mac", fixed=columns):
            op.execute(statement)
    requests()
    askers()
    withdrawals()
    comments()
    decisions()
    deliveries()


def amounts(*names: str) -> list[sa.Column[int]]:
    """Return columns of amounts, in units of the ledger."""
    return [sa.Column(name, sa.BigInteger(), nullable=False) for name in names]


def allowances() -> None:
    op.create_table(
        "allowance",
        number("id", primary_key=True),
        sa.Column("dataset_id", sa.BigInteger(), sa.ForeignKey("dataset.id"), nullable=False),
        sa.Column("tier_id", sa.BigInteger(), sa.ForeignKey("tier.id"), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("epsilon", sa.Float(), nullable=True),
        sa.Column("delta", sa.Float(), nullable=False),
        sa.Column("order", sa.Float(), nullable=False),
        *amounts("limit_loss", "limit_failure", "spent_loss", "spent_failure"),
        sa.Column("users", sa.String(), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("dataset_id", "tier_id", "version"),
        sa.CheckConstraint("version >= 1", name="version"),
        sa.CheckConstraint("epsilon > 0", name="epsilon"),
        sa.CheckConstraint("delta >= 0 AND delta < 1", name="delta"),
        sa.CheckConstraint('"order" > 1', name="order"),
        sa.CheckConstraint("limit_loss >= 0", name="limit_loss"),
        sa.CheckConstraint("limit_failure >= 0", name="limit_failure"),
        sa.CheckConstraint("spent_loss >= 0", name="spent_loss"),
        sa.CheckConstraint("spent_failure >= 0", name="spent_failure"),
        sa.CheckConstraint('length("by") >= 1', name="by"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_allowance_tier_id", "allowance", ["tier_id"])


def allowance_charges() -> None:
    op.create_table(
        "allowance_charge",
        number("id", primary_key=True),
        sa.Column("allowance_id", sa.BigInteger(), sa.ForeignKey("allowance.id"), nullable=False),
        sa.Column("seq", sa.Integer(), nullable=False),
        sa.Column("query_id", sa.BigInteger(), sa.ForeignKey("query.id"), nullable=False),
        sa.Column("rung", sa.Integer(), nullable=False),
        *amounts("loss", "failure", "loss_total", "failure_total"),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("allowance_id", "seq"),
        sa.UniqueConstraint("query_id"),
        sa.CheckConstraint("seq >= 0", name="seq"),
        sa.CheckConstraint("rung >= 0", name="rung"),
        sa.CheckConstraint("loss >= 0", name="loss"),
        sa.CheckConstraint("failure >= 0", name="failure"),
        sa.CheckConstraint("loss_total >= loss", name="loss_total"),
        sa.CheckConstraint("failure_total >= failure", name="failure_total"),
    )


def _watch() -> None:
    """Replace the trigger that names the columns."""
    dialect = op.get_context().dialect.name
    name = "edition_query_update" if dialect == "sqlite" else "edition_query_change"
    place = "" if dialect == "sqlite" else ' ON "query"'
    op.execute(f'DROP TRIGGER "{name}"{place}')
    for statement in editions.triggers(dialect, "query", WATCHED):
        if name in statement:
            op.execute(statement)


def requests() -> None:
    op.create_table(
        "request",
        number("id", primary_key=True),
        number("dataset_id", refers_to="dataset.id"),
        sa.Column("canonical_hash", sa.String(), nullable=False),
        sa.Column("turn", sa.Integer(), nullable=False),
        moment(),
        mac(),
        sa.UniqueConstraint("canonical_hash", "turn"),
        sa.CheckConstraint("length(canonical_hash) = 64", name="canonical_hash"),
        sa.CheckConstraint("turn >= 1", name="turn"),
        sqlite_autoincrement=True,
    )
    keep("request", ["id", "dataset_id", "canonical_hash", "turn", "at"])


def askers() -> None:
    op.create_table(
        "asker",
        number("id", primary_key=True),
        sa.Column("public_id", sa.String(), nullable=False),
        number("request_id", refers_to="request.id"),
        number("user_id", refers_to="user.id"),
        sa.Column("turn", sa.Integer(), nullable=False),
        sa.Column("spec", sa.String(), nullable=False),
        sa.Column("purpose", sa.String(), nullable=False),
        moment(),
        mac(),
        sa.UniqueConstraint("public_id"),
        sa.UniqueConstraint("request_id", "user_id", "turn"),
        sa.CheckConstraint("length(public_id) >= 1", name="public_id"),
        sa.CheckConstraint("turn >= 1", name="turn"),
        sa.CheckConstraint("length(spec) BETWEEN 1 AND 65536", name="spec"),
        sa.CheckConstraint("length(purpose) BETWEEN 1 AND 2000", name="purpose"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_asker_user_id", "asker", ["user_id"])
    columns = ["id", "public_id", "request_id", "user_id", "turn", "spec", "purpose", "at"]
    keep("asker", columns)


def withdrawals() -> None:
    op.create_table(
        "withdrawal",
        number("id", primary_key=True),
        number("asker_id", refers_to="asker.id"),
        moment(),
        mac(),
        sa.UniqueConstraint("asker_id"),
        sqlite_autoincrement=True,
    )
    keep("withdrawal", ["id", "asker_id", "at"])


def comments() -> None:
    op.create_table(
        "request_comment",
        number("id", primary_key=True),
        number("request_id", refers_to="request.id"),
        number("asker_id", refers_to="asker.id", nullable=True),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("comment", sa.String(), nullable=False),
        moment(),
        mac(),
        sa.CheckConstraint('length("by") >= 1', name="by"),
        sa.CheckConstraint("length(comment) BETWEEN 1 AND 2000", name="comment"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_request_comment_request_id", "request_comment", ["request_id"])
    keep("request_comment", ["id", "request_id", "asker_id", "by", "comment", "at"])


def decisions() -> None:
    op.create_table(
        "request_decision",
        number("id", primary_key=True),
        number("request_id", refers_to="request.id"),
        number("asker_id", refers_to="asker.id"),
        sa.Column("outcome", sa.String(), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("comment", sa.String(), nullable=True),
        number("query_id", refers_to="query.id", nullable=True),
        sa.Column("spec", sa.String(), nullable=True),
        moment(),
        mac(),
        sa.UniqueConstraint("request_id"),
        sa.CheckConstraint("outcome IN ('approved', 'declined')", name="outcome"),
        sa.CheckConstraint('length("by") >= 1', name="by"),
        sa.CheckConstraint("length(comment) BETWEEN 1 AND 2000", name="comment"),
        sa.CheckConstraint("(outcome = 'approved') = (query_id IS NOT NULL)", name="query_id"),
        sa.CheckConstraint("(outcome = 'approved') = (spec IS NOT NULL)", name="spec"),
        sqlite_autoincrement=True,
    )
    op.create_index("ix_request_decision_query_id", "request_decision", ["query_id"])
    columns = ["id", "request_id", "asker_id", "outcome", "by", "comment", "query_id", "spec", "at"]
    keep("request_decision", columns)


def deliveries() -> None:
    op.create_table(
        "delivery",
        number("id", primary_key=True),
        sa.Column("public_id", sa.String(), nullable=False),
        sa.Column("event", sa.String(), nullable=False),
        number("asker_id", refers_to="asker.id"),
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


def number(
    name: str, *, primary_key: bool = False, refers_to: str = "", nullable: bool = False
) -> sa.Column[int]:
    """Return a column of 64-bit numbers: the row's own, or that of a row of another table."""
    if primary_key:
        kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
        return sa.Column(name, kind, primary_key=True, nullable=False)
    return sa.Column(name, sa.BigInteger(), sa.ForeignKey(refers_to), nullable=nullable)


def moment() -> sa.Column[object]:
    """Return the column of when a row was added."""
    return sa.Column("at", sa.DateTime(timezone=True), nullable=False)


def mac() -> sa.Column[bytes]:
    """Return the column of a row's HMAC."""
    return sa.Column("mac", sa.LargeBinary(), nullable=True)


def keep(table: str, columns: Sequence[str]) -> None:
    """Let no row of a table be changed or deleted."""
    dialect = op.get_context().dialect.name
    for statement in append_only.triggers(dialect, table, renewed="mac", fixed=columns):
        op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
