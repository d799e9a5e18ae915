"""How many requests a server refused, told by a leaf of the log now and then.

Counted are answers by why they refused, and nothing of who asked or for what: a name in it would be
one that somebody without an account chose.
"""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, Final

from sqlalchemy import event
from sqlmodel import Session

from penstock.errors import PenstockError
from penstock.persistence import Need
from penstock.services.context import Server
from penstock.transparency_log import leaves
from penstock.transparency_log.suspension import ACTOR

CAUSES: Final = (
    *("failed_sign_ins", "bad_tokens", "not_signed_in"),
    *("not_allowed", "not_found", "too_often"),
)
"""Sign-ins with a token that is none; tokens in a header that are wrong, expired, revoked or of
somebody shut out; neither token nor session; roles or clearance that do not allow it; what is not
there, or not there for them; and what came too often."""


def record(server: Server, counts: Mapping[str, int], seconds: float) -> None:
    """Append the leaf of what was refused within the last ``seconds``, by cause.

    Raises as every write does where nothing was stored.  What is stored and waits for the tree,
    the witness or a second place of the log raises nothing: it comes into the log with the next
    write, and whoever told it again would have it counted twice.
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
