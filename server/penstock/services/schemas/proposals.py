"""What callers are answered about acts that take two people."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal

State = Literal["open", "approved", "withdrawn", "failed", "expired"]
Act = Literal[
    "change_budgets",
    "delete_tier",
    "retire_query",
    "retire_stream",
    "shred_dataset",
    "withdraw_dataset",
    "acknowledge_restore",
]


@dataclass(frozen=True)
class ProposalView:
    """An act that takes two people: what is to be done, who proposed it, what came of it.

    ``basis`` is the state that it was proposed for: in another one it is not done.  ``reason``
    says why an approved proposal could not be done.
    """

    id: str
    act: Act
    request: dict[str, Any]
    basis: dict[str, Any]
    state: State
    proposed_by: str
    proposed_at: datetime
    expires_at: datetime
    decided_by: str | None
    decided_at: datetime | None
    reason: str | None
