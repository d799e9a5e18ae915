"""Preview a query built by form, register it, or request it.

Analysts compose questions in the form of admins: over datasets in their sight, at the level of
their own tier.  They register under an allowance, and request without one.
"""

import secrets
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from flask import Response, request
from werkzeug.datastructures import MultiDict

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput, NotFound
from penstock.services import budgets
from penstock.services.access.principals import Principal
from penstock.services.computations.histogram_remedies import Example
from penstock.services.computing import PATIENCE
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.jobs import registrations
from penstock.services.jobs.runner import JobFunction
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.previews import query_preview
from penstock.services.queries.refused_histograms import example_of
from penstock.services.schemas.histograms import DEFAULT_HISTOGRAM_LEVELS
from penstock.services.schemas.previews import PreviewView
from penstock.services.schemas.queries import PreviewRequest, QueryRequest
from penstock.services.schemas.views import DatasetView
from penstock.web.forms import choices, form_input, query_form, query_kinds
from penstock.web.forms.form_input import Form
from penstock.web.forms.privacy_terms import require_own, starting_levels
from penstock.web.http import kept_forms
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.page_jobs import JobKind, begun
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ANALYST, PLANNER, Pages
from penstock.web.presenters import noise_comparison, preview_choices
from penstock.web.presenters.preview_charts import PreviewCharts, charts_of_query
from penstock.web.presenters.preview_choices import Comparison, with_taken
from penstock.web.views.analyst import sending

pages = Pages()


@pages.get("/new/query", PLANNER)
def new_query(visit: Visit) -> Response:
    """Show the form of one kind of query, for the chosen dataset.

    For a sparse histogram the number of levels starts at what its example can pay for.
    """
    given = kept_forms.typed(visit, "new_query")
    if given is not None:
        return _shown(visit, given)
    form = Form(request.args)
    kind = query_kinds.kind_of(form.given, _kinds(visit))
    shown = _example(visit, kind, form.value("dataset"))
    if shown is not None and shown.max_levels < DEFAULT_HISTOGRAM_LEVELS:
        form = replace(form, given={"max_levels": str(shown.max_levels), **form.given})
    return _form(visit, form)


@pages.post("/new/query/preview", PLANNER)
def preview_query(visit: Visit) -> Response:
    """Preview what registering the query would charge; nothing is done.

    If another row of the form was requested, show the form with that row and no preview.
    """
    given = with_taken(request.form)
    if "compare" in given and "more" not in given:
        return tried(
            lambda: begun(visit, COMPARING, _keyed(visit, given)),
            lambda problem: _form(visit, form_input.refused(given, problem)),
        )
    led = None if visit.may("admin") else kept_forms.kept(visit, "new_query", given)
    return led or _shown(visit, given)


def _keyed(visit: Visit, given: query_form.Given) -> query_form.Given:
    """Return the form of a comparison.  Raises ``Forbidden`` for who may not start one."""
    visit.principal.require(COMPARING.role)
    return noise_comparison.keyed(given)


def _shown(visit: Visit, given: query_form.Given) -> Response:
    """Show the form as it was filled in, with its preview unless it has a new row."""
    if "more" in given:
        return _form(visit, form_input.kept(given))

    def previewed() -> Response:
        visit.question()
        return _form_with_preview(visit, form_input.kept(given))

    return tried(previewed, lambda problem: _form(visit, form_input.refused(given, problem)))


@pages.post("/new/query", PLANNER)
def register_query(visit: Visit) -> Response:
    """Register a query: charge every tier, then read the data once.

    Analysts register a question under their allowance, as one in SQL.
    """
    given = request.form

    def registered() -> tuple[Response, str]:
        visit.question()
        return sending.register(visit, _spec(visit.server, visit.principal, given))

    return tried(
        lambda: begun(visit, KIND, given) if visit.may("admin") else once(visit, registered),
        lambda problem: _form(visit, form_input.refused(given, problem)),
    )


@pages.post("/new/query/request", ANALYST)
def request_query(visit: Visit) -> Response:
    """Request a question that was composed in the form, with its purpose."""
    given = request.form

    def requested() -> tuple[Response, str]:
        visit.question()
        spec = _spec(visit.server, visit.principal, given)
        return sending.send_request(visit, spec, given.get("purpose", ""))

    return tried(
        lambda: once(visit, requested),
        lambda problem: _form(visit, form_input.refused(given, problem)),
    )


def _act(server: Server, principal: Principal, given: query_form.Given) -> JobFunction:
    spec = _spec(server, principal, given)
    return registrations.of_query(server, principal, checked(QueryRequest, spec))


def _spec(server: Server, principal: Principal, given: query_form.Given) -> dict[str, Any]:
    """Return the spec of a form; its model checks it.

    Raises ``InvalidInput`` without a dataset and for levels that an analyst may not give,
    ``NotFound`` for a dataset out of their sight, and ``Forbidden`` for numbers of their own.
    """
    kind, dataset = query_kinds.kind_of(given), chosen(server, principal, given)
    if "admin" not in principal.roles:
        if not kind.reads:
            principal.require("admin")
        dataset = _at_own_tier(dataset)
        require_own(given, dataset.budgets)
    return kind.spec_of(given, dataset)


def _at_own_tier(dataset: DatasetView) -> DatasetView:
    """Return a dataset with the budget of an analyst's tier alone, whose level they may give."""
    return replace(dataset, budgets=dict(list(dataset.budgets.items())[-1:]))


def _kinds(visit: Visit) -> tuple[query_kinds.FormKind, ...]:
    return query_kinds.KINDS if visit.may("admin") else query_kinds.COMPUTED


def chosen(server: Server, principal: Principal, given: Mapping[str, str]) -> DatasetView:
    """Return the dataset that a form names.

    Raises ``InvalidInput`` if there is none; for an analyst ``NotFound`` if they see none.
    """
    name = given.get("dataset", "")
    try:
        return datasets.show(server, principal, name)
    except NotFound as problem:
        if name and "admin" not in principal.roles:
            raise
        raise InvalidInput("Choose a dataset.", pointer="/dataset") from problem


def known(visit: Visit) -> list[DatasetView]:
    """Return the datasets to choose from."""
    return list(datasets.listing(visit.server, visit.principal, Window(LARGEST_LIMIT)).items)


def _previewed(
    server: Server,
    principal: Principal,
    given: query_form.Given,
    patience: float,
) -> PreviewView:
    spec = query_form.without_values(_spec(server, principal, given))
    request_checked = checked(PreviewRequest, spec)
    return query_preview.preview(server, principal, request_checked, patience)


def _form_with_preview(visit: Visit, form: Form, others: Comparison | None = None) -> Response:
    """Show the form with its preview, and its comparison with ``others``."""
    given = MultiDict(form.given)
    server, principal = visit.server, visit.principal
    preview = _previewed(server, principal, given, visit.patience)
    shown = budgets.show(server, principal, preview.dataset)
    of_sums = given.get("aggregate") in {"mean", "uncategorized"}
    return _form(visit, form, charts_of_query(preview, shown, others, of_sums=of_sums))


def _compare(server: Server, principal: Principal, given: query_form.Given) -> JobFunction:
    """Return the job that previews a query under each mechanism."""
    # Errors of the query itself are shown on the form, before a job starts.
    checked(PreviewRequest, query_form.without_values(_spec(server, principal, given)))

    def priced(changed: query_form.Given) -> PreviewView:
        return _previewed(server, principal, changed, PATIENCE)

    return lambda run: noise_comparison.compared(given, priced, run)


def _compared(visit: Visit, form: Form, result: str) -> Response:
    return _form_with_preview(visit, form, preview_choices.read(result))


def _form(visit: Visit, form: Form, charts: PreviewCharts | None = None) -> Response:
    kinds = _kinds(visit)
    kind = query_kinds.kind_of(form.given, kinds)
    fitting = [candidate for candidate in known(visit) if kind.fits(candidate)]
    dataset = next(
        (candidate for candidate in fitting if candidate.name == form.value("dataset")), None
    )
    return visit.page(
        "data/preview.html" if visit.is_part else "data/building/frame.html",
        form.status_for(part=visit.is_part),
        form=form,
        kind=kind,
        kinds=kinds,
        datasets=[candidate.name for candidate in fitting],
        dataset=dataset,
        columns=dataset.columns if dataset else {},
        tiers=sending.own_tiers(visit, dataset),
        words=choices,
        example=_example(visit, kind, dataset.name if dataset else ""),
        places=lambda part: query_form.places(form.given, part),
        charts=charts,
        in_sql=_in_sql(visit, form, charts),
        left=None if visit.is_part or dataset is None else sending.left_of(visit, dataset),
        starts=starting_levels(dataset.budgets) if dataset and visit.may("admin") else {},
        suggested=f"question-{secrets.token_hex(4)}" if not visit.may("admin") else "",
    )


def _in_sql(visit: Visit, form: Form, charts: PreviewCharts | None) -> str | None:
    """Return where an analyst goes on in SQL with the question that is previewed."""
    if charts is None or charts.preview is None or not visit.may("analyst"):
        return None
    return sending.in_sql(visit, form.given, charts.preview)


def _example(visit: Visit, kind: query_kinds.FormKind, dataset: str) -> Example | None:
    """Return false keys and levels that the budgets allow, for a sparse histogram."""
    if kind.name != "sparse" or all(each.name != dataset for each in known(visit)):
        return None
    return example_of(visit.server, visit.principal, dataset)


KIND = JobKind(
    "register_query",
    "Registering the query",
    "admin",
    _act,
    subject="name",
    result=lambda visit, name: visit.go("query", query=name, added="1"),
    form=_form,
    exact=("values",),
)

COMPARING = JobKind(
    "compare_noises",
    "Comparing noise mechanisms for",
    "admin",
    _compare,
    subject="name",
    form=_form,
    shown=_compared,
    parts=noise_comparison.so_far,
    stage=noise_comparison.stage,
)
