"""Queries: fixed statistics over a dataset."""

from typing import Annotated

from penstock.api.call import Call
from penstock.api.operations import ADMIN, SIGNED_IN, Operations, Parameter
from penstock.services import queries
from penstock.services.paging import Window
from penstock.services.specs import QueryRequest
from penstock.services.views import Page, QueryView

operations = Operations()


@operations.get("/queries", SIGNED_IN)
def list_queries(
    call: Call,
    window: Window,
    dataset: Annotated[str | None, Parameter("Only the queries of this dataset.")] = None,
) -> Page[QueryView]:
    """List the queries that the caller may see, in the order in which they were registered."""
    return queries.listing(call.server, call.principal, window, dataset)


@operations.post("/queries", ADMIN, refusals=(404, 409), large_body=True)
def register_query(call: Call, body: QueryRequest) -> QueryView:
    """Register a query: charge every tier, then read the data once and draw the anchor.

    A refusal for want of budget says what was needed, what is left, which queries spent
    it, and the largest share that would fit.
    """
    return queries.register(call.server, call.principal, body)


@operations.get("/queries/{query}", SIGNED_IN)
def show_query(call: Call, query: str) -> QueryView:
    """Show one query, down to the tiers that the caller may see."""
    return queries.show(call.server, call.principal, query)
