"""Issue a token by form, for the caller or for another user, and show it only once."""

from flask import Response, request

from penstock.connectors.planning.refusals import checked
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.web.forms import form_input
from penstock.web.http.idempotent_forms import once
from penstock.web.http.request_context import Visit


def issue(visit: Visit, name: str, later: Response) -> Response:
    """Return the page with the token; if the form is sent again, redirect like ``later``."""
    given = request.form

    def act() -> tuple[Response, str]:
        life = given.get("expires_in", "").strip()
        spec = form_input.filled(expires_in=life, scopes=given.getlist("scopes") or None)
        issued = tokens.issue(visit.server, visit.principal, name, checked(TokenSpec, spec))
        place = later.location or ""
        return visit.page("people/token.html", issued=issued, back=place.partition("?")[0]), place

    return once(visit, act)
