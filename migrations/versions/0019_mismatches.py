"""How often exact values and keyed requests were sent that are not those that were stored."""

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
    """History is append-only and stays; restore a backup instead."""
    raise NotImplementedError("a schema is never taken back; restore a backup instead")
