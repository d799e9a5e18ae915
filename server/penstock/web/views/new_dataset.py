"""A dataset registered from a file: its columns are read, everything else is declared."""

from flask import Response, request

from penstock.connectors.refusals import checked
from penstock.errors import InvalidInput, PenstockError
from penstock.services import datasets, drafts, tiers
from penstock.services.specs import DatasetRequest
from penstock.web import drafting, forms
from penstock.web.forms import Form
from penstock.web.once import once, tried
from penstock.web.pages import ADMIN, Pages
from penstock.web.visit import Visit

pages = Pages()


@pages.get("/new/dataset", ADMIN)
def new_dataset(visit: Visit) -> Response:
    """Which file, and then what its columns may hold."""
    return tried(
        lambda: _form(visit, Form(request.args)),
        lambda problem: _form(visit, forms.refused(request.args, problem)),
    )


@pages.post("/new/dataset", ADMIN)
def register_dataset(visit: Visit) -> Response:
    """Register it, with the budget of each tier."""
    given = request.form

    def act() -> tuple[Response, str]:
        known = [tier.name for tier in tiers.listing(visit.server)]
        wanted = checked(DatasetRequest, drafting.wanted(given, known))
        made = datasets.register(visit.server, visit.principal, wanted)
        response = visit.go("dataset", dataset=made.name)
        return response, response.location or ""

    def refused(problem: PenstockError) -> Response:
        return _form(visit, forms.refused(given, problem))

    return tried(lambda: once(visit, act), refused)


def _form(visit: Visit, form: Form) -> Response:
    uri, columns = form.value("uri").strip(), None
    if uri:
        try:
            columns = drafts.columns(visit.server, visit.principal, uri)
        except InvalidInput:
            if form.problem is None:
                raise
    return visit.page(
        "new_dataset.html",
        form.status,
        form=form,
        uri=uri,
        chosen=columns is not None or form.value("source") == "vector",
        columns=columns,
        tiers=tiers.listing(visit.server),
        folder=visit.server.settings.data_folder,
        lists=drafting,
    )
