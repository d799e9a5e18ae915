"""Allow rows of history to be signed again, with nothing else of them changed."""

from alembic import op

from penstock.persistence import append_only

revision = "0025"
down_revision = "0024"
branch_labels = None
depends_on = None

HISTORY = {
    "charge": (
        *("id", "dataset_id", "tier_id", "seq", "query_id", "rung", "order", "loss"),
        *("failure", "loss_total", "failure_total", "at"),
    ),
    "clearance": ("id", "user_id", "version", "tier_id", "at", "by"),
    "decision": ("id", "proposal_id", "outcome", "proposed_by", "by", "at", "reason"),
    "former_declaration": ("id", "dataset_id", "number", "spec", "at", "by"),
    "grant": ("id", "user_id", "release_id", "tier_id", "leaf_id", "at"),
    "proposal": ("id", "public_id", "act", "request", "basis", "by", "at", "expires_at"),
    "query_level": ("id", "query_id", "tier_id", "version", "rung", "at", "by"),
    "release": (
        *("id", "public_id", "query_id", "rung", "seq", "accurate_rung", "noisy_rung"),
        *("ciphertext", "created_at"),
    ),
    "spent_floor": ("id", "dataset_id", "tier_id", "loss", "failure", "at"),
    "tier_budget": (
        *("id", "dataset_id", "tier_id", "version", "epsilon", "delta", "order"),
        *("limit_loss", "limit_failure", "at", "by", "highest_epsilon"),
    ),
}
"""The tables of history whose rows are signed, and all their columns but ``mac``."""


def upgrade() -> None:
    dialect = op.get_context().dialect.name
    for table, columns in HISTORY.items():
        name = f"append_only_{table}_update"
        place = "" if dialect == "sqlite" else f' ON "{table}"'
        op.execute(f'DROP TRIGGER "{name}"{place}')
        for statement in append_only.triggers(dialect, table, renewed="mac", fixed=columns):
            if name in statement:
                op.execute(statement)


def downgrade() -> None:
    """Refuse: history is append-only; restore a backup instead."""
    raise NotImplementedError("a schema is never downgraded; restore a backup instead")
