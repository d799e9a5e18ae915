"""Queries that analysts request, with their comments and the decisions about them."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None


def upgrade() -> None:
    requests()
    askers()
    withdrawals()
    comments()
    decisions()


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
