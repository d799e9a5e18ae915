"""Register a dataset from a file: its column names are read, everything else is declared."""

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets import data_folder, datasets, file_columns
from penstock.services.jobs import registrations
from penstock.services.jobs.runner import JobFunction
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.people import tiers
from penstock.services.schemas.queries import DatasetRequest
from penstock.web.forms import dataset_form, form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.page_jobs import JobKind, Typed, begun
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()


@pages.get("/new/dataset", ADMIN)
def new_dataset(visit: Visit) -> Response:
    """Show the form: first the file, then the values that its columns may hold."""
    return tried(
        lambda: _form(visit, Form(request.args)),
        lambda problem: _form(visit, form_input.refused(request.args, problem)),
    )


@pages.post("/new/dataset", ADMIN)
def register_dataset(visit: Visit) -> Response:
    """Register a dataset, with the budget of each tier."""
    given = request.form
    return tried(
        lambda: begun(visit, KIND, given),
        lambda problem: _form(visit, form_input.refused(given, problem)),
    )


def _act(server: Server, principal: Principal, given: Typed) -> JobFunction:
    known = [tier.name for tier in tiers.listing(server)]
    dataset_request = checked(DatasetRequest, dataset_form.spec_of(given, known))
    return registrations.of_dataset(server, principal, dataset_request)


def _form(visit: Visit, form: Form) -> Response:
    uri, columns = form.value("uri").strip(), None
    if uri:
        try:
            columns = file_columns.columns(visit.server, visit.principal, uri)
        except InvalidInput:
            if form.problem is None:
                raise
    return visit.page(
        "data/new_dataset.html",
        form.status,
        form=form,
        uri=uri,
        chosen=columns is not None or form.value("source") == "vector",
        columns=columns,
        others=datasets.listing(visit.server, visit.principal, Window(LARGEST_LIMIT)).items,
        tiers=tiers.listing(visit.server),
        folder=data_folder.folder_of_data(visit.server.settings),
        lists=dataset_form,
    )


KIND = JobKind(
    "register_dataset",
    "Registering the dataset",
    "admin",
    _act,
    subject="name",
    result=lambda visit, name: visit.go("dataset", dataset=name, added="1"),
    form=_form,
)
