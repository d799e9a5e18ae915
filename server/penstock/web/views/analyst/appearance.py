"""Let everybody choose between light and dark pages, signed in or not.

The choice is a cookie with the word ``light`` or ``dark``, which says nothing of who chose it.
"""

from urllib.parse import unquote, urlsplit

from flask import Response, request

from penstock.web.http.csrf import Origin, inside
from penstock.web.http.request_context import SCHEME_COOKIE, SCHEMES, Visit
from penstock.web.http.routes import ANYBODY, Pages

pages = Pages()

YEAR = 31_536_000
"""Seconds that a browser keeps the choice."""


@pages.post("/scheme", ANYBODY)
def choose_scheme(visit: Visit) -> Response:
    """Keep the choice in the browser, or drop it, and go back to the page."""
    response = Response(status=303, headers={"Location": _onward()})
    chosen, secure = request.form.get("scheme", ""), Origin(visit.server.settings).keeps_cookies
    if chosen in SCHEMES:
        response.set_cookie(
            SCHEME_COOKIE, chosen, YEAR, secure=secure, httponly=True, samesite="Strict"
        )
    else:
        response.delete_cookie(SCHEME_COOKIE, secure=secure, httponly=True, samesite="Strict")
    return response


def _onward() -> str:
    """Return the page that the form was on; what was asked of it is in the browser's referrer."""
    page, before = request.form.get("next", ""), urlsplit(request.headers.get("Referer", ""))
    query = f"?{before.query}" if before.query and unquote(before.path) == unquote(page) else ""
    return inside(page + query, request.script_root, "/")
