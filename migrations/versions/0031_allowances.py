"""Allowances, in which analysts register queries by themselves, and what was spent of them."""

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


def number() -> sa.Column[int]:
    """Return the column of a row's number."""
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", kind, primary_key=True, nullable=False)


def amounts(*names: str) -> list[sa.Column[int]]:
    """Return columns of amounts, in units of the ledger."""
    return [sa.Column(name, sa.BigInteger(), nullable=False) for name in names]


def allowances() -> None:
    op.create_table(
        "allowance",
        number(),
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
        number(),
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


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
