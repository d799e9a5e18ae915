"""From this schema on the log's witness is authenticated; in the database nothing changes.

A witness that older versions wrote is taken over together with a database of their schemas, and
refused beside any other: whoever can write to its folder alone puts none of these in its place.
"""

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    """The witness is no table: ``penstock.services.operations.home.upgrade`` takes it over."""


def downgrade() -> None:
    """History is append-only and stays; restore a backup instead."""
    raise NotImplementedError("a schema is never taken back; restore a backup instead")
