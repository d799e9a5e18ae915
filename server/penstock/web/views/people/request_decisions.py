"""Let admins approve requests of analysts, with other levels if they choose, or decline them.

An approval registers the query, by a job: its charge and the decision are one transaction.
"""

from flask import Response, request
from werkzeug.datastructures import MultiDict

from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs.runner import JobFunction, Run
from penstock.services.requests import decisions, views
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.page_jobs import JobKind, Typed, begun
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages
from penstock.web.views.people.requests import charts_of, decision_of, page_of

pages = Pages()

REQUEST = "request"
"""The field of a job's form with the identifier of the request."""


@pages.post("/requests/<request_id>/preview", ADMIN)
def preview_decision(visit: Visit, request_id: str) -> Response:
    """Preview what an approval would charge with the levels that were typed; nothing is done."""
    given = request.form

    def previewed() -> Response:
        decision = decision_of(visit.server, visit.principal, request_id, given, "approve")
        preview = decisions.preview(
            visit.server, visit.principal, request_id, decision, visit.patience
        )
        if not visit.is_part:
            return page_of(visit, request_id, form_input.kept(given), preview)
        view = views.without_preview(visit.server, visit.principal, request_id)
        charts = charts_of(visit, preview, view)
        return visit.page("data/preview.html", form=form_input.kept(given), charts=charts)

    def again(form: Form) -> Response:
        if visit.is_part:
            return visit.page(
                "data/preview.html", form.status_for(part=True), form=form, charts=None
            )
        return page_of(visit, request_id, form)

    return tried(previewed, lambda problem: again(form_input.refused(given, problem)))


@pages.post("/requests/<request_id>/approval", ADMIN)
def approve_request(visit: Visit, request_id: str) -> Response:
    """Approve a request, which registers its query and charges every tier that sees it.

    One whose statistic is registered already leads there, for nothing.
    """
    given = request.form

    def approved() -> Response:
        view = views.without_preview(visit.server, visit.principal, request_id)
        if view.registered_as is None:
            return begun(visit, KIND, _of(given, request_id))
        decision = decision_of(visit.server, visit.principal, request_id, given, "approve")
        decisions.approve(visit.server, visit.principal, request_id, decision)
        return visit.go("query_request", request_id=request_id, done="decided")

    return tried(
        approved, lambda problem: page_of(visit, request_id, form_input.refused(given, problem))
    )


@pages.post("/requests/<request_id>/refusal", ADMIN)
def decline_request(visit: Visit, request_id: str) -> Response:
    """Decline a request; nothing is charged."""
    given = request.form

    def declined() -> tuple[Response, str]:
        decision = decision_of(visit.server, visit.principal, request_id, given, "decline")
        decisions.decide(visit.server, visit.principal, request_id, decision)
        response = visit.go("query_request", request_id=request_id, done="decided")
        return response, response.location or ""

    return tried(
        lambda: once(visit, declined),
        lambda problem: page_of(visit, request_id, form_input.refused(given, problem)),
    )


def _of(given: Typed, request_id: str) -> Typed:
    """Return the fields of a job's form: those of the page, and which request it is about."""
    fields = [field for field in given.items(multi=True) if field[0] != REQUEST]
    return MultiDict([*fields, (REQUEST, request_id)])


def _act(server: Server, principal: Principal, given: Typed) -> JobFunction:
    request_id = given.get(REQUEST, "")
    decision = decision_of(server, principal, request_id, given, "approve")

    def act(run: Run) -> str:
        sent = (server, principal, request_id)
        before = decisions.registered(*sent) if run.resumed else None
        return before or decisions.approve(*sent, decision, run)

    return act


def _form(visit: Visit, form: Form) -> Response:
    return page_of(visit, form.value(REQUEST), form)


KIND = JobKind(
    "approve_request",
    "Approving the request for",
    "admin",
    _act,
    subject="name",
    result=lambda visit, name: visit.go("query", query=name, added="1"),
    form=_form,
)
