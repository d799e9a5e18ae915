"""Record the token that a token was created with, and with which it ends."""

from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # Written as SQL, which both databases accept: a batch would create SQLite's table again, and
    # the table of sessions refers to it.
    op.execute(
        "ALTER TABLE token ADD COLUMN parent_id BIGINT"
        " CONSTRAINT fk_token_parent_id REFERENCES token (id)"
    )
    op.create_index("ix_token_parent_id", "token", ["parent_id"])


def downgrade() -> None:
    """Refuse: a schema is never downgraded; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
