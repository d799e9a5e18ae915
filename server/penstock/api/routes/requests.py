"""Handle requests of analysts for queries, and what admins decide about them."""

from typing import Annotated

from penstock.api.operations import ADMIN, ANALYST, REQUESTER, Operations, Parameter
from penstock.api.request_context import Call
from penstock.services.pagination import Page, Window
from penstock.services.requests import asking, comments, decisions, views
from penstock.services.schemas.requests.specs import AskRequest, CommentRequest, DecisionRequest
from penstock.services.schemas.requests.views import RequestState, RequestView

operations = Operations()


@operations.get("/requests", REQUESTER)
def list_requests(
    call: Call,
    window: Window,
    state: Annotated[RequestState | None, Parameter("Only requests in this state.")] = None,
) -> Page[RequestView]:
    """List requests in the order in which they were made, without previews.

    Analysts see their own, admins those of everybody.
    """
    return views.listing(call.server, call.principal, window, state)


@operations.post("/requests", ANALYST, refusals=(404, 409), question=True)
def request_query(call: Call, request: AskRequest) -> RequestView:
    """Request a query, and say what it is for; an admin decides whether it is registered.

    The body is what `POST /queries` takes, with `purpose`. Nothing is charged, and no data are
    read. A statistic that is registered already, and that the caller sees, is the answer: then
    nothing is stored, and `query` names it. Repeating an open request changes nothing. Exact values
    are never stored, so vectors that are pushed cannot be requested.
    """
    view = asking.ask(call.server, call.principal, request)
    # Otherwise the answer's time could distinguish a hidden query from none.
    call.hide_duration(0)
    return view


@operations.get("/requests/{request_id}", REQUESTER)
def show_request(call: Call, request_id: str) -> RequestView:
    """Show a request with the preview of its query, as the caller may see it."""
    view = views.show(call.server, call.principal, request_id)
    call.hide_duration(0)
    return view


@operations.post("/requests/{request_id}/comments", REQUESTER, refusals=(409,))
def comment_on_request(call: Call, request_id: str, request: CommentRequest) -> RequestView:
    """Comment on a request: analysts on their own, admins on all.

    What an admin writes is shown to everybody who has the request open; what an analyst writes is
    shown to admins.
    """
    view = comments.comment(call.server, call.principal, request_id, request)
    call.hide_duration(0)
    return view


@operations.post("/requests/{request_id}/decision", ADMIN, status=200, refusals=(409,))
def decide_request(call: Call, request_id: str, request: DecisionRequest) -> RequestView:
    """Approve a request, which registers what was sent under its identifier, or decline it.

    Either decides about all that request the same. `levels` replace those that were requested, and
    `name` the name. The query is visible at these levels to every tier from the lowest listed one
    on, also to tiers below that of whoever requested it: the admin decides that. The decision and
    the charge are one transaction: a refusal leaves the request open. If the data cannot be read
    after the charge, repeat the approval. A request for an older version of its dataset is not
    approved, unless its statistic is registered already.
    """
    return decisions.decide(call.server, call.principal, request_id, request)


@operations.post("/requests/{request_id}/withdraw", ANALYST, status=200, refusals=(409,))
def withdraw_request(call: Call, request_id: str) -> RequestView:
    """Withdraw a request of one's own that is not decided yet."""
    view = asking.withdraw(call.server, call.principal, request_id)
    call.hide_duration(0)
    return view
