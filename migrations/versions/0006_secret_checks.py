"""Record the secrets that a database was made with, so that others are refused."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "secret_check",
        sa.Column(
            "id",
            sa.BigInteger().with_variant(sa.Integer(), "sqlite"),
            primary_key=True,
            nullable=False,
        ),
        sa.Column("name", sa.String(), nullable=False),
        sa.Column("digest", sa.LargeBinary(), nullable=False),
        sa.UniqueConstraint("name"),
        sa.CheckConstraint("length(name) >= 1", name="name"),
        sa.CheckConstraint("length(digest) = 32", name="digest"),
    )
    for statement in append_only.triggers(op.get_context().dialect.name, "secret_check"):
        op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
