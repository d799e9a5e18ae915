"""Do the action of a form once, and answer by a redirect or by the form again.

A form whose action would be done twice if the form is sent twice (a double click, a reload, the
button "back") carries a key, drawn when the form was shown.  Sent again, it redirects to the
same page as before.  Actions of other forms have the same result when they are repeated.
"""

import secrets
import time
from collections.abc import Callable
from urllib.parse import urlencode

from flask import Response, request

from penstock.errors import Busy, Conflict, Forbidden, InvalidInput, PenstockError, TooManyRequests
from penstock.services.jobs import idempotency
from penstock.web.http.request_context import Visit

FIELD = "once"
UNSAID = frozenset({"form_key", FIELD})
SHOWN = (InvalidInput, Conflict, Forbidden, TooManyRequests, Busy)
"""Errors after which a form is shown again, with what was typed."""

KEY_REUSED = "/Idempotency-Key"
"""Pointer of the service's error for a key that was used with other content."""

DONE = 200
TURNS, TURN_SECONDS = 100, 0.1
"""How often a repeated request looks for the first one's result, and the time between."""


def fresh_key() -> str:
    """Return a new random key for a form."""
    return secrets.token_hex(16)


def tried(act: Callable[[], Response], refused: Callable[[PenstockError], Response]) -> Response:
    """Do the action of a form; if it is refused, ``refused`` shows the form with its errors."""
    try:
        return act()
    except SHOWN as problem:
        return refused(problem)


class SentBefore(Conflict):
    """Refuse a form whose key was used with other content; the form gets a new key."""


def once(visit: Visit, act: Callable[[], tuple[Response, str]]) -> Response:
    """Do the action of the form, unless it was done before under the same key.

    ``act`` returns a response, and the address to which the same form redirects from then on.
    If it refuses, nothing is stored: the form may be corrected and sent with the same key.
    If the first request is still being handled, a repeated one waits for its result.
    """
    server, fields = visit.server, sorted(request.form.items(multi=True))
    sent = urlencode([field for field in fields if field[0] not in UNSAID])
    fingerprint = idempotency.fingerprint(server, b"form", request.path.encode(), sent.encode())
    key = f"form-{request.form.get(FIELD, '')}"
    turns = iter(range(TURNS))

    def wait() -> bool:
        time.sleep(TURN_SECONDS)
        return next(turns, None) is not None

    try:
        begun = idempotency.open_request(server, visit.principal, key, fingerprint, wait)
    except InvalidInput as problem:
        if problem.errors[0][0] != KEY_REUSED:
            raise
        raise SentBefore(
            "This form was sent before with other content, and that was done. To do this as"
            " well, press the button again."
        ) from problem
    if isinstance(begun, idempotency.Replay):
        return Response(status=303, headers={"Location": begun.answer.decode()})
    try:
        response, onward = act()
    except PenstockError:
        idempotency.give_up(server, begun)
        raise
    idempotency.finish(server, begun, DONE, onward.encode())
    return response
