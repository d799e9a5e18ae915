"""Rows of queries carry an HMAC of what they say."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("query", sa.Column("mac", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """History is append-only and stays; restore a backup instead."""
    raise NotImplementedError("a schema is never taken back; restore a backup instead")
