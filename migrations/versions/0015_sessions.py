"""Add sessions: who is signed in to the pages."""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "web_session",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("user_id", sa.BigInteger(), sa.ForeignKey("user.id"), nullable=False),
        sa.Column("token_id", sa.BigInteger(), sa.ForeignKey("token.id"), nullable=True),
        sa.Column("scopes", sa.String(), nullable=False),
        sa.Column("started_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("seen_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("digest"),
        sa.CheckConstraint("length(digest) = 32", name="digest"),
        sa.CheckConstraint("(token_id IS NULL) = (length(scopes) >= 1)", name="scopes"),
        sa.CheckConstraint("expires_at > started_at", name="expires_at"),
        sqlite_autoincrement=True,
    )
    for column in ("user_id", "token_id", "expires_at"):
        op.create_index(f"ix_web_session_{column}", "web_session", [column])


def downgrade() -> None:
    """Refuse: a schema is never downgraded; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
