"""Add to rows that decide what is permitted, or was spent, an HMAC of their content."""

import sqlalchemy as sa
from alembic import op

from penstock.persistence import append_only

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

CHANGEABLE = ("tier", "user", "token", "dataset", "idempotency")
HISTORY = {
    "clearance": ("id", "user_id", "version", "tier_id", "at", "by"),
    "tier_budget": (
        *("id", "dataset_id", "tier_id", "version", "epsilon", "delta", "order"),
        *("limit_loss", "limit_failure", "at", "by"),
    ),
    "query_level": ("id", "query_id", "tier_id", "version", "rung", "at", "by"),
    "charge": (
        *("id", "dataset_id", "tier_id", "seq", "query_id", "rung", "order", "loss"),
        *("failure", "loss_total", "failure_total", "at"),
    ),
    "release": (
        *("id", "public_id", "query_id", "rung", "seq", "accurate_rung", "noisy_rung"),
        *("ciphertext", "created_at"),
    ),
    "grant": ("id", "user_id", "release_id", "tier_id", "leaf_id", "at"),
    "spent_floor": ("id", "dataset_id", "tier_id", "loss", "failure", "at"),
    "proposal": ("id", "public_id", "act", "request", "basis", "by", "at", "expires_at"),
    "decision": ("id", "proposal_id", "outcome", "proposed_by", "by", "at", "reason"),
}
"""The tables of history, and the columns that stay as they are while ``mac`` is set once."""


def upgrade() -> None:
    for table in (*CHANGEABLE, *HISTORY):
        op.add_column(table, sa.Column("mac", sa.LargeBinary(), nullable=True))
    for table, columns in HISTORY.items():
        _signed_once(table, columns)


def _signed_once(table: str, columns: tuple[str, ...]) -> None:
    """Allow ``mac`` to be set once: existing rows are signed at the end of the upgrade."""
    dialect = op.get_context().dialect.name
    name = f"append_only_{table}_update"
    place = "" if dialect == "sqlite" else f' ON "{table}"'
    op.execute(f'DROP TRIGGER "{name}"{place}')
    for statement in append_only.triggers(dialect, table, once="mac", fixed=columns):
        if name in statement:
            op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
