"""Handle requests about tiers: ranked clearance levels."""

from penstock.api.operations import ADMIN, SIGNED_IN, Operations
from penstock.api.request_context import Call
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import TierDeletion
from penstock.services.pagination import Page, Window
from penstock.services.people import tier_changes, tiers
from penstock.services.schemas.people.tiers import TierChange, TierSpec
from penstock.services.schemas.people.views import TierView
from penstock.services.schemas.proposals import ProposalView

operations = Operations()


@operations.get("/tiers", SIGNED_IN)
def list_tiers(call: Call, window: Window) -> Page[TierView]:
    """List all tiers, the least trusted first."""
    rows = list(enumerate(tiers.listing(call.server)))
    return window.page(rows[window.after + 1 :], lambda row: row[1], lambda row: row[0])


@operations.post("/tiers", ADMIN, refusals=(409,))
def create_tier(call: Call, request: TierSpec) -> TierView:
    """Add a tier, also between two others.

    It starts with the budgets and levels of the next lower tier.
    """
    return tier_changes.create(call.server, call.principal, request)


@operations.patch("/tiers/{tier}", ADMIN, refusals=(409,))
def change_tier(call: Call, tier: str, request: TierChange) -> TierView:
    """Move a tier, or change its description.

    Every tier is charged for what the tiers below it may see or ever saw, so a move is refused if a
    budget does not allow it. A tier that is moved down may see no more than the tiers that it
    passed.
    """
    return tier_changes.change(call.server, call.principal, tier, request)


@operations.delete("/tiers/{tier}", ADMIN, refusals=(409,))
def delete_tier(call: Call, tier: str) -> TierView | ProposalView:
    """Delete a tier that no user has.

    What its former users saw stays known to them, and stays charged.
    """
    return proposals.do_or_propose(call.server, call.principal, TierDeletion(tier=tier))
