"""Store the log as a tree: complete subtrees, signed checkpoints, the key that signs them."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    pending = sa.text('"index" IS NULL')
    op.create_index(
        "ix_leaf_pending", "leaf", ["id"], sqlite_where=pending, postgresql_where=pending
    )
    op.create_table(
        "tree_node",
        identifier(),
        sa.Column("level", sa.Integer(), nullable=False),
        sa.Column("position", sa.BigInteger(), nullable=False),
        sa.Column("hash", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("level", "position"),
        sa.CheckConstraint("level >= 1", name="level"),
        sa.CheckConstraint("position >= 0", name="position"),
        sa.CheckConstraint("length(hash) = 32", name="hash"),
    )
    op.create_table(
        "log_key",
        identifier(),
        sa.Column("public", sa.LargeBinary(), nullable=False),
        sa.Column("wrapped", sa.LargeBinary(), nullable=False),
        sa.Column("created_at", sa.DateTime(timezone=True), nullable=False),
        sa.UniqueConstraint("public"),
        sa.CheckConstraint("length(public) = 32", name="public"),
        sa.CheckConstraint("length(wrapped) >= 1", name="wrapped"),
    )
    op.create_table(
        "checkpoint",
        identifier(),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("root", sa.LargeBinary(), nullable=False),
        sa.Column("note", sa.String(), nullable=False),
        sa.Column("log_key_id", sa.BigInteger(), sa.ForeignKey("log_key.id"), nullable=False),
        sa.UniqueConstraint("size"),
        sa.CheckConstraint("size >= 1", name="size"),
        sa.CheckConstraint("length(root) = 32", name="root"),
        sa.CheckConstraint("length(note) >= 1", name="note"),
    )
    for table in ("tree_node", "checkpoint"):
        for statement in append_only.triggers(op.get_context().dialect.name, table):
            op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")


def identifier() -> sa.Column[int]:
    """Return an id column; SQLite numbers rows by itself only if the type is INTEGER."""
    kind = sa.BigInteger().with_variant(sa.Integer(), "sqlite")
    return sa.Column("id", kind, primary_key=True, nullable=False)
