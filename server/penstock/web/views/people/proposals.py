"""Show and decide proposals: actions that need two admins."""

from typing import get_args

from flask import Response, request

from penstock.errors import InvalidInput
from penstock.services.approvals import proposals as services
from penstock.services.schemas.proposals import State
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, OVERSEER, Pages

pages = Pages()

STATES: tuple[State, ...] = get_args(State)


@pages.get("/proposals", OVERSEER, menu="Proposals")
def proposals(visit: Visit) -> Response:
    """Show all proposals in order, or those in one state."""
    name = request.args.get("state", "")
    state = next((candidate for candidate in STATES if candidate == name), None)
    if name and state is None:
        raise InvalidInput(f"state must be one of {', '.join(STATES)}.", pointer="/state")
    page = services.listing(visit.server, visit.principal, visit.window(), state)
    return visit.page(
        "people/proposals.html",
        proposals=page.items,
        onward=visit.onward(page),
        states=STATES,
        state=state,
    )


@pages.get("/proposals/<proposal>", OVERSEER)
def proposal(visit: Visit, proposal: str) -> Response:
    """Show one proposal, with the buttons that decide it."""
    return _proposal(visit, proposal, Form())


@pages.post("/proposals/<proposal>/approval", ADMIN)
def approve_proposal(visit: Visit, proposal: str) -> Response:
    """Approve the proposal of another admin, and carry it out exactly as proposed."""

    def act() -> Response:
        done = services.approve(visit.server, visit.principal, proposal)
        return visit.go("proposal", proposal=done.id, decided="1")

    return tried(act, lambda problem: _proposal(visit, proposal, form_input.refused({}, problem)))


@pages.post("/proposals/<proposal>/withdrawal", ADMIN)
def withdraw_proposal(visit: Visit, proposal: str) -> Response:
    """Close a proposal without carrying it out."""

    def act() -> Response:
        done = services.withdraw(visit.server, visit.principal, proposal)
        return visit.go("proposal", proposal=done.id, decided="1")

    return tried(act, lambda problem: _proposal(visit, proposal, form_input.refused({}, problem)))


def _proposal(visit: Visit, public_id: str, form: Form) -> Response:
    view = services.show(visit.server, visit.principal, public_id)
    return visit.page(
        "people/proposal.html",
        form.status,
        proposal=view,
        form=form,
        decided="decided" in request.args,
    )
