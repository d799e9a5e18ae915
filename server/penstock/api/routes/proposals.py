"""List, approve and withdraw proposals, for actions that need two people."""

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
    state: Annotated[State | None, Parameter("Only proposals in this state.")] = None,
) -> Page[ProposalView]:
    """List proposals in the order in which they were made, with their outcome."""
    return proposals.listing(call.server, call.principal, window, state)


@operations.get("/proposals/{proposal}", OVERSEER)
def show_proposal(call: Call, proposal: str) -> ProposalView:
    """Show one proposal."""
    return proposals.show(call.server, call.principal, proposal)


@operations.post("/proposals/{proposal}/approval", ADMIN, status=200, refusals=(409,))
def approve_proposal(call: Call, proposal: str) -> ProposalView:
    """Approve another admin's proposal, and carry it out exactly as proposed.

    Admins cannot approve their own proposals, with any token. If it can no longer be carried out,
    because the state changed or its proposer is no longer an admin, it is closed as failed.
    """
    return proposals.approve(call.server, call.principal, proposal)


@operations.delete("/proposals/{proposal}", ADMIN, refusals=(409,))
def withdraw_proposal(call: Call, proposal: str) -> ProposalView:
    """Close a proposal without carrying it out, the caller's own or another admin's.

    The proposal stays in the list.
    """
    return proposals.withdraw(call.server, call.principal, proposal)
