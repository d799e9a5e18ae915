"""Acts that may take two people: done, or proposed, and either way led on from."""

from collections.abc import Callable
from typing import TypeVar

from flask import Response

from penstock.services.approvals import proposals
from penstock.services.approvals.actions import Act
from penstock.services.schemas.proposals import ProposalView
from penstock.web.http.request_context import Visit

Answered = TypeVar("Answered")


def do_or_propose(
    visit: Visit, act: Act[Answered], done: Callable[[Answered], Response]
) -> Response:
    """To where ``done`` leads, or to the proposal where it takes somebody else as well."""
    answer = proposals.do_or_propose(visit.server, visit.principal, act)
    if isinstance(answer, ProposalView):
        return visit.go("proposal", proposal=answer.id)
    return done(answer)
