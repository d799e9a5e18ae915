"""Show the start page, and sign callers in and out."""

from typing import Any

from flask import Response, request

import penstock
from penstock.errors import IdentityUnavailable, NotAuthenticated
from penstock.http.edge import name_caller
from penstock.services.access import sessions
from penstock.web.http.csrf import COOKIE, Origin, inside
from penstock.web.http.request_context import Visit
from penstock.web.http.routes import ANYBODY, SIGNED_IN, Pages
from penstock.web.presenters.pages.front_page import example

pages = Pages()


@pages.get("/", ANYBODY)
def front(visit: Visit) -> Response:
    """Show what the server does, with the form to sign in; lead those who are signed in home.

    They read the same with ``about`` in the address.
    """
    if visit.caller is not None and "about" not in request.args:
        return visit.go("home")
    return visit.page(
        "analyst/front.html",
        version=penstock.__version__,
        picture=example(),
        **form_of(visit, None),
    )


@pages.get("/sign-in", ANYBODY)
def sign_in_form(visit: Visit) -> Response:
    """Show the form alone; it leads on to the requested page."""
    return visit.page("analyst/sign_in.html", **form_of(visit, request.args.get("next")))


@pages.post("/sign-in", ANYBODY)
def sign_in(visit: Visit) -> Response:
    """Begin a session with a token."""
    token, onward = request.form.get("token", "").strip(), _inside(request.form.get("next"))
    former = request.cookies.get(COOKIE, "")
    try:
        session = sessions.sign_in(visit.server, token, former)
    except NotAuthenticated as refusal:
        if token:
            visit.limits.failed_sign_in(request.remote_addr or "")
        return visit.page(
            "analyst/sign_in.html", 401, refusal=refusal.detail, **form_of(visit, onward)
        )
    except IdentityUnavailable as refusal:
        return visit.page(
            "analyst/sign_in.html", 503, refusal=refusal.detail, **form_of(visit, onward)
        )
    name_caller(session.principal.name)
    visit.limits.request(session.principal.name)
    response = visit.go("signed_in", next=onward)
    response.set_cookie(COOKIE, session.secret, secure=True, httponly=True, samesite="Strict")
    return response


@pages.get("/signed-in", ANYBODY)
def signed_in(visit: Visit) -> Response:
    """Redirect to the requested page, or report that the browser kept no session cookie."""
    onward = _inside(request.args.get("next"))
    if request.cookies.get(COOKIE):
        return Response(status=303, headers={"Location": onward})
    return visit.page("analyst/sign_in.html", 400, not_kept=True, **form_of(visit, onward))


@pages.post("/sign-out", SIGNED_IN)
def sign_out(visit: Visit) -> Response:
    """End the caller's session."""
    sessions.end(visit.server, visit.secret)
    response = visit.go("sign_in_form", left="1")
    response.delete_cookie(COOKIE, secure=True, httponly=True, samesite="Strict")
    return response


def _inside(address: str | None) -> str:
    return inside(address, request.script_root)


def form_of(visit: Visit, onward: str | None) -> dict[str, Any]:
    """Return what the templates need for the form that leads on to ``onward``."""
    settings = visit.server.settings
    return {
        "onward": _inside(onward),
        "by_link": onward is not None and request.method == "GET",
        "ended": "ended" in request.args,
        "left": "left" in request.args,
        "keeps_cookies": Origin(settings).keeps_cookies,
        "public_url": settings.public_url,
        "believes_issuer": visit.server.issuer is not None,
        "at_provider": visit.server.relying_party is not None,
    }
