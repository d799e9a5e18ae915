"""Show requests: to analysts their own, to admins all, each with who requested it and why.

What a person sees of their own request does not depend on the requests of others, nor on queries
that they do not see: comments from before it are left out, and its identifier is its own.  If its
approval registered a query that they do not see, it is declined for them: that it is not would tell
of that query, and of no use to them.
"""

import json
from collections.abc import Sequence

from sqlalchemy import ColumnElement
from sqlalchemy.orm import Mapped
from sqlmodel import Session, col, select, true

from penstock.errors import Conflict, InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.decided.requests import (
    Asker,
    Request,
    RequestComment,
    RequestDecision,
)
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.allowances.own_names import shown_name
from penstock.services.computing import PATIENCE
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_below
from penstock.services.pagination import Page, Window
from penstock.services.previews import query_preview
from penstock.services.releases.visibility import visible
from penstock.services.requests import rows, settled, states
from penstock.services.schemas.previews import PreviewView
from penstock.services.schemas.queries import PreviewRequest, RegisteredQuery
from penstock.services.schemas.requests.specs import AskRequest
from penstock.services.schemas.requests.views import (
    AskerView,
    RequestCommentView,
    RequestState,
    RequestView,
)

UNANSWERED = (
    "No query that you see answers this request. You may request it again, as a new request."
)
"""What is shown with a request that was declined, or approved for others than its sender."""


def listing(
    server: Server,
    principal: Principal,
    window: Window,
    state: RequestState | None = None,
    *,
    newest_first: bool = False,
) -> Page[RequestView]:
    """List the requests that the caller may see, oldest first, all or those in one state.

    They come without previews.
    """
    principal.require("analyst", "admin")
    with server.database.read() as session:
        if rows.sees_all(principal):
            after, order = _order(col(Request.id), window, newest_first=newest_first)
            requests = select(Request).where(after, *states.in_state(state)).order_by(order)
            shown = session.exec(requests.limit(window.limit + 1)).all()
            return window.page(
                shown, lambda row: _whole(server, session, row), lambda row: required(row.id)
            )
        limit = visible_below(session, principal)
        after, order = _order(col(Asker.id), window, newest_first=newest_first)
        own = (
            select(Asker)
            .join(Request, col(Asker.request_id) == col(Request.id))
            .where(
                col(Asker.user_id) == principal.user_id,
                after,
                *states.own_in_state(state, principal, limit),
            )
        )
        sent = session.exec(own.order_by(order).limit(window.limit + 1)).all()
        return window.page(
            sent,
            lambda row: own_view(server, session, principal, row),
            lambda row: required(row.id),
        )


def show(server: Server, principal: Principal, public_id: str) -> RequestView:
    """Show one request with its preview.  Raises ``NotFound``, also for those of others."""
    return _with_preview(server, principal, without_preview(server, principal, public_id))


def without_preview(server: Server, principal: Principal, public_id: str) -> RequestView:
    """Show one request as in a list.  Raises ``NotFound``, also for those of others."""
    principal.require("analyst", "admin")
    with server.database.read() as session:
        asker = rows.asker_row(session, principal, public_id)
        if rows.sees_all(principal):
            return _whole(server, session, session.get_one(Request, asker.request_id), asker)
        return own_view(server, session, principal, asker)


def show_own(
    server: Server, principal: Principal, public_id: str, preview: PreviewView | None = None
) -> RequestView:
    """Show a request to the person who sent it, as if they were no admin."""
    with server.database.read() as session:
        asker = rows.asker_row(session, principal, public_id)
        view = own_view(server, session, principal, asker)
    return _with_preview(server, principal, view, preview)


def answered(
    principal: Principal,
    request: AskRequest,
    text: str,
    dataset: Dataset,
    query: str,
    preview: PreviewView,
) -> RequestView:
    """Return the answer to a request of a statistic that is registered and visible."""
    return RequestView(
        id=None,
        state="answered",
        query=query,
        name=request.name,
        dataset=dataset.name,
        dataset_version=dataset.version,
        purpose=request.purpose,
        spec=json.loads(text),
        requested_by=principal.name,
        requested_at=None,
        comments=[],
        decided_by=None,
        decided_at=None,
        askers=[],
        registered_as=None,
        problem=None,
        preview=preview,
    )


def preview_of_query(server: Server, principal: Principal, name: str) -> PreviewView:
    """Return what a registered query was charged, as the caller may see it."""
    return query_preview.preview(server, principal, RegisteredQuery(query=name), PATIENCE)


def _with_preview(
    server: Server, principal: Principal, view: RequestView, preview: PreviewView | None = None
) -> RequestView:
    """Return a request with its preview, or with the reason why there is none."""
    request: PreviewRequest
    if preview is not None or view.state == "withdrawn":
        return _replaced(view, preview, None)
    if view.state == "declined" or view.problem is not None:
        return view
    try:
        query = view.query or view.registered_as
        if query is not None:
            request = RegisteredQuery(query=query)
        else:
            request = rows.spec_request(json.dumps(view.spec))
        return _replaced(view, query_preview.preview(server, principal, request, PATIENCE), None)
    except (Conflict, InvalidInput, NotFound) as problem:
        return _replaced(view, None, problem.detail)


def _replaced(view: RequestView, preview: PreviewView | None, problem: str | None) -> RequestView:
    return RequestView(**{**vars(view), "preview": preview, "problem": problem})


def own_view(server: Server, session: Session, principal: Principal, asker: Asker) -> RequestView:
    """Return a request as the person sees it who sent it."""
    request = session.get_one(Request, asker.request_id)
    withdrawn = rows.is_withdrawn(session, asker)
    decision = None if withdrawn else rows.decision_of(session, required(request.id))
    limit = visible_below(session, principal)
    if decision is None:
        query = rows.same_statistic(session, request.canonical_hash, limit)
    else:
        query = None if decision.query_id is None else session.get(Query, decision.query_id)
    seen = None if query is None or withdrawn else _seen(session, principal, query)
    refusal = None
    if seen is not None and decision is None:
        refusal = rows.retired(session, query, limit)
        seen = seen if refusal is None else None
    state: RequestState = "open" if seen is None else "answered"
    if withdrawn:
        state = "withdrawn"
    elif decision is not None:
        state = "declined" if seen is None else "approved"
    problem = None if refusal is None else refusal.detail
    if state == "declined":
        problem = UNANSWERED
    elif state == "open" and problem is None:
        problem = rows.outdated(server, session, principal, request, asker)
    return _made(
        session,
        request,
        asker,
        state=state,
        query=seen,
        comments=[] if withdrawn else _comments(session, asker, decision),
        decision=decision,
        problem=problem,
    )


def _whole(
    server: Server, session: Session, request: Request, asker: Asker | None = None
) -> RequestView:
    """Return a request as admins see it: all that was sent for it.

    Its name, purpose and spec are those of what was decided or, before that, of ``asker``: an
    approval of its identifier registers that.  If that was withdrawn, or without ``asker``, they
    are those of the first that is not withdrawn.
    """
    key = required(request.id)
    askers, decision = rows.askers_of(session, key), rows.decision_of(session, key)
    active = rows.active_askers(session, key)
    chosen = (active or askers)[0]
    if decision is not None:
        chosen = session.get_one(Asker, decision.asker_id)
    elif asker is not None and (not active or any(each.id == asker.id for each in active)):
        chosen = asker
    if decision is None:
        query = rows.registered(session, request.canonical_hash, active)
        state = settled.undecided_state(session, active, query)
    else:
        query = None if decision.query_id is None else session.get(Query, decision.query_id)
        state = _outcome(decision)
    refusal = None if decision is not None else rows.retired(session, query, None)
    problem = None if refusal is None else refusal.detail
    if state == "open" and problem is None:
        problem = rows.outdated(server, session, None, request, chosen)
    leads = decision is not None or state == "answered"
    return _made(
        session,
        request,
        chosen,
        state=state,
        query=query.readable if leads and query is not None else None,
        comments=_comments(session, None, decision, key),
        decision=decision,
        askers=[_asker(session, each, request, decision) for each in askers],
        registered_as=None if decision is not None or query is None else query.readable,
        problem=problem,
    )


def _made(
    session: Session,
    request: Request,
    asker: Asker,
    *,
    state: RequestState,
    query: str | None,
    comments: list[RequestCommentView],
    decision: RequestDecision | None,
    askers: list[AskerView] | None = None,
    registered_as: str | None = None,
    problem: str | None = None,
) -> RequestView:
    # What an admin changed, such as the name, is not shown to those who requested it.
    registered = decision.spec if decision is not None and askers else None
    spec = json.loads(registered or asker.spec)
    dataset = session.get_one(Dataset, request.dataset_id)
    return RequestView(
        id=asker.public_id,
        state=state,
        query=query,
        name=spec["name"],
        dataset=dataset.name,
        dataset_version=dataset.version,
        purpose=asker.purpose,
        spec=spec,
        requested_by=rows.name_of(session, asker),
        requested_at=asker.at,
        comments=comments,
        decided_by=None if decision is None else decision.by,
        decided_at=None if decision is None else decision.at,
        askers=askers or [],
        registered_as=registered_as,
        problem=problem,
        preview=None,
    )


def _asker(
    session: Session, asker: Asker, request: Request, decision: RequestDecision | None
) -> AskerView:
    tier = rows.tier_of(session, asker)
    if decision is None:
        sees = rows.answers(session, request.canonical_hash, tier)
    else:
        key = decision.query_id
        sees = key is not None and rows.sees(session, asker, session.get_one(Query, key))
    return AskerView(
        id=asker.public_id,
        user=rows.name_of(session, asker),
        tier=None if tier is None else tier.name,
        purpose=asker.purpose,
        spec=json.loads(asker.spec),
        requested_at=asker.at,
        withdrawn=rows.is_withdrawn(session, asker),
        sees_query=sees,
    )


def _comments(
    session: Session, asker: Asker | None, decision: RequestDecision | None, request_id: int = 0
) -> list[RequestCommentView]:
    """Return the comments on a request; for an asker their own and those of admins since."""
    key = request_id if asker is None else asker.request_id
    statement = select(RequestComment).where(col(RequestComment.request_id) == key)
    if asker is not None:
        of_admins = col(RequestComment.asker_id).is_(None) & (col(RequestComment.at) >= asker.at)
        statement = statement.where(of_admins | (col(RequestComment.asker_id) == asker.id))
    stored: Sequence[RequestComment] = session.exec(
        statement.order_by(col(RequestComment.id))
    ).all()
    comments = [RequestCommentView(row.by, row.comment, row.at) for row in stored]
    if decision is not None and decision.comment is not None:
        later = (place for place, row in enumerate(stored) if row.at > decision.at)
        of_decision = RequestCommentView(decision.by, decision.comment, decision.at)
        comments.insert(next(later, len(comments)), of_decision)
    return comments


def _seen(session: Session, principal: Principal, query: Query) -> str | None:
    """Return a query's name, unless it is hidden from the caller."""
    try:
        return shown_name(session, *visible(session, principal, query.name, stream=False))
    except NotFound:
        return None


def _outcome(decision: RequestDecision) -> RequestState:
    return "approved" if decision.outcome == "approved" else "declined"


def _order(
    number: Mapped[int | None], window: Window, *, newest_first: bool
) -> tuple[ColumnElement[bool], ColumnElement[int | None]]:
    """Return the condition for rows after a window's cursor, and the order of the list."""
    if not newest_first:
        return number > window.after, number.asc()
    begins = window.after < 0
    return (true() if begins else number < window.after), number.desc()
