"""Record the largest epsilon that an account ever had, by which its queries are priced."""

import sqlalchemy as sa
from alembic import op

revision = "0020"
down_revision = "0019"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Null in existing rows: a row of history is signed and cannot be changed.
    op.add_column("tier_budget", sa.Column("highest_epsilon", sa.Float(), nullable=True))


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
