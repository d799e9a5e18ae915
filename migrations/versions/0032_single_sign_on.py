"""Add groups of an OpenID provider, users created for its accounts, and what is accepted once."""

from collections.abc import Sequence

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0032"
down_revision = "0031"
branch_labels = None
depends_on = None

GROUP_MAPPING = ("id", "issuer", "group_name", "version", "roles", "tier_id", "at", "by")


def upgrade() -> None:
    group_mappings()
    provider_accounts()
    sessions()
    used_once()


def group_mappings() -> None:
    op.create_table(
        "group_mapping",
        number("id"),
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("group_name", sa.String(), nullable=False),
        sa.Column("version", sa.Integer(), nullable=False),
        sa.Column("roles", sa.String(), nullable=False),
        sa.Column("tier_id", sa.BigInteger(), sa.ForeignKey("tier.id"), nullable=True),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("issuer", "group_name", "version"),
        sa.CheckConstraint("length(issuer) >= 1", name="issuer"),
        sa.CheckConstraint("length(group_name) BETWEEN 1 AND 256", name="group_name"),
        sa.CheckConstraint("version >= 1", name="version"),
        sa.CheckConstraint('length("by") >= 1', name="by"),
    )
    op.create_index("ix_group_mapping_tier_id", "group_mapping", ["tier_id"])
    keep("group_mapping", GROUP_MAPPING)


def provider_accounts() -> None:
    op.create_table(
        "provider_account",
        number("id"),
        sa.Column("user_id", sa.BigInteger(), sa.ForeignKey("user.id"), nullable=False),
        sa.Column("issuer", sa.String(), nullable=False),
        sa.Column("subject", sa.String(), nullable=False),
        sa.Column("follows", sa.Boolean(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("user_id"),
        sa.UniqueConstraint("issuer", "subject"),
        sa.CheckConstraint("length(issuer) >= 1", name="issuer"),
        sa.CheckConstraint("length(subject) BETWEEN 1 AND 255", name="subject"),
    )


def sessions() -> None:
    # Null in the sessions that there are, whose HMACs stay valid: what is null is not signed.
    for column in ("subject", "provider_session"):
        op.add_column("web_session", sa.Column(column, sa.LargeBinary(), nullable=True))


def used_once() -> None:
    op.create_table(
        "used_once",
        number("id"),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.Column("expires_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("digest"),
        sa.CheckConstraint("length(digest) = 32", name="digest"),
    )
    op.create_index("ix_used_once_expires_at", "used_once", ["expires_at"])


def number(name: str) -> sa.Column[int]:
    """Return the column of a row's own number, of 64 bits."""
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column(name, kind, primary_key=True, nullable=False)


def keep(table: str, columns: Sequence[str]) -> None:
    """Let no row of a table be changed or deleted."""
    dialect = op.get_context().dialect.name
    for statement in append_only.triggers(dialect, table, renewed="mac", fixed=columns):
        op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
