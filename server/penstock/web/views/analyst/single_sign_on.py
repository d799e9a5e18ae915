"""Sign callers in at the OpenID provider.

What the browser must keep meanwhile is in a cookie of its own, sealed, for ten minutes.  That one
is SameSite=Lax, because the provider's answer is a link from another site; the session's cookie is
not, so the answer is a page of this site that leads on, by itself and without a script.
"""

import json
from datetime import datetime
from typing import Any

from flask import Response, request

from penstock.errors import (
    Forbidden,
    IdentityUnavailable,
    InvalidInput,
    MalformedInput,
    NotAuthenticated,
    PenstockError,
)
from penstock.http.cursors import Cursors
from penstock.http.edge import name_caller
from penstock.openid.relying_party import Attempt
from penstock.services.operations.home import RETURN
from penstock.services.sign_on import flow, log_outs
from penstock.web.http.csrf import COOKIE, inside
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ANYBODY, PROVIDER, Pages
from penstock.web.views.analyst.sign_in import form_of

pages = Pages()

ATTEMPT = "__Host-penstock-sign-on"
LONGEST_ONWARD = 1000
_ATTRIBUTES: dict[str, Any] = {"secure": True, "httponly": True, "samesite": "Lax"}


@pages.get("/sign-in/provider", ANYBODY)
def sign_in_at_provider(visit: Visit) -> Response:
    """Send the browser to the provider."""
    onward = inside(request.args.get("next"), request.script_root)
    try:
        address, attempt = flow.begin(visit.server)
    except IdentityUnavailable as problem:
        return _refused(visit, problem, 503, onward)
    kept = {
        "state": attempt.state,
        "nonce": attempt.nonce,
        "verifier": attempt.verifier,
        "next": onward if len(onward) <= LONGEST_ONWARD else "",
        "begun": visit.server.clock().isoformat(),
    }
    response = Response(status=303, headers={"Location": address})
    sealed = Cursors(visit.server).seal(ATTEMPT, json.dumps(kept))
    response.set_cookie(ATTEMPT, sealed, max_age=flow.LIFE.seconds, **_ATTRIBUTES)
    return response


@pages.get(RETURN, ANYBODY)
def return_from_provider(visit: Visit) -> Response:
    """Begin a session with the provider's answer, and lead on to the requested page."""
    onward = inside(None, request.script_root)
    try:
        attempt, begun, place = _attempt(visit)
        onward = inside(place, request.script_root)
        answer = request.args.to_dict()
        session = flow.finish(visit.server, attempt, begun, answer, request.cookies.get(COOKIE, ""))
    except NotAuthenticated as problem:
        visit.limits.failed_sign_in(request.remote_addr or "")
        return _refused(visit, problem, 401, onward)
    except Forbidden as problem:
        return _refused(visit, problem, 403, onward)
    except IdentityUnavailable as problem:
        return _refused(visit, problem, 503, onward)
    name_caller(session.principal.name)
    visit.limits.request(session.principal.name)
    response = visit.page("analyst/signed_on.html", onward=onward, name=session.principal.name)
    response.set_cookie(COOKIE, session.secret, secure=True, httponly=True, samesite="Strict")
    response.delete_cookie(ATTEMPT, **_ATTRIBUTES)
    return response


@pages.post("/sign-in/provider/log-out", PROVIDER)
def end_sessions_of_provider(visit: Visit) -> Response:
    """End sessions that the provider says have ended (back-channel log-out)."""
    try:
        log_outs.end(visit.server, request.form.get("logout_token", ""))
    except MalformedInput:
        visit.limits.failed_sign_in(request.remote_addr or "")
        raise
    return Response(status=200)


def _attempt(visit: Visit) -> tuple[Attempt, datetime, str]:
    """Return the attempt that this browser began.  Raises ``NotAuthenticated`` for any other."""
    try:
        kept = json.loads(Cursors(visit.server).open(ATTEMPT, request.cookies.get(ATTEMPT, "")))
    except InvalidInput as problem:
        raise flow.refusal() from problem
    attempt = Attempt(kept["state"], kept["nonce"], kept["verifier"])
    return attempt, datetime.fromisoformat(kept["begun"]), kept["next"]


def _refused(visit: Visit, problem: PenstockError, status: int, onward: str) -> Response:
    response = visit.page(
        "analyst/sign_in.html", status, refusal=problem.detail, **form_of(visit, onward)
    )
    response.delete_cookie(ATTEMPT, **_ATTRIBUTES)
    return response
