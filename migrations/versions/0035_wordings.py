"""Add wordings: titles, descriptions, units, tags, key labels and owners of what is registered."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0035"
down_revision = "0034"
branch_labels = None
depends_on = None

COLUMNS = (
    *("id", "dataset_id", "query_id", "version", "title", "description", "measured_in"),
    *("tags", "labels", "owners", "at", "by"),
)


def upgrade() -> None:
    op.create_table(
        "wording",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            nullable=False,
        ),
        number("dataset_id", "dataset"),
        number("query_id", "query"),
        sa.Column("version", sa.Integer(), nullable=False),
        *(text(name) for name in ("title", "description", "measured_in")),
        *(text(name) for name in ("tags", "labels", "owners")),
        sa.Column("at", sa.DateTime(timezone=True), nullable=False),
        sa.Column("by", sa.String(), nullable=False),
        sa.Column("mac", sa.LargeBinary(), nullable=True),
        sa.UniqueConstraint("dataset_id", "version"),
        sa.UniqueConstraint("query_id", "version"),
        sa.CheckConstraint("dataset_id IS NOT NULL OR query_id IS NOT NULL", name="subject"),
        sa.CheckConstraint("version >= 1", name="version"),
        sa.CheckConstraint('length("by") >= 1', name="by"),
    )
    dialect = op.get_context().dialect.name
    for statement in append_only.triggers(dialect, "wording", renewed="mac", fixed=COLUMNS):
        op.execute(statement)


def number(name: str, table: str) -> sa.Column[int]:
    """Return the column of another row's number, which may be null."""
    return sa.Column(name, sa.BigInteger(), sa.ForeignKey(f"{table}.id"), nullable=True)


def text(name: str) -> sa.Column[str]:
    """Return a column of text."""
    return sa.Column(name, sa.String(), nullable=False)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
