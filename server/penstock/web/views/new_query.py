"""A query built by form: what it would be and cost, and then registered."""

from collections.abc import Iterator, Mapping

from flask import Response, request
from werkzeug.datastructures import MultiDict

from penstock.connectors.refusals import checked
from penstock.errors import InvalidInput, NotFound
from penstock.services import budget, datasets, preview, queries, registered
from penstock.services.paging import LARGEST_LIMIT, Window
from penstock.services.preview_views import PreviewView
from penstock.services.runner import Act, Run
from penstock.services.specs import PreviewRequest, QueryRequest
from penstock.services.views import DatasetView
from penstock.web import forms
from penstock.web.building import kinds, questions, words
from penstock.web.building.comparing import with_taken
from penstock.web.building.planned import Planned, planned
from penstock.web.forms import Form
from penstock.web.once import tried
from penstock.web.pages import ADMIN, Pages
from penstock.web.visit import Visit
from penstock.web.working import Kind, begun

pages = Pages()


@pages.get("/new/query", ADMIN)
def new_query(visit: Visit) -> Response:
    """The form of one kind, over the dataset that is chosen."""
    return _form(visit, Form(request.args))


@pages.post("/new/query/preview", ADMIN)
def preview_query(visit: Visit) -> Response:
    """What registering it would settle and charge; nothing is done.

    Where another row of the form was asked for, there is the form with it and no more.
    """
    given = with_taken(request.form)
    if "more" in given:
        return _form(visit, forms.kept(given))

    def act() -> Response:
        dataset = chosen(visit, given)
        with visit.turn():
            found = _previewed(visit, given, dataset)
            others = list(_others(visit, given, dataset)) if "compare" in given else []
        shown = budget.show(visit.server, visit.principal, dataset.name)
        terms = planned(
            found,
            shown,
            given.get("mechanism", ""),
            others,
            of_sums=given.get("aggregate") == "mean",
        )
        return _form(visit, forms.kept(given), terms)

    return tried(act, lambda problem: _form(visit, forms.refused(given, problem)))


@pages.post("/new/query", ADMIN)
def register_query(visit: Visit) -> Response:
    """Register it: every tier is charged, then the data are read once."""
    given = request.form
    return tried(
        lambda: begun(visit, KIND, given),
        lambda problem: _form(visit, forms.refused(given, problem)),
    )


def _act(visit: Visit, given: questions.Given) -> Act:
    server, principal = visit.server, visit.principal
    spec = kinds.kind_of(given).wanted(given, chosen(visit, given))
    wanted = checked(QueryRequest, spec)

    def act(run: Run) -> str:
        before = registered.query(server, principal, wanted) if run.resumed else None
        return before or queries.register(server, principal, wanted, run).name

    return act


def chosen(visit: Visit, given: Mapping[str, str]) -> DatasetView:
    """The dataset that a form names.  Raises ``InvalidInput`` where there is none."""
    try:
        return datasets.show(visit.server, visit.principal, given.get("dataset", ""))
    except NotFound as problem:
        raise InvalidInput("Choose a dataset.", pointer="/dataset") from problem


def known(visit: Visit) -> list[DatasetView]:
    """The datasets to choose from."""
    return list(datasets.listing(visit.server, visit.principal, Window(LARGEST_LIMIT)).items)


def _previewed(visit: Visit, given: questions.Given, dataset: DatasetView) -> PreviewView:
    spec = questions.without_values(kinds.kind_of(given).wanted(given, dataset))
    return preview.preview(visit.server, visit.principal, checked(PreviewRequest, spec))


def _others(
    visit: Visit, given: questions.Given, dataset: DatasetView
) -> Iterator[tuple[str, PreviewView | str]]:
    """The same question under each noise, or why that is not to be had."""
    for option in words.MECHANISMS:
        changed = MultiDict(given)
        changed["mechanism"] = option.value
        try:
            yield option.value, _previewed(visit, changed, dataset)
        except InvalidInput as problem:
            yield option.value, problem.detail


def _form(visit: Visit, form: Form, plan: Planned | None = None) -> Response:
    kind = kinds.kind_of(form.given)
    fitting = [one for one in known(visit) if kind.fits(one)]
    dataset = next((one for one in fitting if one.name == form.value("dataset")), None)
    return visit.page(
        "planned.html" if visit.is_part else "building/frame.html",
        form.status,
        form=form,
        kind=kind,
        kinds=kinds.KINDS,
        datasets=[one.name for one in fitting],
        dataset=dataset,
        columns=dataset.columns if dataset else {},
        tiers=list(dataset.budgets) if dataset else [],
        words=words,
        places=lambda part: questions.places(form.given, part),
        planned=plan,
    )


KIND = Kind(
    "register_query",
    "Registering the query",
    "admin",
    _act,
    subject="name",
    result=lambda visit, name: visit.go("query", query=name, added="1"),
    form=_form,
    exact=("values",),
)
