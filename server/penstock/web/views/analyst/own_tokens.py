"""Show, issue and revoke the caller's own tokens."""

from flask import Response, request

from penstock.services.access.principals import ROLES
from penstock.services.pagination import LARGEST_LIMIT, Window
from penstock.services.people import tokens
from penstock.web.forms import form_input
from penstock.web.forms.form_input import Form
from penstock.web.forms.people import token_form
from penstock.web.http.idempotent_forms import tried
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import SIGNED_IN, Pages
from penstock.web.presenters.pages.token_states import with_states

pages = Pages()


@pages.get("/tokens", SIGNED_IN)
def own_tokens(visit: Visit) -> Response:
    """Show the caller's tokens by their prefixes."""
    return _tokens(visit, Form())


@pages.post("/tokens", SIGNED_IN)
def issue_own_token(visit: Visit) -> Response:
    """Issue a token for the caller, with no role that the session lacks."""
    name, later = visit.principal.name, visit.go("own_tokens", done="issued")
    return tried(
        lambda: token_form.issue(visit, name, later),
        lambda problem: _tokens(visit, form_input.refused(request.form, problem)),
    )


@pages.post("/tokens/<prefix>/revocation", SIGNED_IN)
def revoke_own_token(visit: Visit, prefix: str) -> Response:
    """Revoke a token of the caller at once, and end all sessions that began with it."""
    tokens.revoke(visit.server, visit.principal, visit.principal.name, prefix)
    return visit.go("own_tokens", done="revoked")


def _tokens(visit: Visit, form: Form) -> Response:
    caller = visit.principal
    views = tokens.listing(visit.server, caller, caller.name, Window(LARGEST_LIMIT)).items
    return visit.page(
        "analyst/own_tokens.html",
        form.status,
        tokens=with_states(views, visit.server.clock()),
        next=tokens.preview(visit.server, caller, caller.name),
        roles=[role for role in ROLES if role in caller.roles],
        form=form,
        done=request.args.get("done"),
    )
