"""Show a form again, as it was filled in, at an address of its own, so that going back works.

A browser that goes back to the answer of a POST has nothing to show, since nothing here is stored
by it.  The fields are in the address, sealed: they say what somebody is about to ask, and addresses
stay in histories and in logs of proxies.
"""

from collections.abc import Sequence
from urllib.parse import parse_qsl, urlencode

from flask import Response, request, url_for
from werkzeug.datastructures import MultiDict

from penstock.errors import InvalidInput
from penstock.http.cursors import Cursors
from penstock.web.http.request_context import Visit

FIELD = "typed"
LONGEST = 3000
"""The most characters of sealed fields in an address: servers read some 4,000 of a request's line.
A longer form is shown where it was sent to."""


def kept(visit: Visit, page: str, given: MultiDict[str, str], **more: str) -> Response | None:
    """Redirect to ``page`` with what was typed; ``None`` if it is too long, or a script asks.

    Empty fields are left out, and so is the session's key.
    """
    fields = [(name, text) for name, text in given.items(multi=True) if text and name != "form_key"]
    place = None if visit.is_part else address(visit, page, [*fields, *more.items()])
    return None if place is None else Response(status=303, headers={"Location": place})


def address(visit: Visit, page: str, fields: Sequence[tuple[str, str]]) -> str | None:
    """Return the address of ``page`` with these fields; ``None`` if it would be too long."""
    text = urlencode(fields)
    if len(text) > LONGEST:
        return None
    sealed = Cursors(visit.server).seal(_bound(visit, page), text)
    if len(sealed) > LONGEST:
        return None
    return url_for(f"web.{page}", _external=False, _anchor="outcome", **{FIELD: sealed})


def typed(visit: Visit, page: str) -> MultiDict[str, str] | None:
    """Return what the caller typed, if the address has it.  Raises ``InvalidInput``."""
    sealed = request.args.get(FIELD)
    if sealed is None:
        return None
    try:
        text = Cursors(visit.server).open(_bound(visit, page), sealed)
    except InvalidInput as problem:
        raise InvalidInput(
            "This address has no form of yours; open the form again.", pointer=f"/{FIELD}"
        ) from problem
    return MultiDict(parse_qsl(text, keep_blank_values=True))


def _bound(visit: Visit, page: str) -> str:
    """Return whose form it is, and of which page: nobody else can open it."""
    return f"{page} {visit.principal.name}"
