"""Send what is due, every few seconds, in every process that runs jobs.

No transaction is open while a message is sent, and nobody waits for it: a receiver that is slow or
away delays other messages alone.
"""

import threading
from collections.abc import Callable
from concurrent.futures import Future

from penstock.errors import DatabaseUnavailable, PenstockError
from penstock.services.context import Server
from penstock.services.webhook import log_reading, messages, outbox
from penstock.services.webhook.outbox import Claim
from penstock.services.webhook.posting import Outcome, post
from penstock.transparency_log.background import Into

LOOK_SECONDS = 5.0
"""The seconds between two looks of a process."""


def look(server: Server) -> None:
    """Read the log on, and send each message that is due and that no other process sends.

    Raises ``DatabaseUnavailable``; the next call goes on.
    """
    log_reading.read_on(server)
    for number in outbox.due(server):
        claim = outbox.claim(server, number)
        if claim is not None:
            outbox.settle(server, claim, _sent(server, claim))


def look_on(
    server: Server, failed: Callable[[str, BaseException], None], ended: threading.Event
) -> None:
    """Look every few seconds until ``ended``; ``failed`` is called with unexpected errors."""
    while not ended.wait(LOOK_SECONDS):
        tried: Future[None] = Future()
        with Into(tried):
            look(server)
            tried.set_result(None)
        error = tried.exception()
        if error is not None and not isinstance(error, PenstockError):
            failed("webhook", error)


def _sent(server: Server, claim: Claim) -> Outcome:
    try:
        body = messages.body_of(server, claim)
    except DatabaseUnavailable:
        raise
    except PenstockError:  # an altered row, which an audit names
        subject = "rows of the request" if claim.leaf_id is None else "leaf of the log"
        return Outcome(delivered=False, answer=f"not sent: the {subject} cannot be read")
    settings = server.settings
    headers = messages.headers_of(settings.webhook_secret, claim, body, server.clock())
    return post(settings.webhook_url, body, headers)
