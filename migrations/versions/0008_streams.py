"""Add streams: a structure beside a query, its state, and the totals that were released."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0008"
down_revision = "0007"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("query", sa.Column("structure", sa.String(), nullable=True))
    op.create_table(
        "stream_state",
        identifier(),
        sa.Column("query_id", sa.BigInteger(), sa.ForeignKey("query.id"), nullable=False),
        sa.Column("step", sa.BigInteger(), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("query_id"),
        sa.CheckConstraint("step >= 0", name="step"),
        sa.CheckConstraint("length(ciphertext) >= 1", name="ciphertext"),
    )
    op.create_table(
        "stream_output",
        identifier(),
        sa.Column("query_id", sa.BigInteger(), sa.ForeignKey("query.id"), nullable=False),
        sa.Column("rung", sa.Integer(), nullable=False),
        sa.Column("first", sa.BigInteger(), nullable=False),
        sa.Column("last", sa.BigInteger(), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("query_id", "rung", "first"),
        sa.UniqueConstraint("query_id", "rung", "last"),
        sa.CheckConstraint("rung >= 0", name="rung"),
        sa.CheckConstraint("first >= 1 AND last >= first", name="steps"),
        sa.CheckConstraint("length(ciphertext) >= 1", name="ciphertext"),
        sqlite_autoincrement=True,
    )
    for statement in append_only.triggers(op.get_context().dialect.name, "stream_output"):
        op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")


def identifier() -> sa.Column[int]:
    """Return an id column; SQLite numbers rows by itself only if the type is INTEGER."""
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", kind, primary_key=True, nullable=False)
