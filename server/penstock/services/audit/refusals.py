"""Record the number of refused requests in a leaf of the log, from time to time.

Only the causes of refusals are counted, and not who sent the request or for what: a name in the
leaf could be one that a person without an account chose.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import event
from sqlmodel import Session

from penstock.errors import PenstockError
from penstock.persistence.protocol import Need
from penstock.services.context import Server
from penstock.transparency_log import leaves
from penstock.transparency_log.suspension import ACTOR

CAUSES: Final = (
    *("failed_sign_ins", "bad_tokens", "not_signed_in"),
    *("not_allowed", "not_found", "too_often"),
)
"""The causes that are counted: sign-ins with an invalid token; tokens in a header that are wrong,
expired, revoked or of a disabled user; requests with neither token nor session; roles or clearance
that do not allow it; things that do not exist, or not for the caller; requests above the rate
limit."""


def record(server: Server, counts: Mapping[str, int], seconds: float) -> None:
    """Append the leaf of the requests refused within the last ``seconds``, by cause.

    Raises as every write does if nothing was stored.  A leaf that is stored but waits for the
    tree, the witness or a second place of the log raises nothing: it enters the log with the
    next write, and recording it again would count it twice.
    """
    stored: list[Session] = []
    try:
        with server.database.write(need=Need.LITTLE) as session:
            event.listen(session, "after_commit", stored.append)
            now = server.clock()
            counted: dict[str, Any] = {cause: count for cause, count in counts.items() if count}
            leaves.append(
                session,
                kind=leaves.REFUSALS,
                at=now,
                actor=ACTOR,
                since=leaves.timestamp(now - timedelta(seconds=seconds)),
                **counted,
            )
    except PenstockError:
        if not stored:
            raise
