"""Refuse bytes that gunicorn cannot parse as a request, with a problem document.

gunicorn's own page is HTML, and quotes what was malformed.
"""

import socket
import uuid

from gunicorn import util

from penstock.http import access_log, problems
from penstock.http.edge import HEADERS

_KEPT = frozenset({408, 414, 431, 500})
"""The statuses that say more than that the request is malformed."""


def answer(connection: socket.socket, status: int, reason: str, message: str) -> None:  # noqa: ARG001  # gunicorn's shape
    """Refuse bytes that are not a request; replaces ``gunicorn.util.write_error``."""
    request_id = uuid.uuid4().hex
    response = problems.of_status(status if status in _KEPT else 400, request_id)
    response.headers.extend({**HEADERS, "X-Request-Id": request_id, "Connection": "close"})
    lines = [f"HTTP/1.1 {response.status}", *(f"{name}: {text}" for name, text in response.headers)]
    head = "\r\n".join([*lines, "", ""])
    access_log.answered(
        request_id,
        verb=None,
        route=None,
        status=response.status_code,
        seconds=0.0,
        caller=None,
    )
    util.write_nonblock(connection, head.encode("latin-1") + response.get_data())
