"""Preview and register a new version of a dataset."""

from collections.abc import Mapping

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import PenstockError
from penstock.services.datasets import data_folder, datasets, file_columns
from penstock.services.people import tiers
from penstock.services.previews import version_preview
from penstock.services.previews.version_preview import VersionPreviewView
from penstock.services.schemas.queries import VersionRequest
from penstock.services.schemas.views import DatasetView
from penstock.web.forms import dataset_form, form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()


@pages.get("/datasets/<dataset>/versions", ADMIN)
def new_version(visit: Visit, dataset: str) -> Response:
    """Show the form, filled in from the present version."""
    return _form(visit, dataset, Form())


@pages.post("/datasets/<dataset>/versions/preview", ADMIN)
def preview_version(visit: Visit, dataset: str) -> Response:
    """Preview the effect of a new version on privacy losses; nothing is done."""
    given = request.form

    def act() -> Response:
        version_request = _version_request(visit, dataset, given)
        preview = version_preview.preview(visit.server, visit.principal, dataset, version_request)
        return _form(visit, dataset, form_input.kept(given), preview)

    return tried(act, lambda problem: _form(visit, dataset, form_input.refused(given, problem)))


@pages.post("/datasets/<dataset>/versions", ADMIN)
def add_version(visit: Visit, dataset: str) -> Response:
    """Register a new version, with its own budgets."""
    given = request.form

    def act() -> tuple[Response, str]:
        version_request = _version_request(visit, dataset, given)
        made = datasets.add_version(visit.server, visit.principal, dataset, version_request)
        response = visit.go("dataset", dataset=made.name, added="1")
        return response, response.location or ""

    def refused(problem: PenstockError) -> Response:
        return _form(visit, dataset, form_input.refused(given, problem))

    return tried(lambda: once(visit, act), refused)


def _version_request(visit: Visit, dataset: str, given: Mapping[str, str]) -> VersionRequest:
    """Return the version that a form describes.  Raises ``InvalidInput``."""
    before = datasets.show(visit.server, visit.principal, dataset).source
    known = [tier.name for tier in tiers.listing(visit.server)]
    epsilons = {tier: form_input.number(given.get(f"epsilon {tier}", "")) for tier in known}
    spec = {
        "source": dataset_form.next_source(
            before, given.get("uri", "").strip(), given.get("connection")
        ),
        "budgets": {
            tier: {"epsilon": epsilon} for tier, epsilon in epsilons.items() if epsilon is not None
        },
        "disjoint_units": "disjoint_units" in given,
        **form_input.filled(max_units=form_input.number(given.get("max_units", ""))),
    }
    version: VersionRequest = checked(VersionRequest, spec)
    return version


def connections_like(visit: Visit, dataset: DatasetView) -> list[str]:
    """Return the connections under which new data of a dataset may be read, by its engine."""
    engines = file_columns.connections(visit.server, visit.principal)
    return [name for name, engine in engines.items() if engine == dataset.source.get("engine")]


def _form(visit: Visit, name: str, form: Form, view: VersionPreviewView | None = None) -> Response:
    dataset = datasets.show(visit.server, visit.principal, name)
    return visit.page(
        "data/new_version.html",
        form.status,
        dataset=dataset,
        connections=connections_like(visit, dataset),
        tiers=tiers.listing(visit.server),
        folder=data_folder.folder_of_data(visit.server.settings),
        form=form,
        preview=view,
    )
