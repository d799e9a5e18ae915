"""Add sparse histograms: their domain and false keys beside a query, and their state."""

import sqlalchemy as sa
from alembic import op

revision = "0011"
down_revision = "0010"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("query", sa.Column("histogram", sa.String(), nullable=True))
    op.create_table(
        "histogram_state",
        identifier(),
        sa.Column("query_id", sa.BigInteger(), sa.ForeignKey("query.id"), nullable=False),
        sa.Column("seq", sa.BigInteger(), nullable=False),
        sa.Column("ciphertext", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("query_id"),
        sa.CheckConstraint("seq >= 0", name="seq"),
        sa.CheckConstraint("length(ciphertext) >= 1", name="ciphertext"),
    )


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")


def identifier() -> sa.Column[int]:
    """Return an id column; SQLite numbers rows by itself only if the type is INTEGER."""
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", kind, primary_key=True, nullable=False)
