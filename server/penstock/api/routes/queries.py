"""Queries: fixed statistics over a dataset."""

from typing import Annotated

from penstock.api.call import Call
from penstock.api.operations import ADMIN, SIGNED_IN, Operations, Parameter
from penstock.services import queries
from penstock.services.paging import Window
from penstock.services.specs import LevelsChange, QueryRequest
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


@operations.patch("/queries/{query}", ADMIN, refusals=(409,), large_body=True)
def change_query(call: Call, query: str, body: LevelsChange) -> QueryView:
    """Move levels of a query; tiers left out keep theirs.

    A noisier level acts on the future: values already handed out remain readable.  A more
    accurate one is charged, and up to the query's ceiling needs no data.  Above it the
    exact values are needed again: `values` where they were pushed, else the file is read
    once more; others than those registered are refused.  The same change, asked again
    after a failure, is charged nothing more and finishes it.
    """
    return queries.change(call.server, call.principal, query, body)


@operations.post("/queries/{query}/retire", ADMIN, status=200)
def retire_query(call: Call, query: str) -> QueryView:
    """Stop further releases of a query.

    Values already handed out remain readable, and nothing that it cost comes back.
    """
    return queries.retire(call.server, call.principal, query)
