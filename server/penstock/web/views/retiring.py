"""Ending a query or a stream: nothing more of it is released."""

from flask import Response

from penstock.services import proposals
from penstock.services.proposal_views import ProposalView
from penstock.services.proposed import QueryRetirement, StreamRetirement
from penstock.web.pages import ADMIN, Pages
from penstock.web.visit import Visit

pages = Pages()


@pages.post("/queries/<query>/retirement", ADMIN)
def retire_query(visit: Visit, query: str) -> Response:
    """Retire a query, or propose it."""
    done = proposals.asked(visit.server, visit.principal, QueryRetirement(query=query))
    if isinstance(done, ProposalView):
        return visit.go("proposal", proposal=done.id)
    return visit.go("query", query=done.name)


@pages.post("/streams/<stream>/retirement", ADMIN)
def retire_stream(visit: Visit, stream: str) -> Response:
    """Retire a stream, or propose it."""
    done = proposals.asked(visit.server, visit.principal, StreamRetirement(stream=stream))
    if isinstance(done, ProposalView):
        return visit.go("proposal", proposal=done.id)
    return visit.go("stream", stream=done.name)
