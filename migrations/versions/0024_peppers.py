"""Tokens that say which pepper their digest is under; null is the first."""

import sqlalchemy as sa
from alembic import op

revision = "0024"
down_revision = "0023"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("token", sa.Column("pepper", sa.BigInteger(), nullable=True))


def downgrade() -> None:
    """History is append-only and stays; restore a backup instead."""
    raise NotImplementedError("a schema is never taken back; restore a backup instead")
