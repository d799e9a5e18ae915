"""Count what waits for admins, and say how old keys are."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from sqlmodel import Session, col, func, select

from penstock.persistence.tables.decided.proposals import Decision, Proposal
from penstock.persistence.tables.people import Token, User
from penstock.services import monitoring
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.requests import news

ENDING_DAYS: Final = 14
"""A token that ends within so many days ends soon."""

MOST_NAMED: Final = 5
"""The people with such tokens that are named."""


@dataclass(frozen=True)
class DutiesView:
    """Hold how many requests, proposals and tokens wait for an admin, and the age of keys.

    ``ending`` tokens end soon, of people of whom the first to lose theirs are named; ``oldest_key``
    is the one that was rotated longest ago, at ``rotated_at``.
    """

    requests: int
    proposals: int
    ending: int
    people: list[str]
    oldest_key: str
    rotated_at: datetime


def look(server: Server, principal: Principal) -> DutiesView:
    """Return what waits for an admin.  Raises ``Forbidden``."""
    principal.require("admin")
    requests, now = news.waiting(server, principal), server.clock()
    with server.database.read() as session:
        undecided = select(Decision.id).where(col(Decision.proposal_id) == col(Proposal.id))
        proposals = session.exec(
            select(func.count(col(Proposal.id))).where(
                ~undecided.exists(), col(Proposal.expires_at) > now
            )
        ).one()
        ending = _ending(session, now)
        moments = monitoring.rotated(session, now)
    key, at = min(moments.items(), key=lambda item: item[1])
    named = list(dict.fromkeys(ending))[:MOST_NAMED]
    return DutiesView(requests, proposals, len(ending), named, key, at)


def _ending(session: Session, now: datetime) -> list[str]:
    """Return the owners of tokens that end soon, each token once, the first to end first."""
    soon = now + timedelta(days=ENDING_DAYS)
    rows = session.exec(
        select(User.name)
        .join(Token, col(Token.user_id) == col(User.id))
        .where(
            col(User.disabled_at).is_(None),
            col(Token.revoked_at).is_(None),
            col(Token.expires_at) > now,
            col(Token.expires_at) <= soon,
        )
        .order_by(col(Token.expires_at))
    )
    return list(rows.all())
