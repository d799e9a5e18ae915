"""Keep the sealed fingerprint of a query's exact answer, which raising the ceiling needs."""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("query", sa.Column("sealed_fingerprint", sa.LargeBinary(), nullable=True))


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
