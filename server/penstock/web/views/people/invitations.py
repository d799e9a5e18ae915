"""Invite people, show and revoke invitations; and accept one, for which nobody signs in."""

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.errors import Conflict, NotAuthenticated
from penstock.http.edge import name_caller
from penstock.services.access.principals import ROLES
from penstock.services.people import tiers
from penstock.services.schemas.people.invitations import InvitationSpec
from penstock.services.sign_on import acceptance, invitations
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.forms.people.user_form import person
from penstock.web.http.idempotent_forms import once, tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ADMIN, ANYBODY, Pages

pages = Pages()


@pages.get("/invitations", ADMIN)
def all_invitations(visit: Visit) -> Response:
    """Show all invitations, with the form that makes one."""
    return _page(visit, Form())


@pages.post("/invitations", ADMIN)
def invite_person(visit: Visit) -> Response:
    """Invite a person; only this response shows the link."""
    given = request.form

    def act() -> tuple[Response, str]:
        life = form_input.filled(expires_in=given.get("expires_in", "").strip())
        spec = {**person(given), **life}
        made = invitations.invite(visit.server, visit.principal, checked(InvitationSpec, spec))
        later = visit.go("all_invitations", done="invited")
        return visit.page("people/invited.html", invitation=made), later.location or ""

    return tried(
        lambda: once(visit, act), lambda problem: _page(visit, form_input.refused(given, problem))
    )


@pages.post("/invitations/<invitation>/revocation", ADMIN)
def revoke_invitation(visit: Visit, invitation: str) -> Response:
    """Let an invitation count no more."""

    def act() -> Response:
        invitations.revoke(visit.server, visit.principal, invitation)
        return visit.go("all_invitations", done="revoked")

    return tried(act, lambda problem: _page(visit, form_input.refused(request.form, problem)))


@pages.get(invitations.PLACE, ANYBODY)
def invitation(visit: Visit) -> Response:
    """Show the form into which an invited person pastes the link."""
    return visit.page("people/invitation.html")


@pages.post(invitations.PLACE, ANYBODY)
def accept_invitation(visit: Visit) -> Response:
    """Accept an invitation; only this response shows the token."""
    link = request.form.get("link", "").strip()
    if not link:
        reason = "Paste the whole link that you were sent; it ends in #pin_ and a code."
        return visit.page("people/invitation.html", 422, refusal=reason)
    try:
        issued = acceptance.accept(visit.server, link.rpartition("#")[2])
    except NotAuthenticated as refusal:
        visit.limits.failed_sign_in(request.remote_addr or "")
        return visit.page("people/invitation.html", 401, refusal=refusal.detail)
    except Conflict as refusal:
        return visit.page("people/invitation.html", 409, refusal=refusal.detail)
    name_caller(issued.user)
    at_provider = visit.server.relying_party is not None
    return visit.page("people/accepted.html", issued=issued, at_provider=at_provider)


def _page(visit: Visit, form: Form) -> Response:
    page = invitations.listing(visit.server, visit.principal, visit.window())
    return visit.page(
        "people/invitations.html",
        form.status,
        invitations=page.items,
        onward=visit.onward(page),
        tiers=tiers.listing(visit.server),
        roles=ROLES,
        form=form,
        done=request.args.get("done"),
    )
