"""How many requests a server refused, told by a leaf of the log now and then.

Counted are answers by their status, and nothing of who asked or for what: a name in it would be
one that somebody without an account chose.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from penstock.persistence import Need
from penstock.services import log
from penstock.services.server import Server
from penstock.services.suspension import ACTOR

CAUSES: Final = {401: "not_signed_in", 403: "not_allowed", 404: "not_found", 429: "too_often"}
"""By the status of the answer: no valid token, session or sign-in; roles or clearance that do not
allow it; what is not there, or not there for them; and what came too often."""


def record(server: Server, counts: Mapping[str, int], seconds: float) -> None:
    """Append the leaf of what was refused within the last ``seconds``, by cause.

    Raises as every write does; nothing was told then.
    """
    with server.database.write(need=Need.LITTLE) as session:
        now = server.clock()
        told: dict[str, Any] = {cause: count for cause, count in counts.items() if count}
        log.append(
            session,
            kind=log.REFUSALS,
            at=now,
            actor=ACTOR,
            since=log.timestamp(now - timedelta(seconds=seconds)),
            **told,
        )
