"""Register a dataset: the columns of a file are read, others typed in; all else is declared.

A data dictionary that is pasted fills the fields of the columns; no cell is read for them.  A file
that is uploaded registers nothing: its columns are shown next.
"""

from collections.abc import Mapping, Sequence

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.connectors.specs.models import ColumnType, Engine
from penstock.errors import InvalidInput
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.datasets import data_folder, datasets, file_columns
from penstock.services.jobs import registrations
from penstock.services.jobs.runner import JobFunction
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.people import tiers
from penstock.services.schemas.queries import DatasetRequest
from penstock.services.uploads import uploads
from penstock.web.forms import data_dictionary, dataset_form, form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.page_jobs import JobKind, Typed, begun
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages
from penstock.web.http.uploading.form_parts import Upload

pages = Pages()


@pages.get("/new/dataset", ADMIN)
def new_dataset(visit: Visit) -> Response:
    """Show the form: first where the data are, then the values that their columns may hold."""
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


@pages.post("/new/dataset/dictionary", ADMIN)
def fill_columns(visit: Visit) -> Response:
    """Fill the fields of the columns from a data dictionary that was pasted; nothing is done."""
    given = request.form

    def fill() -> Response:
        filled, left = data_dictionary.filled(given, dataset_form.MOST_COLUMNS)
        return _form(visit, form_input.kept(filled), left)

    return tried(fill, lambda problem: _form(visit, form_input.refused(given, problem)))


@pages.post("/new/dataset/file", ADMIN, takes_file=True)
def upload_file(visit: Visit, upload: Upload) -> Response:
    """Store a file in the data folder, and continue with its columns."""
    given = upload.fields

    def store() -> Response:
        name = given.get("as", "").strip() or upload.name
        place = uploads.receive(visit.server, visit.principal, name, upload.pieces)
        return visit.go("new_dataset", uri=str(place), uploaded="1")

    return tried(store, lambda problem: _form(visit, form_input.refused(given, problem)))


def _act(server: Server, principal: Principal, given: Typed) -> JobFunction:
    known = [tier.name for tier in tiers.listing(server)]
    engines = file_columns.connections(server, principal)
    if given.get("source") in (dataset_form.BUCKET, dataset_form.VIEW):
        dataset_form.connected_columns(given, engines)  # refuses a place at the fields of the form
    spec = dataset_form.spec_of(given, known, engines=engines)
    dataset_request = checked(DatasetRequest, spec)
    return registrations.of_dataset(server, principal, dataset_request)


def _form(visit: Visit, form: Form, left: Sequence[str] | None = None) -> Response:
    """Show the form; ``left`` are the columns of a dictionary that the data do not have."""
    kind = form.value("source") or dataset_form.FILE
    engines = file_columns.connections(visit.server, visit.principal)
    columns = None
    if form.value("uri").strip() or "names" in form.given:
        try:
            columns = _columns(visit, form, engines)
        except InvalidInput:
            if form.problem is None:
                raise
    return visit.page(
        "data/new_dataset.html",
        form.status,
        form=form,
        kind=kind if kind in dict(dataset_form.PLACES) else dataset_form.FILE,
        uri=form.value("uri").strip(),
        chosen=columns is not None or kind == dataset_form.PUSHED,
        columns=columns,
        connections={
            name: engine
            for name, engine in engines.items()
            if (engine == dataset_form.FILES) == (kind == dataset_form.BUCKET)
        },
        others=datasets.listing(visit.server, visit.principal, Window(LARGEST_LIMIT)).items,
        tiers=tiers.listing(visit.server),
        folder=data_folder.folder_of_data(visit.server.settings),
        largest=visit.server.settings.upload_limit,
        uploads=data_folder.folder_of_uploads(visit.server.settings),
        files=file_columns.files(visit.server, visit.principal),
        outline=data_dictionary.template_of(columns or {}, dataset_form.MOST_COLUMNS),
        lists=dataset_form,
        left=left,
    )


def _columns(visit: Visit, form: Form, engines: Mapping[str, Engine]) -> Mapping[str, ColumnType]:
    """Return the columns of the file, or those that are typed in.  Raises ``InvalidInput``."""
    if form.value("source") in (dataset_form.BUCKET, dataset_form.VIEW):
        return dataset_form.connected_columns(form.given, engines)
    return file_columns.columns(visit.server, visit.principal, form.value("uri").strip())


KIND = JobKind(
    "register_dataset",
    "Registering the dataset",
    "admin",
    _act,
    subject="name",
    result=lambda visit, name: visit.go("dataset", dataset=name, added="1"),
    form=_form,
)
