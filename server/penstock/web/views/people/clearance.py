"""Preview another clearance for a user, and set it."""

from collections.abc import Mapping

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import Conflict, InvalidInput, PenstockError
from penstock.services.people import users
from penstock.services.previews import clearance_preview
from penstock.services.previews.clearance_preview import ClearancePreviewView
from penstock.services.schemas.people.users import UserChange
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, Pages
from penstock.web.presenters import tier_ladder

pages = Pages()


@pages.get("/clearance", ADMIN)
def preview_clearance(visit: Visit) -> Response:
    """Preview another tier for a user; nothing is done."""
    return tried(
        lambda: _preview_page(visit, request.args, None),
        lambda problem: _again(visit, request.args, problem),
    )


@pages.post("/clearance", ADMIN)
def set_clearance(visit: Visit) -> Response:
    """Give a user another tier, or none."""
    given = request.form

    def act() -> Response:
        preview = _of(visit, given)
        if given.get("from", "") != (preview.source or "") and preview.source != preview.target:
            current = f"tier {preview.source!r}" if preview.source else "no tier"
            raise Conflict(
                f"{preview.user} now holds {current}: the clearance changed after the preview was"
                " shown. Read the current preview and try again."
            )
        change = checked(UserChange, {"clearance": preview.target})
        moved = users.change(visit.server, visit.principal, preview.user, change)
        if preview.active and preview.analyst:
            return visit.go("ladder", moved=moved.name)
        return visit.go("user", user=moved.name, done="moved")

    return tried(act, lambda problem: _again(visit, given, problem))


def _of(visit: Visit, given: Mapping[str, str]) -> ClearancePreviewView:
    name, tier = given.get("user", "").strip(), given.get("tier", "").strip()
    if not name:
        raise InvalidInput("Choose the person to move.", pointer="/user")
    return clearance_preview.preview(visit.server, visit.principal, name, tier or None)


def _preview_page(
    visit: Visit, given: Mapping[str, str], problem: PenstockError | None
) -> Response:
    preview = _of(visit, given)
    ladder = clearance_preview.ladder(visit.server, visit.principal)
    form = Form(given, problem)
    return visit.page(
        "people/clearance.html",
        form.status,
        ladder=ladder,
        preview=preview,
        picture=tier_ladder.shown(ladder, f"What would change for {preview.user}", preview),
        form=form,
    )


def _again(visit: Visit, given: Mapping[str, str], problem: PenstockError) -> Response:
    """Show the refusal with a new preview if there can be one, else with the form alone."""
    if isinstance(problem, Conflict):
        return _preview_page(visit, given, problem)
    form = form_input.refused(given, problem)
    ladder = clearance_preview.ladder(visit.server, visit.principal)
    return visit.page("people/clearance.html", form.status, ladder=ladder, preview=None, form=form)
