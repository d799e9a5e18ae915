"""Authenticate the log's witness from this schema on; nothing changes in the database.

A witness that an older version wrote is accepted together with a database of an older schema, and
refused beside any other: otherwise whoever can write only to the witness's folder could put an
old-style witness in its place.
"""

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """Do nothing: ``penstock.services.operations.home.upgrade`` takes over the witness."""


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
