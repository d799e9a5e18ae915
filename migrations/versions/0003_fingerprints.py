"""Queries keep the sealed fingerprint of their exact answer, for raising the ceiling."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("query", sa.Column("sealed_fingerprint", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """History is append-only and stays; restore a backup instead."""
    raise NotImplementedError("a schema is never taken back; restore a backup instead")
