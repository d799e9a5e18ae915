"""Preview shredding a dataset, that is, destroying its keys, and do it."""

from flask import Response, request

from penstock.services.approvals.actions import Shredding
from penstock.services.operations import key_status
from penstock.web.forms import form_input
from penstock.web.forms.confirmation import require_named
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.proposals import do_or_propose
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()


@pages.get("/datasets/<dataset>/shredding", ADMIN)
def shredding(visit: Visit, dataset: str) -> Response:
    """Preview what could not be read again; nothing is done."""
    return _shredding(visit, dataset, Form())


@pages.post("/datasets/<dataset>/shredding", ADMIN)
def shred_dataset(visit: Visit, dataset: str) -> Response:
    """Destroy the keys of a dataset, or propose it."""

    def act() -> Response:
        require_named(request.form, dataset)
        act = Shredding(dataset=dataset)
        return do_or_propose(visit, act, lambda done: visit.go("shredding", dataset=done.dataset))

    return tried(
        act, lambda problem: _shredding(visit, dataset, form_input.refused(request.form, problem))
    )


def _shredding(visit: Visit, name: str, form: Form) -> Response:
    shredding_preview = key_status.preview_shredding(visit.server, visit.principal, name)
    return visit.page("audit/shredding.html", form.status, preview=shredding_preview, form=form)
