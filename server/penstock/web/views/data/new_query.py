"""Preview and register a query built by form."""

from collections.abc import Mapping
from dataclasses import replace

from flask import Response, request
from werkzeug.datastructures import MultiDict

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput, NotFound, PenstockError
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
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.page_jobs import JobKind, begun
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages
from penstock.web.presenters import noise_comparison, preview_choices
from penstock.web.presenters.preview_charts import PreviewCharts, charts_of_query
from penstock.web.presenters.preview_choices import Comparison, with_taken

pages = Pages()


@pages.get("/new/query", ADMIN)
def new_query(visit: Visit) -> Response:
    """Show the form of one kind of query, for the chosen dataset.

    For a sparse histogram the number of levels starts at what its example can pay for.
    """
    form = Form(request.args)
    shown = _example(visit, query_kinds.kind_of(form.given), form.value("dataset"))
    if shown is not None and shown.max_levels < DEFAULT_HISTOGRAM_LEVELS:
        form = replace(form, given={"max_levels": str(shown.max_levels), **form.given})
    return _form(visit, form)


@pages.post("/new/query/preview", ADMIN)
def preview_query(visit: Visit) -> Response:
    """Preview what registering the query would charge; nothing is done.

    If another row of the form was requested, show the form with that row and no preview.
    """
    given = with_taken(request.form)
    if "more" in given:
        return _form(visit, form_input.kept(given))

    def refused(problem: PenstockError) -> Response:
        return _form(visit, form_input.refused(given, problem))

    if "compare" in given:
        return tried(lambda: begun(visit, COMPARING, noise_comparison.keyed(given)), refused)
    return tried(lambda: _form_with_preview(visit, form_input.kept(given)), refused)


@pages.post("/new/query", ADMIN)
def register_query(visit: Visit) -> Response:
    """Register a query: charge every tier, then read the data once."""
    given = request.form
    return tried(
        lambda: begun(visit, KIND, given),
        lambda problem: _form(visit, form_input.refused(given, problem)),
    )


def _act(server: Server, principal: Principal, given: query_form.Given) -> JobFunction:
    spec = query_kinds.kind_of(given).spec_of(given, chosen(server, principal, given))
    return registrations.of_query(server, principal, checked(QueryRequest, spec))


def chosen(server: Server, principal: Principal, given: Mapping[str, str]) -> DatasetView:
    """Return the dataset that a form names.  Raises ``InvalidInput`` if there is none."""
    try:
        return datasets.show(server, principal, given.get("dataset", ""))
    except NotFound as problem:
        raise InvalidInput("Choose a dataset.", pointer="/dataset") from problem


def known(visit: Visit) -> list[DatasetView]:
    """Return the datasets to choose from."""
    return list(datasets.listing(visit.server, visit.principal, Window(LARGEST_LIMIT)).items)


def _previewed(
    server: Server,
    principal: Principal,
    given: query_form.Given,
    dataset: DatasetView,
    patience: float,
) -> PreviewView:
    spec = query_form.without_values(query_kinds.kind_of(given).spec_of(given, dataset))
    request_checked = checked(PreviewRequest, spec)
    return query_preview.preview(server, principal, request_checked, patience)


def _form_with_preview(visit: Visit, form: Form, others: Comparison | None = None) -> Response:
    """Show the form with its preview, and its comparison with ``others``."""
    given = MultiDict(form.given)
    server, principal = visit.server, visit.principal
    dataset = chosen(server, principal, given)
    preview = _previewed(server, principal, given, dataset, visit.patience)
    shown = budgets.show(server, principal, dataset.name)
    of_sums = given.get("aggregate") in {"mean", "uncategorized"}
    return _form(visit, form, charts_of_query(preview, shown, others, of_sums=of_sums))


def _compare(server: Server, principal: Principal, given: query_form.Given) -> JobFunction:
    """Return the job that previews a query under each mechanism."""
    dataset = chosen(server, principal, given)
    # Errors of the query itself are shown on the form, before a job starts.
    checked(
        PreviewRequest,
        query_form.without_values(query_kinds.kind_of(given).spec_of(given, dataset)),
    )

    def priced(changed: query_form.Given) -> PreviewView:
        return _previewed(server, principal, changed, dataset, PATIENCE)

    return lambda run: noise_comparison.compared(given, priced, run)


def _compared(visit: Visit, form: Form, result: str) -> Response:
    return _form_with_preview(visit, form, preview_choices.read(result))


def _form(visit: Visit, form: Form, charts: PreviewCharts | None = None) -> Response:
    kind = query_kinds.kind_of(form.given)
    fitting = [candidate for candidate in known(visit) if kind.fits(candidate)]
    dataset = next(
        (candidate for candidate in fitting if candidate.name == form.value("dataset")), None
    )
    return visit.page(
        "data/preview.html" if visit.is_part else "data/building/frame.html",
        form.status,
        form=form,
        kind=kind,
        kinds=query_kinds.KINDS,
        datasets=[candidate.name for candidate in fitting],
        dataset=dataset,
        columns=dataset.columns if dataset else {},
        tiers=list(dataset.budgets) if dataset else [],
        words=choices,
        example=_example(visit, kind, dataset.name if dataset else ""),
        places=lambda part: query_form.places(form.given, part),
        charts=charts,
    )


def _example(visit: Visit, kind: query_kinds.FormKind, dataset: str) -> Example | None:
    """Return false keys and levels that the budgets allow, for a sparse histogram."""
    if kind.name != "sparse" or not dataset:
        return None
    try:
        return example_of(visit.server, visit.principal, dataset)
    except NotFound:
        return None


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
