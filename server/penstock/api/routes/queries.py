"""Handle requests about queries: fixed statistics over a dataset."""

from typing import Annotated

from penstock.api.operations import ADMIN, PLANNER, REGISTRAR, SIGNED_IN, Operations, Parameter
from penstock.api.request_context import Call
from penstock.services import rewording
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import QueryRetirement
from penstock.services.catalogue import listing
from penstock.services.catalogue.choices import NEW_DAYS, Choice, Mark, Sort
from penstock.services.jobs import registrations
from penstock.services.pagination import Page, Window
from penstock.services.previews import dummy_answers, query_preview
from penstock.services.queries import queries
from penstock.services.schemas.previews import DummyAnswerRequest, DummyAnswerView, PreviewView
from penstock.services.schemas.proposals import ProposalView
from penstock.services.schemas.queries import PreviewRequest, QueryChange, QueryRequest
from penstock.services.schemas.views import (
    QueryView,
)
from penstock.services.schemas.wordings.wordings import WordingChange, texts_of

operations = Operations()

_SEARCH = (
    "Only queries with each of these words, in any case, in their title, name, dataset, tags or"
    " sentence."
)
_ONLY = (
    f"Only queries that the caller registered or has a release of, that were registered within the"
    f" last {NEW_DAYS} days, or that are retired."
)
_SORT = "By registration, which is oldest first by default, by name, or by dataset and then name."


@operations.get("/queries", SIGNED_IN)
def list_queries(
    call: Call,
    window: Window,
    dataset: Annotated[str | None, Parameter("Only the queries of this dataset.")] = None,
    search: Annotated[str | None, Parameter(_SEARCH)] = None,
    tag: Annotated[str | None, Parameter("Only queries with this tag, in any case.")] = None,
    only: Annotated[Mark | None, Parameter(_ONLY)] = None,
    sort: Annotated[Sort | None, Parameter(_SORT)] = None,
) -> Page[QueryView]:
    """List the queries that the caller may see, in the order in which they were registered.

    A search, filters and another order are those of the page `/catalogue`: they find nothing by
    texts that the caller may not see. A cursor continues the same search; what is registered
    meanwhile may move what follows by a place.
    """
    given = {"dataset": dataset, "search": search, "tag": tag, "only": only, "sort": sort}
    if not (search or tag or only or sort):
        return queries.listing(call.server, call.principal, window, dataset)
    choice = Choice.parse({"sort": "oldest"} | {name: text for name, text in given.items() if text})
    return listing.chosen(call.server, call.principal, window, choice)


@operations.post("/queries", REGISTRAR, refusals=(404, 409, 429), large_body=True, question=True)
def register_query(call: Call, request: QueryRequest) -> QueryView:
    """Register a query: charge every tier, then read the data once and draw the anchor.

    If the budget does not suffice, the refusal says what was needed, what is left, which queries
    spent it, and the largest share that would fit. An analyst needs an allowance for their tier:
    then `levels` names this tier alone, or `share` is of its budget, and the query is stored under
    its name with `@` and the tier behind it, by which readers in other tiers can always address it.
    """
    return registrations.query(call.server, call.principal, request)


@operations.post(
    "/queries/preview", PLANNER, status=200, refusals=(404, 409), large_body=True, question=True
)
def preview_query(call: Call, request: PreviewRequest) -> PreviewView:
    """Preview what registering a query would decide and charge; nothing is done.

    The body is what `POST /queries` takes, or `{"query": name}` of a registered query. The values
    of a pushed vector may be left out if its keys show their number; values that are sent are not
    kept.  Whatever registering would refuse is refused here too, with two exceptions: a budget that
    does not suffice is reported in `refusal` and in each tier's `room`, and the dataset's file is
    not opened. Analysts see tiers up to their own. A `share` is turned into levels from the highest
    tier down, so the levels that analysts see may be off by one step of the ladder.
    """
    preview = query_preview.preview(call.server, call.principal, request)
    # Otherwise the answer's time could distinguish a free name from a hidden one.
    call.hide_duration(0)
    return preview


@operations.post(
    "/queries/dummy", PLANNER, status=200, refusals=(404,), large_body=True, question=True
)
def answer_on_dummy(call: Call, request: DummyAnswerRequest) -> DummyAnswerView:
    """Answer a query exactly on made-up rows of its dataset, to try it; nothing is charged or kept.

    The rows are those of `GET /datasets/{dataset}/dummy` with the same `rows` and `seed`, and
    follow from the declaration: the data are not read. Levels and noise play no part.
    """
    return dummy_answers.tried(call.server, call.principal, request)


@operations.get("/queries/{query}", SIGNED_IN)
def show_query(call: Call, query: str) -> QueryView:
    """Show one query, down to the tiers that the caller may see."""
    return queries.show(call.server, call.principal, query)


@operations.patch("/queries/{query}", ADMIN, refusals=(409,), large_body=True)
def change_query(call: Call, query: str, request: QueryChange) -> QueryView:
    """Move levels of a query, or change its texts; tiers and texts left out keep theirs.

    A noisier level affects only later releases: values already handed out remain readable. A more
    accurate level is charged, and needs no data up to the query's ceiling. Beyond the ceiling the
    exact values are needed again: `values` if they were pushed, otherwise the file is read once
    more; values that differ from those registered are refused. The same change, repeated after a
    failure, is charged nothing more and finishes the first attempt. Texts for readers
    touch no level.
    """
    if isinstance(request, WordingChange):
        return rewording.of_query(call.server, call.principal, query, texts_of(request))
    return queries.change(call.server, call.principal, query, request)


@operations.post("/queries/{query}/retire", ADMIN, status=200)
def retire_query(call: Call, query: str) -> QueryView | ProposalView:
    """Stop further releases of a query.

    Values already handed out remain readable, and its charges are not returned.
    """
    return proposals.do_or_propose(call.server, call.principal, QueryRetirement(query=query))
