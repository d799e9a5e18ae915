"""Show whether the server is suspended after a restore, and acknowledge the restore."""

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
    """Show whether an older database was restored, and preview acknowledging it."""
    return _restore(visit, Form())


@pages.post("/restore/acknowledgment", ADMIN)
def acknowledge_restore(visit: Visit) -> Response:
    """Acknowledge a restore, or propose it."""

    def act() -> Response:
        preview = restores.preview(visit.server, visit.principal)
        if preview is not None and request.form.get("shown", "") != preview.basis:
            raise Conflict(
                "The log's witness saw more leaves after the preview was shown. Read the current"
                " preview and try again."
            )
        return do_or_propose(
            visit, Acknowledgment(), lambda _: visit.go("restore", acknowledged="1")
        )

    return tried(act, lambda problem: _restore(visit, form_input.refused(request.form, problem)))


def _restore(visit: Visit, form: Form) -> Response:
    return visit.page(
        "audit/restore.html",
        form.status,
        preview=restores.preview(visit.server, visit.principal),
        form=form,
        acknowledged="acknowledged" in request.args,
    )
