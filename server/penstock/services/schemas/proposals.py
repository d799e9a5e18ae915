"""Describe the answers about actions that take two people."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

State = Literal["open", "approved", "withdrawn", "failed", "expired"]
ActionName = Literal[
    "change_budgets",
    "give_allowance",
    "delete_tier",
    "retire_query",
    "retire_stream",
    "shred_dataset",
    "withdraw_dataset",
    "acknowledge_restore",
]


@dataclass(frozen=True)
class ProposalView:
    """Hold an action that takes two people: the request, its proposer, and the decision.

    ``basis`` is the state that it was proposed for: in another state it is not done.  ``reason``
    says why an approved proposal could not be done.
    """

    id: str
    act: ActionName
    request: dict[str, Any]
    basis: dict[str, Any]
    state: State
    proposed_by: str
    proposed_at: datetime
    expires_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None
