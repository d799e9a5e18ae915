"""Record whether the privacy units of a dataset's version are in no earlier version."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column(
        "dataset",
        sa.Column("disjoint_units", sa.Boolean(), nullable=False, server_default=sa.false()),
    )


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
