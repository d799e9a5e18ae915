"""Do or propose actions under the two-person rule, and redirect to the result."""

from collections.abc import Callable
from typing import TypeVar

from flask import Response

from penstock.services.approvals import proposals
from penstock.services.approvals.actions import Action
from penstock.services.schemas.proposals import ProposalView
from penstock.web.http.request_context import Visit

Answered = TypeVar("Answered")


def do_or_propose(
    visit: Visit, act: Action[Answered], done: Callable[[Answered], Response]
) -> Response:
    """Return ``done`` of the result, or redirect to the proposal if it needs approval."""
    answer = proposals.do_or_propose(visit.server, visit.principal, act)
    if isinstance(answer, ProposalView):
        return visit.go("proposal", proposal=answer.id)
    return done(answer)
