"""Preview and declare that two datasets hold the same people."""

from flask import Response, request

from penstock.errors import InvalidInput, PenstockError
from penstock.services.datasets import datasets, look_alikes
from penstock.services.datasets.population import POINTER
from penstock.services.exposure import same_people as people
from penstock.services.exposure.same_people import SamePeoplePreviewView
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()


@pages.get("/datasets/<dataset>/same-people", ADMIN)
def same_people(visit: Visit, dataset: str) -> Response:
    """Show the form, and the preview once a dataset is chosen; nothing is done."""
    given = request.args

    def act() -> Response:
        if "other" not in given:
            return _form(visit, dataset, Form())
        preview = people.preview(visit.server, visit.principal, dataset, _other())
        return _form(visit, dataset, Form(given), preview)

    return tried(act, lambda problem: _form(visit, dataset, form_input.refused(given, problem)))


@pages.post("/datasets/<dataset>/same-people", ADMIN)
def declare_same_people(visit: Visit, dataset: str) -> Response:
    """Declare that two datasets hold the same people; this cannot be undone."""
    given = request.form

    def act() -> tuple[Response, str]:
        made = people.declare(visit.server, visit.principal, dataset, _other())
        response = visit.go("dataset", dataset=made.name, joined="1")
        return response, response.location or ""

    def refused(problem: PenstockError) -> Response:
        return _form(visit, dataset, form_input.refused(given, problem))

    return tried(lambda: once(visit, act), refused)


def _other() -> str:
    """Return the other dataset that a form names.  Raises ``InvalidInput``."""
    other = request.values.get("other", "").strip()
    if not other:
        raise InvalidInput(
            "No dataset was chosen. Choose the one that holds the same people.",
            pointer=POINTER,
        )
    return other


def _form(
    visit: Visit, name: str, form: Form, same_people_preview: SamePeoplePreviewView | None = None
) -> Response:
    return visit.page(
        "data/same_people.html",
        form.status,
        dataset=datasets.show(visit.server, visit.principal, name),
        others=look_alikes.undeclared_datasets(visit.server, visit.principal, name),
        form=form,
        preview=same_people_preview,
    )
