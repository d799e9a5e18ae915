"""The token that a token was made with, with which it ends."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Spelled out, since both databases take it: a batch would make SQLite's table anew, to which
    # that of sessions refers.
    op.execute(
        "ALTER TABLE token ADD COLUMN parent_id BIGINT"
        " CONSTRAINT fk_token_parent_id REFERENCES token (id)"
    )
    op.create_index("ix_token_parent_id", "token", ["parent_id"])


def downgrade() -> None:
    """A schema is never taken back; restore a backup instead."""
    raise NotImplementedError("a schema is never taken back; restore a backup instead")
