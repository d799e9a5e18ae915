"""Count how often exact values and keyed requests differed from those that were stored."""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for table in ("query", "idempotency"):
        op.add_column(table, sa.Column("mismatches", sa.Integer(), nullable=True))


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
