"""Ask questions in SQL: preview them, try them on made-up rows, register or request them."""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import PenstockError
from penstock.services import budgets
from penstock.services.datasets import datasets
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.previews import dummy_answers, query_preview
from penstock.services.queries.sql import own_questions
from penstock.services.requests import views
from penstock.services.schemas.previews import DUMMY_ROWS, DummyAnswerView
from penstock.services.schemas.queries import PreviewRequest, QueryRequest
from penstock.services.schemas.views import DatasetView
from penstock.web.forms import choices, form_input
from penstock.web.forms.form_input import Form, filled, number
from penstock.web.forms.privacy_terms import terms
from penstock.web.http import kept_forms
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ANALYST, PLANNER, Pages
from penstock.web.presenters.pages.own_questions import OwnQuestion, merged
from penstock.web.presenters.preview_charts import PreviewCharts, charts_of_query
from penstock.web.views.analyst import sending

pages = Pages()

_SHOWN, _DUMMY = "shown", "dummy"
"""The field of a kept form that says what is shown below it; a preview without it."""


@dataclass(frozen=True)
class _Answers:
    """Hold what is shown below the form: a preview, or the answer on made-up rows."""

    charts: PreviewCharts | None = None
    dummy: DummyAnswerView | None = None


@pages.get("/ask/sql", PLANNER, menu="Ask")
def ask_sql(visit: Visit) -> Response:
    """Show the editor, with the columns of the chosen dataset beside it.

    What was previewed or tried is at an address of its own, where going back finds it.
    """
    given = kept_forms.typed(visit, "ask_sql")
    if given is None:
        return _form(visit, Form(request.args))
    return _tried(visit, given) if given.get(_SHOWN) == _DUMMY else _previewed(visit, given)


@pages.post("/ask/sql/preview", PLANNER)
def preview_sql(visit: Visit) -> Response:
    """Preview what the question would charge; nothing is done."""
    given = request.form
    return kept_forms.kept(visit, "ask_sql", given) or _previewed(visit, given)


@pages.post("/ask/sql/dummy", PLANNER)
def try_sql(visit: Visit) -> Response:
    """Answer the question exactly on made-up rows of the dataset; the data are not read."""
    given = request.form
    led = kept_forms.kept(visit, "ask_sql", given, **{_SHOWN: _DUMMY})
    return led or _tried(visit, given)


def _previewed(visit: Visit, given: Mapping[str, str]) -> Response:
    def previewed() -> Response:
        visit.question()
        sent = sending.read(visit, PreviewRequest, _request(visit, given))
        preview = query_preview.preview(visit.server, visit.principal, sent, visit.patience)
        budget = budgets.show(visit.server, visit.principal, preview.dataset)
        return _form(visit, form_input.kept(given), _Answers(charts_of_query(preview, budget)))

    return tried(previewed, lambda problem: _refused(visit, given, problem))


def _tried(visit: Visit, given: Mapping[str, str]) -> Response:
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
        return sending.register(visit, _request(visit, given))

    return tried(lambda: once(visit, registered), lambda problem: _refused(visit, given, problem))


@pages.post("/ask/sql/request", ANALYST)
def request_sql(visit: Visit) -> Response:
    """Request the question, with its purpose; one that is registered already leads there."""
    given = request.form

    def requested() -> tuple[Response, str]:
        visit.question()
        return sending.send_request(visit, _request(visit, given), given.get("purpose", ""))

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
    return {**_question(given), **terms(given, sending.own_tiers(visit, dataset))}


def _known(visit: Visit) -> list[DatasetView]:
    """Return the datasets with columns that the caller may see."""
    listed = datasets.listing(visit.server, visit.principal, Window(LARGEST_LIMIT)).items
    return [each for each in listed if each.columns]


def _chosen(known: Sequence[DatasetView], given: Mapping[str, str]) -> DatasetView | None:
    named = (each for each in known if each.name == given.get("dataset"))
    return next(named, known[0] if len(known) == 1 else None)


def _refused(visit: Visit, given: Mapping[str, str], problem: PenstockError) -> Response:
    return _form(visit, form_input.refused(given, problem))


def _form(visit: Visit, form: Form, answers: _Answers | None = None) -> Response:
    known = _known(visit)
    dataset = _chosen(known, form.given)
    return visit.page(
        "analyst/asking/answers.html" if visit.is_part else "analyst/asking/editor.html",
        form.status_for(part=visit.is_part),
        form=form,
        datasets=[each.name for each in known],
        dataset=dataset,
        tiers=sending.own_tiers(visit, dataset),
        words=choices,
        answers=answers or _Answers(),
        charts=None if answers is None else answers.charts,
        example="" if dataset is None else _example(dataset),
        name=f"question-{secrets.token_hex(4)}",
        left=None if visit.is_part or dataset is None else sending.left_of(visit, dataset),
        own=[] if visit.is_part else _own(visit),
    )


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
