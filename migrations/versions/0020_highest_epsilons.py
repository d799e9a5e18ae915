"""The largest epsilon that an account ever had, by which its queries are priced."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Null in rows that are there: a row of history cannot be changed, and is signed.
    op.add_column("tier_budget", sa.Column("highest_epsilon", sa.Float(), nullable=True))


def downgrade() -> None:
    """History is append-only and stays; restore a backup instead."""
    raise NotImplementedError("a schema is never taken back; restore a backup instead")
