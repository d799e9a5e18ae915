"""Send a question, written in SQL or composed in the form: register it, or request it.

Analysts give the level of their own tier alone, and see what is left for them.
"""

from collections.abc import Mapping
from typing import Any

from flask import Response

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput
from penstock.http.pacing import hide_duration
from penstock.services import budgets
from penstock.services.jobs import registrations
from penstock.services.queries.sql import statements
from penstock.services.requests import asking
from penstock.services.schemas.previews import PreviewView
from penstock.services.schemas.queries import QueryRequest
from penstock.services.schemas.requests.specs import AskRequest
from penstock.services.schemas.views import DatasetView
from penstock.web.http import kept_forms
from penstock.web.http.request_context import Visit
from penstock.web.presenters.pages.own_questions import Left

EDITED = ("gaussian", "laplace")
"""The noises that the editor offers."""

EPSILON, LEVEL = "epsilon", "level "
CARRIED = frozenset({"dataset", "name", "max_groups", "max_rows", "mechanism", "wish", "purpose"})
"""The fields that form and editor share, but for those of levels."""


def read(visit: Visit, form: Any, body: Mapping[str, Any]) -> Any:
    """Return a question as ``form``, a model or a union of them.

    Raises ``InvalidInput`` with all its mistakes at once, those of its statement among them.
    """
    try:
        return checked(form, dict(body))
    except InvalidInput as error:
        if "sql" not in body:
            raise
        raise statements.with_mistakes(visit.server, visit.principal, body["sql"], error) from None


def register(visit: Visit, body: Mapping[str, Any]) -> tuple[Response, str]:
    """Register a question in the request itself; redirect to its query."""
    sent = read(visit, QueryRequest, body)
    query = registrations.query(visit.server, visit.principal, sent)
    response = visit.go("query", query=query.name, added="1")
    return response, response.location or ""


def send_request(visit: Visit, body: Mapping[str, Any], purpose: str) -> tuple[Response, str]:
    """Request a question; redirect to the request, or to the query that it is already."""
    sent = read(visit, AskRequest, {**body, "purpose": purpose})
    view = asking.ask(visit.server, visit.principal, sent)
    # Otherwise the answer's time could distinguish a hidden query from none.
    hide_duration(0)
    if view.id is None:
        response = visit.go("query", query=view.query, requested="1")
    else:
        response = visit.go("query_request", request_id=view.id, done="requested")
    return response, response.location or ""


def in_sql(visit: Visit, given: Mapping[str, str], preview: PreviewView) -> str | None:
    """Return where to go on in SQL with a question of the form; ``None`` if the editor cannot.

    It has no noise and no unit of levels but its own, and not every statistic is said in SQL.
    """
    fits = given.get("wish") == EPSILON and given.get("mechanism") in EDITED
    if preview.spec_sql is None or preview.registered or not fits:
        return None
    carried = {name: text for name, text in given.items() if name in CARRIED and text}
    levels = {name: text for name, text in given.items() if name.startswith(LEVEL) and text}
    fields = {**carried, **levels, "sql": preview.spec_sql}
    return kept_forms.address(visit, "ask_sql", list(fields.items()))


def own_tiers(visit: Visit, dataset: DatasetView | None) -> list[str]:
    """Return the tiers whose level may be given: for analysts their own."""
    tiers = [] if dataset is None else list(dataset.budgets)
    return tiers if visit.may("admin") else tiers[-1:]


def left_of(visit: Visit, dataset: DatasetView) -> Left:
    """Return what is left of the caller's allowance, and of the budget of their tier."""
    if visit.may("admin"):
        return Left(registers=True)
    tiers = budgets.show(visit.server, visit.principal, dataset.name).tiers
    budget = tiers[-1] if tiers else None
    return Left(registers=budget is not None and budget.allowance is not None, budget=budget)
