"""Tell which requests are settled without a decision: their statistic was registered meanwhile.

An analyst may have registered it under an allowance, or an admin for another reason.  Nothing is
left to decide once everybody who requests it sees a query with its numbers.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, String, cast
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, exists, func, select

from penstock.persistence.tables.decided.requests import Asker, Request
from penstock.persistence.tables.people import Clearance, Tier
from penstock.persistence.tables.queries import Query, QueryLevel
from penstock.services.allowances.own_names import MARK
from penstock.services.requests import rows
from penstock.services.requests.rows import WITHDRAWN
from penstock.services.schemas.requests.views import RequestState

ACTIVE = "active"


def undecided_state(session: Session, askers: Sequence[Asker], query: Query | None) -> RequestState:
    """Return the state of a request that nobody decided, as admins see it.

    ``askers`` are those who did not withdraw it, and ``query`` is what it would lead to.
    """
    if not askers:
        return "withdrawn"
    if query is None or query.status != ACTIVE:
        return "open"
    sees = all(rows.sees(session, asker, query) for asker in askers)
    return "answered" if sees else "open"


def _waits() -> ColumnElement[bool]:
    """Return the condition that somebody who requests a statistic sees no query with it."""
    statistic, number = col(Request.canonical_hash), cast(col(Tier.id), String)
    hashes = select(statistic + MARK + number).select_from(Tier).correlate(Request)
    stored = col(Query.canonical_hash)
    of_request = select(Asker.id).where(col(Asker.request_id) == col(Request.id), ~WITHDRAWN)
    # Two conditions, each of which an index serves.
    unanswered = of_request.where(~_seen(stored == statistic), ~_seen(stored.in_(hashes)))
    return exists(unanswered.correlate(Request))


def _seen(same: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that an active query is the ``same``, and that an asker sees it."""
    level_tier, holder, newer = aliased(Tier), aliased(Tier), aliased(Clearance)
    last = (
        select(func.max(col(newer.version)))
        .where(col(newer.user_id) == col(Asker.user_id))
        .correlate(Asker)
        .scalar_subquery()
    )
    in_sight = (
        select(QueryLevel.id)
        .join(level_tier, col(QueryLevel.tier_id) == col(level_tier.id))
        .join(holder, col(level_tier.rank) <= col(holder.rank))
        .join(Clearance, col(Clearance.tier_id) == col(holder.id))
        .where(
            col(QueryLevel.query_id) == col(Query.id),
            col(level_tier.deleted_at).is_(None),
            col(Clearance.user_id) == col(Asker.user_id),
            col(Clearance.version) == last,
        )
        .correlate(Query, Asker)
    )
    active = select(Query.id).where(same, col(Query.status) == ACTIVE, exists(in_sight))
    return exists(active.correlate(Request, Asker))


WAITS = _waits()
"""The condition that a row of ``request``, unless it is decided, waits for admins."""
