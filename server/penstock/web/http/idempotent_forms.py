"""Acts that a form asks for: done once, and answered by a redirect, or by the form again.

What would be done twice by sending its form twice (a double click, a reload, the button
"back") carries a key of its own, drawn when the form was shown; sent again, it leads to where
it led before.  All else that is sent again comes to the same by itself.
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
"""What a form is shown again for, with what was typed."""

KEY_REUSED = "/Idempotency-Key"
"""Where the service says that a key came with something else before."""

DONE = 200
TURNS, TURN_SECONDS = 100, 0.1
"""How often a second press looks for the result of the first, and the time between."""


def fresh_key() -> str:
    """A key for a form that is about to be shown."""
    return secrets.token_hex(16)


def tried(act: Callable[[], Response], refused: Callable[[PenstockError], Response]) -> Response:
    """Do what a form asks for; ``refused`` shows the form again, with what is wrong with it."""
    try:
        return act()
    except SHOWN as problem:
        return refused(problem)


class SentBefore(Conflict):
    """A form was sent under its key with something else in it; it takes a new key."""


def once(visit: Visit, act: Callable[[], tuple[Response, str]]) -> Response:
    """Do what the form asks for, unless it was done under its key.

    ``act`` answers with a response, and the address to which the same form leads from then
    on.  What it refuses is forgotten: the form may be mended, and sent with the same key.
    Pressed again while the first press is worked on, it waits for that one's result.
    """
    server, fields = visit.server, sorted(request.form.items(multi=True))
    sent = urlencode([field for field in fields if field[0] not in UNSAID])
    print_ = idempotency.fingerprint(server, b"form", request.path.encode(), sent.encode())
    key = f"form-{request.form.get(FIELD, '')}"
    turns = iter(range(TURNS))

    def wait() -> bool:
        time.sleep(TURN_SECONDS)
        return next(turns, None) is not None

    try:
        begun = idempotency.begin(server, visit.principal, key, print_, wait)
    except InvalidInput as problem:
        if problem.errors[0][0] != KEY_REUSED:
            raise
        raise SentBefore(
            "This form was sent before with something else in it, and that was done. If you want"
            " this as well, press the button once more."
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
