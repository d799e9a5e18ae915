"""Index the log by actor, so that what a user read is found quickly however long the log is."""

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_index("ix_leaf_actor_kind", "leaf", ["actor", "kind"])
    op.create_index("ix_grant_leaf_id", "grant", ["leaf_id"])


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
