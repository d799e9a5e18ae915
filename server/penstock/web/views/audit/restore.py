"""The suspended state: what it is, and going on in spite of it."""

from flask import Response, request

from penstock.errors import Conflict
from penstock.services.approvals.actions import Acknowledgment
from penstock.services.audit import restores
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.proposals import do_or_propose
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages

pages = Pages()


@pages.get("/restore", ADMIN)
def restore(visit: Visit) -> Response:
    """Whether the database was put back, and what acknowledging that would come to."""
    return _restore(visit, Form())


@pages.post("/restore/acknowledgment", ADMIN)
def acknowledge_restore(visit: Visit) -> Response:
    """Go on after a restore, or propose to."""

    def act() -> Response:
        preview = restores.preview(visit.server, visit.principal)
        if preview is not None and request.form.get("shown", "") != preview.basis:
            raise Conflict(
                "The log's witness saw more meanwhile, and what was shown is no longer so. Look at"
                " it again; nothing was done."
            )
        return do_or_propose(
            visit, Acknowledgment(), lambda _: visit.go("restore", acknowledged="1")
        )

    return tried(act, lambda problem: _restore(visit, form_input.refused(request.form, problem)))


def _restore(visit: Visit, form: Form) -> Response:
    return visit.page(
        "audit/restore.html",
        form.status,
        found=restores.preview(visit.server, visit.principal),
        form=form,
        acknowledged="acknowledged" in request.args,
    )
