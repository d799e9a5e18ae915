"""Propose, approve and withdraw acts that take two people under the two-person rule."""

from typing import Annotated

from penstock.api.operations import ADMIN, OVERSEER, Operations, Parameter
from penstock.api.request_context import Call
from penstock.services.approvals import proposals
from penstock.services.pagination import Page, Window
from penstock.services.schemas.proposals import ProposalView, State

operations = Operations()


@operations.get("/proposals", OVERSEER)
def list_proposals(
    call: Call,
    window: Window,
    state: Annotated[State | None, Parameter("Only those in this state.")] = None,
) -> Page[ProposalView]:
    """List what was proposed, in that order, and what came of it."""
    return proposals.listing(call.server, call.principal, window, state)


@operations.get("/proposals/{proposal}", OVERSEER)
def show_proposal(call: Call, proposal: str) -> ProposalView:
    """Show one proposal."""
    return proposals.show(call.server, call.principal, proposal)


@operations.post("/proposals/{proposal}/approval", ADMIN, status=200, refusals=(409,))
def approve_proposal(call: Call, proposal: str) -> ProposalView:
    """Approve what another admin proposed, and do exactly that.

    Nobody approves their own, with whatever token.  Where it cannot be done any more, as its
    state changed or its proposer is no admin now, it is closed as failed.
    """
    return proposals.approve(call.server, call.principal, proposal)


@operations.delete("/proposals/{proposal}", ADMIN, refusals=(409,))
def withdraw_proposal(call: Call, proposal: str) -> ProposalView:
    """Close a proposal without doing it: one's own, or that of another admin.

    It stays in the list.
    """
    return proposals.withdraw(call.server, call.principal, proposal)
