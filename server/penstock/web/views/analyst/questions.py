"""Ask questions in SQL: preview them, try them on made-up rows, register or request them."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import PenstockError
from penstock.http.pacing import hide_duration
from penstock.services import budgets
from penstock.services.datasets import datasets
from penstock.services.jobs import registrations
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.previews import dummy_answers, query_preview
from penstock.services.queries.sql import own_questions
from penstock.services.requests import asking, views
from penstock.services.schemas.previews import DUMMY_ROWS, DummyAnswerView
from penstock.services.schemas.queries import PreviewRequest, QueryRequest
from penstock.services.schemas.requests.specs import AskRequest
from penstock.services.schemas.views import DatasetView
from penstock.web.forms import choices, form_input
from penstock.web.forms.form_input import Form, filled, number
from penstock.web.forms.privacy_terms import terms
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ANALYST, PLANNER, Pages
from penstock.web.presenters.pages.own_questions import Left, OwnQuestion, merged
from penstock.web.presenters.preview_charts import PreviewCharts, charts_of_query

pages = Pages()


@dataclass(frozen=True)
class _Answers:
    """Hold what is shown below the form: a preview, or the answer on made-up rows."""

    charts: PreviewCharts | None = None
    dummy: DummyAnswerView | None = None
    notes: Sequence[str] = ()


@pages.get("/ask/sql", PLANNER, menu="Ask")
def ask_sql(visit: Visit) -> Response:
    """Show the editor, with the columns of the chosen dataset beside it."""
    return _form(visit, Form(request.args))


@pages.post("/ask/sql/preview", PLANNER)
def preview_sql(visit: Visit) -> Response:
    """Preview what the question would charge; nothing is done."""
    given = request.form

    def previewed() -> Response:
        visit.question()
        sent = checked(PreviewRequest, _request(visit, given))
        preview = query_preview.preview(visit.server, visit.principal, sent, visit.patience)
        budget = budgets.show(visit.server, visit.principal, preview.dataset)
        charts = charts_of_query(preview, budget)
        return _form(visit, form_input.kept(given), _Answers(charts, notes=preview.notes))

    return tried(previewed, lambda problem: _refused(visit, given, problem))


@pages.post("/ask/sql/dummy", PLANNER)
def try_sql(visit: Visit) -> Response:
    """Answer the question exactly on made-up rows of the dataset; the data are not read."""
    given = request.form

    def answered() -> Response:
        visit.question()
        # Levels play no part, so that a question can be tried before it has any.
        asks = {**_question(given), "mechanism": "gaussian", "share": 0.5}
        sent = checked(QueryRequest, asks)
        answer = dummy_answers.answer(
            visit.server, visit.principal, sent, DUMMY_ROWS, 0, visit.patience
        )
        return _form(visit, form_input.kept(given), _Answers(dummy=answer))

    return tried(answered, lambda problem: _refused(visit, given, problem))


@pages.post("/ask/sql", PLANNER)
def register_sql(visit: Visit) -> Response:
    """Register the question: charge every tier that sees it, then read the data once."""
    given = request.form

    def registered() -> tuple[Response, str]:
        visit.question()
        sent = checked(QueryRequest, _request(visit, given))
        query = registrations.query(visit.server, visit.principal, sent)
        response = visit.go("query", query=query.name, added="1")
        return response, response.location or ""

    return tried(lambda: once(visit, registered), lambda problem: _refused(visit, given, problem))


@pages.post("/ask/sql/request", ANALYST)
def request_sql(visit: Visit) -> Response:
    """Request the question, with its purpose; one that is registered already leads there."""
    given = request.form

    def requested() -> tuple[Response, str]:
        visit.question()
        body = {**_request(visit, given), "purpose": given.get("purpose", "")}
        view = asking.ask(visit.server, visit.principal, checked(AskRequest, body))
        # Otherwise the answer's time could distinguish a hidden query from none.
        hide_duration(0)
        if view.id is None:
            response = visit.go("query", query=view.query, requested="1")
        else:
            response = visit.go("query_request", request_id=view.id, done="requested")
        return response, response.location or ""

    return tried(lambda: once(visit, requested), lambda problem: _refused(visit, given, problem))


def _question(given: Mapping[str, str]) -> dict[str, Any]:
    """Return what a form asks, without its levels; the request's model checks it."""
    contribution = filled(
        max_groups=number(given.get("max_groups", "")),
        max_rows_per_group=number(given.get("max_rows", "")),
    )
    return {
        "name": given.get("name", "").strip(),
        "sql": given.get("sql", "").strip(),
        **filled(contribution=contribution or None),
    }


def _request(visit: Visit, given: Mapping[str, str]) -> dict[str, Any]:
    """Return the whole request, with the levels of the tiers that the form shows."""
    dataset = _chosen(_known(visit), given)
    return {**_question(given), **terms(given, _tiers(visit, dataset))}


def _known(visit: Visit) -> list[DatasetView]:
    """Return the datasets with columns that the caller may see."""
    listed = datasets.listing(visit.server, visit.principal, Window(LARGEST_LIMIT)).items
    return [each for each in listed if each.columns]


def _chosen(known: Sequence[DatasetView], given: Mapping[str, str]) -> DatasetView | None:
    named = (each for each in known if each.name == given.get("dataset"))
    return next(named, known[0] if len(known) == 1 else None)


def _tiers(visit: Visit, dataset: DatasetView | None) -> list[str]:
    """Return the tiers whose level may be given: for analysts their own."""
    tiers = [] if dataset is None else list(dataset.budgets)
    return tiers if visit.may("admin") else tiers[-1:]


def _refused(visit: Visit, given: Mapping[str, str], problem: PenstockError) -> Response:
    return _form(visit, form_input.refused(given, problem))


def _form(visit: Visit, form: Form, answers: _Answers | None = None) -> Response:
    known = _known(visit)
    dataset = _chosen(known, form.given)
    return visit.page(
        "analyst/asking/answers.html" if visit.is_part else "analyst/asking/editor.html",
        form.status,
        form=form,
        datasets=[each.name for each in known],
        dataset=dataset,
        tiers=_tiers(visit, dataset),
        words=choices,
        answers=answers or _Answers(),
        charts=None if answers is None else answers.charts,
        example="" if dataset is None else _example(dataset),
        name=f"question-{secrets.token_hex(4)}",
        left=None if visit.is_part or dataset is None else _left(visit, dataset),
        own=[] if visit.is_part else _own(visit),
    )


def _left(visit: Visit, dataset: DatasetView) -> Left:
    """Return what is left of the caller's allowance, and of the budget of their tier."""
    if visit.may("admin"):
        return Left(registers=True)
    tiers = budgets.show(visit.server, visit.principal, dataset.name).tiers
    budget = tiers[-1] if tiers else None
    return Left(registers=budget is not None and budget.allowance is not None, budget=budget)


def _own(visit: Visit) -> list[OwnQuestion]:
    """Return the newest questions that the caller registered or requested."""
    registered = own_questions.registered_by(visit.server, visit.principal)
    if not visit.may("analyst"):
        return merged(registered, [])
    # Admins who are analysts, too, would get the requests of everybody.
    analyst = replace(visit.principal, roles=frozenset({"analyst"}))
    window = Window(own_questions.MOST)
    sent = views.listing(visit.server, analyst, window, newest_first=True)
    return merged(registered, sent.items)


def _example(dataset: DatasetView) -> str:
    """Return a first question about a dataset."""
    table = dataset.name.replace('"', '""')
    return f'SELECT COUNT(*) AS n\nFROM "{table}"'
