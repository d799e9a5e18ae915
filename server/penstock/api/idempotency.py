"""Handle the header ``Idempotency-Key`` of POST requests: act once, answer every repeat.

The answer is kept as the bytes that went out, except for the secret of a token or an
invitation, which is shown once and stored nowhere: a repeat shows null in its place.
"""

from collections.abc import Callable

from flask import Response

from penstock.api.operations import ADMIN, ONESELF_OR_ADMIN, REGISTRAR, Operation
from penstock.errors import PenstockError
from penstock.http.answers import MEDIA_TYPE, rendered
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.jobs import idempotency
from penstock.services.schemas.people.invitations import IssuedInvitationView
from penstock.services.schemas.people.views import IssuedTokenView

HEADER = "Idempotency-Key"
REPLAYED = "Idempotency-Replayed"


def applies(operation: Operation) -> bool:
    """Return True if a request for ``operation`` may carry a key.

    It may if it is a POST of admins, or of analysts under an allowance, that changes something.  A
    request for a release needs none: a
    repeat returns the same release.
    """
    return operation.verb == "POST" and operation.policy in (ADMIN, ONESELF_OR_ADMIN, REGISTRAR)


def fingerprint(server: Server, operation: Operation, path: str, body: bytes | bytearray) -> bytes:
    """Return a fingerprint of a request that does not reveal its body."""
    return idempotency.fingerprint(server, operation.name.encode(), path.encode(), body)


def once(
    server: Server,
    caller: Principal,
    operation: Operation,
    key: str,
    sent: bytes,
    act: Callable[[], object],
) -> Response:
    """Run the request unless it was done under this key, and give the same answer either way.

    ``sent`` is the request's ``fingerprint``.  A refusal is not kept: it changed nothing.
    """
    begun = idempotency.open_request(server, caller, key, sent)
    if isinstance(begun, idempotency.Replay):
        response = Response(begun.answer, begun.status, mimetype=MEDIA_TYPE)
        response.headers[REPLAYED] = "true"
        return response
    try:
        answer = act()
    except PenstockError:
        idempotency.give_up(server, begun)
        raise
    kept = {**vars(answer), **_shown_once(answer)} if _shown_once(answer) else answer
    status = operation.status_of(answer)
    idempotency.finish(server, begun, status, rendered(kept))
    return Response(rendered(answer), status, mimetype=MEDIA_TYPE)


def _shown_once(answer: object) -> dict[str, None]:
    """Return null for the field of an answer that is shown once and kept nowhere."""
    match answer:
        case IssuedTokenView():
            return {"token": None}
        case IssuedInvitationView():
            return {"link": None}
    return {}
