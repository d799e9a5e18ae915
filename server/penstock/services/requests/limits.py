"""Limit how much one person may request.

Requests and comments are kept for ever, and a list of open ones is for people to read.
"""

import math
from datetime import timedelta

from sqlmodel import Session, col, func, select

from penstock.errors import Conflict, QuotaUsedUp
from penstock.persistence.tables.decided.requests import Asker, RequestComment, RequestDecision
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.requests.rows import WITHDRAWN

MOST_OPEN = 100
"""The requests that one person may have open."""

MOST_A_DAY = 300
"""The requests and comments that one person may send in 24 hours, withdrawn ones too."""

LONGEST_SPEC = 65_536
DAY = timedelta(days=1)


def require_few_open(session: Session, principal: Principal) -> None:
    """Raise ``Conflict`` if a person has as many open requests as they may have."""
    undecided = ~col(Asker.request_id).in_(select(col(RequestDecision.request_id)))
    own = col(Asker.user_id) == principal.user_id
    count = session.exec(select(func.count(col(Asker.id))).where(own, undecided, ~WITHDRAWN)).one()
    if count >= MOST_OPEN:
        raise Conflict(
            f"You have {count} open requests, and {MOST_OPEN} is the most. Withdraw some that you"
            " no longer need, or wait for a decision."
        )


def require_rate(session: Session, server: Server, principal: Principal) -> None:
    """Raise ``QuotaUsedUp`` if a person sent the most of a day."""
    now = server.clock()
    asks = select(func.count(col(Asker.id)), func.min(col(Asker.at))).where(
        col(Asker.user_id) == principal.user_id, col(Asker.at) > now - DAY
    )
    comments = (
        select(func.count(col(RequestComment.id)), func.min(col(RequestComment.at)))
        .join(Asker, col(RequestComment.asker_id) == col(Asker.id))
        .where(col(Asker.user_id) == principal.user_id, col(RequestComment.at) > now - DAY)
    )
    sent = [session.exec(statement).one() for statement in (asks, comments)]
    count = sum(part[0] for part in sent)
    if count >= MOST_A_DAY:
        first = min(at for number, at in sent if number)
        wait = max(1, math.ceil((first + DAY - now).total_seconds()))
        raise QuotaUsedUp(
            f"You sent {count} requests and comments in the last 24 hours, and {MOST_A_DAY} is the"
            f" limit; withdrawn ones count as well. Try again in {wait:,} seconds.",
            retry_after=wait,
        )
