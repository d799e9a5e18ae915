"""Add invitations, by which people become users with what an admin allowed."""

import sqlalchemy as sa
from alembic import op

revision = "0033"
down_revision = "0032"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "invitation",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("prefix", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("folded", sa.String(), nullable=False),
        sa.Column("roles", sa.String(), nullable=False),
        number("tier_id", "tier"),
        sa.Column("by", sa.String(), nullable=False),
        number("inviter_id", "user"),
        number("parent_id", "token"),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("revoked_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("accepted_at", sa.DateTime(timezone=True), nullable=True),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("prefix"),
        sa.CheckConstraint("length(prefix) >= 1", name="prefix"),
        sa.CheckConstraint("length(digest) = 32", name="digest"),
        sa.CheckConstraint("length(name) BETWEEN 1 AND 64", name="name"),
        sa.CheckConstraint("length(folded) >= 1", name="folded"),
        sa.CheckConstraint("length(roles) >= 1", name="roles"),
        sa.CheckConstraint('length("by") >= 1', name="by"),
        sa.CheckConstraint("expires_at > created_at", name="expires_at"),
        sa.CheckConstraint("accepted_at IS NULL OR revoked_at IS NULL", name="accepted_at"),
    )


def number(name: str, table: str) -> sa.Column[int]:
    """Return the column of another row's number, which may be null."""
    return sa.Column(name, sa.BigInteger(), sa.ForeignKey(f"{table}.id"), nullable=True)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
