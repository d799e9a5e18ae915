"""A query built by form: what it would be and cost, and then registered."""

from collections.abc import Mapping

from flask import Response, request

from penstock.connectors.refusals import checked
from penstock.errors import InvalidInput, NotFound, PenstockError
from penstock.services import budget, datasets, preview, queries
from penstock.services.paging import LARGEST_LIMIT, Window
from penstock.services.specs import PreviewRequest, QueryRequest
from penstock.services.views import DatasetView
from penstock.web import building, forms
from penstock.web.building import Planned
from penstock.web.forms import Form
from penstock.web.once import once, tried
from penstock.web.pages import ADMIN, Pages
from penstock.web.visit import Visit

pages = Pages()


@pages.get("/new/query", ADMIN)
def new_query(visit: Visit) -> Response:
    """The form, over the dataset that is chosen."""
    return _form(visit, Form(request.args))


@pages.post("/new/query/preview", ADMIN)
def preview_query(visit: Visit) -> Response:
    """What registering it would settle and charge; nothing is done."""
    given = request.form

    def act() -> Response:
        dataset = _dataset(visit, given)
        spec = building.wanted(given, dataset, list(dataset.budgets))
        found = preview.preview(visit.server, visit.principal, checked(PreviewRequest, spec))
        shown = budget.show(visit.server, visit.principal, dataset.name)
        return _form(visit, forms.kept(given), building.planned(found, shown))

    return tried(act, lambda problem: _form(visit, forms.refused(given, problem)))


@pages.post("/new/query", ADMIN)
def register_query(visit: Visit) -> Response:
    """Register it: every tier is charged, then the data are read once."""
    given = request.form

    def act() -> tuple[Response, str]:
        dataset = _dataset(visit, given)
        spec = building.wanted(given, dataset, list(dataset.budgets))
        made = queries.register(visit.server, visit.principal, checked(QueryRequest, spec))
        response = visit.go("query", query=made.name)
        return response, response.location or ""

    def refused(problem: PenstockError) -> Response:
        return _form(visit, forms.refused(given, problem))

    return tried(lambda: once(visit, act), refused)


def _dataset(visit: Visit, given: Mapping[str, str]) -> DatasetView:
    try:
        return datasets.show(visit.server, visit.principal, given.get("dataset", ""))
    except NotFound as problem:
        raise InvalidInput("Choose a dataset.", pointer="/dataset") from problem


def _form(visit: Visit, form: Form, planned: Planned | None = None) -> Response:
    known = datasets.listing(visit.server, visit.principal, Window(LARGEST_LIMIT)).items
    chosen = next((one for one in known if one.name == form.value("dataset")), None)
    columns = chosen.columns if chosen else {}
    return visit.page(
        "planned.html" if visit.is_part else "new_query.html",
        form.status,
        form=form,
        datasets=[one.name for one in known if one.columns],
        dataset=chosen if columns else None,
        columns=columns,
        tiers=list(chosen.budgets) if chosen else [],
        lists=building,
        planned=planned,
    )
