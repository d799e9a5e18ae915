"""Show requests of analysts for queries: to them their own, to admins the inbox; take comments."""

from collections.abc import Mapping
from dataclasses import replace
from typing import get_args

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import Busy, InvalidInput, TooManyRequests
from penstock.http.pacing import hide_duration
from penstock.services import budgets
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.requests import asking, comments, decisions
from penstock.services.requests import views as services
from penstock.services.schemas.previews import PreviewView
from penstock.services.schemas.requests.specs import CommentRequest, DecisionRequest
from penstock.services.schemas.requests.views import RequestState, RequestView
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.forms.people import decision_form
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ANALYST, PLANNER, Pages
from penstock.web.presenters.preview_charts import PreviewCharts, charts_of_query
from penstock.web.presenters.spec_text import request_of

pages = Pages()

STATES: tuple[RequestState, ...] = get_args(RequestState)

PREVIEWED = 10
"""Number of open requests that admins see on a page, each with its preview."""


@pages.get("/requests", PLANNER, menu="Requests")
def query_requests(visit: Visit) -> Response:
    """Show analysts their own requests; show admins what waits, or the requests in one state."""
    name = request.args.get("state", "")
    state = next((candidate for candidate in STATES if candidate == name), None)
    if name not in ("", "all") and state is None:
        raise InvalidInput(f"state must be one of {', '.join(STATES)}.", pointer="/state")
    waits = visit.may("admin") and name in ("", "open")
    if waits:
        window = visit.window(PREVIEWED)
        page = services.listing(visit.server, visit.principal, window, "open")
        page = replace(page, items=[_with_preview(visit, view) for view in page.items])
        state = "open"
    else:
        window = visit.window()
        page = services.listing(visit.server, visit.principal, window, state, newest_first=True)
    return visit.page(
        "people/requests/inbox.html" if waits else "people/requests/listing.html",
        items=page.items,
        onward=visit.onward(page),
        states=STATES,
        state=state,
    )


@pages.get("/requests/<request_id>", PLANNER)
def query_request(visit: Visit, request_id: str) -> Response:
    """Show one request with its preview and comments, and to admins the form that decides it."""
    given = request.args

    def shown() -> Response:
        preview = _preview_of_typed(visit, request_id) if visit.may("admin") else None
        return page_of(visit, request_id, Form(given), preview)

    response = tried(
        shown, lambda problem: page_of(visit, request_id, form_input.refused(given, problem))
    )
    hide_duration(0)
    return response


@pages.post("/requests/<request_id>/comments", PLANNER)
def comment_on_request(visit: Visit, request_id: str) -> Response:
    """Comment on a request; what an admin typed into the other fields stays there."""
    given = request.form

    def commented() -> tuple[Response, str]:
        sent = checked(CommentRequest, {"comment": given.get("comment", "")})
        view = comments.comment(visit.server, visit.principal, request_id, sent)
        kept = {}
        if visit.may("admin"):
            kept = decision_form.changed(given, view.spec, tiers_of(visit, view))
        response = visit.go("query_request", request_id=request_id, done="commented", **kept)
        return response, response.location or ""

    return tried(
        lambda: once(visit, commented),
        lambda problem: page_of(visit, request_id, form_input.refused(given, problem)),
    )


@pages.post("/requests/<request_id>/withdrawal", ANALYST)
def withdraw_request(visit: Visit, request_id: str) -> Response:
    """Withdraw a request of one's own; a repeat changes nothing."""

    def act() -> Response:
        asking.withdraw(visit.server, visit.principal, request_id)
        return visit.go("query_request", request_id=request_id, done="withdrawn")

    return tried(act, lambda problem: page_of(visit, request_id, form_input.refused({}, problem)))


def page_of(
    visit: Visit, request_id: str, form: Form, preview: PreviewView | None = None
) -> Response:
    """Show one request; ``preview`` is that of the levels in the form, if they were previewed."""
    find = services.show if preview is None else services.without_preview
    view = find(visit.server, visit.principal, request_id)
    shown = preview or view.preview
    decides = visit.may("admin") and view.state == "open"
    own, ended = _own(visit, view), decides and _is_ended(visit, request_id)
    seen = {asker.user for asker in view.askers if asker.sees_query or asker.withdrawn}
    return visit.page(
        "people/requests/request.html",
        form.status,
        item=view,
        form=form,
        asks=request_of(view.spec),
        charts=None if shown is None else charts_of(visit, shown, view),
        spec_sql=None if shown is None else shown.spec_sql,
        levels=decision_form.level_fields(view.spec, tiers_of(visit, view)) if decides else [],
        decides=decides,
        own=own,
        ended=ended,
        # Under the two-person rule others approve it.
        approves=decides and not ended and not (visit.server.settings.two_person_rule and own),
        hidden_from=[asker.user for asker in view.askers if asker.user not in seen]
        if view.state == "approved"
        else [],
        unfinished=_is_unfinished(visit, view),
        done=request.args.get("done", ""),
    )


def decision_of(
    server: Server, principal: Principal, request_id: str, given: Mapping[str, str], outcome: str
) -> DecisionRequest:
    """Return what a form decides.  Raises ``NotFound`` and ``InvalidInput``."""
    view = services.without_preview(server, principal, request_id)
    tiers = list(datasets.show(server, principal, view.dataset).budgets)
    body = decision_form.decision(given, outcome, view.spec, tiers)
    decision: DecisionRequest = checked(DecisionRequest, body)
    return decision


def _preview_of_typed(visit: Visit, request_id: str) -> PreviewView | None:
    """Return the preview of levels that an admin typed before they commented, if there are any."""
    decision = decision_of(visit.server, visit.principal, request_id, request.args, "approve")
    if decision.levels is None and decision.name is None:
        return None
    return decisions.preview(visit.server, visit.principal, request_id, decision, visit.patience)


def tiers_of(visit: Visit, view: RequestView) -> list[str]:
    """Return the tiers with a budget of a request's dataset, the least trusted first."""
    return list(datasets.show(visit.server, visit.principal, view.dataset).budgets)


def charts_of(visit: Visit, preview: PreviewView, view: RequestView) -> PreviewCharts:
    """Return the pictures of the preview of a request's query."""
    budget = budgets.show(visit.server, visit.principal, view.dataset)
    of_sums = view.spec.get("aggregate", {}).get("type") in {"mean", "uncategorized"}
    return charts_of_query(preview, budget, of_sums=of_sums)


def _with_preview(visit: Visit, view: RequestView) -> RequestView:
    """Return a listed request with its preview, or with the reason why there is none now."""
    try:
        return services.show(visit.server, visit.principal, view.id or "")
    except (Busy, TooManyRequests) as problem:
        return replace(view, problem=problem.detail)


def _own(visit: Visit, view: RequestView) -> list[str]:
    """Return the identifiers under which the caller may withdraw what they sent."""
    if not visit.may("analyst"):
        return []
    if visit.may("admin"):
        name = visit.principal.name
        mine = [asker for asker in view.askers if asker.user == name and not asker.withdrawn]
        return [asker.id for asker in mine] if view.state in ("open", "answered") else []
    return [view.id] if view.id and view.state in ("open", "answered") else []


def _is_ended(visit: Visit, request_id: str) -> bool:
    """Return True if a request can no longer be approved, with other levels neither."""
    view = services.without_preview(visit.server, visit.principal, request_id)
    return view.problem is not None


def _is_unfinished(visit: Visit, view: RequestView) -> bool:
    """Return True if the query of an approval waits for its data; admins finish it."""
    if not (visit.may("admin") and view.state == "approved"):
        return False
    return decisions.registered(visit.server, visit.principal, view.id or "") is None
