"""Tell which requests are settled without a decision: their statistic was registered meanwhile.

An analyst may have registered it under an allowance, or an admin for another reason.  Nothing is
left to decide once everybody who requests it sees a query with its numbers.
"""

from collections.abc import Sequence

from sqlalchemy import ColumnElement, String, cast
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, exists, func, or_, select

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
    level_tier, holder, newer = aliased(Tier), aliased(Tier), aliased(Clearance)
    statistic, number = col(Request.canonical_hash), cast(col(Tier.id), String)
    hashes = select(statistic + MARK + number).select_from(Tier).correlate(Request)
    stored = col(Query.canonical_hash)
    last = (
        select(func.max(col(newer.version)))
        .where(col(newer.user_id) == col(Asker.user_id))
        .correlate(Asker)
        .scalar_subquery()
    )
    answer = (
        select(Query.id)
        .join(QueryLevel, col(QueryLevel.query_id) == col(Query.id))
        .join(level_tier, col(QueryLevel.tier_id) == col(level_tier.id))
        .join(holder, col(level_tier.rank) <= col(holder.rank))
        .join(Clearance, col(Clearance.tier_id) == col(holder.id))
        .where(
            or_(stored == statistic, stored.in_(hashes)),
            col(Query.status) == ACTIVE,
            col(level_tier.deleted_at).is_(None),
            col(Clearance.user_id) == col(Asker.user_id),
            col(Clearance.version) == last,
        )
        .correlate(Request, Asker)
    )
    of_request = select(Asker.id).where(col(Asker.request_id) == col(Request.id))
    return exists(of_request.where(~WITHDRAWN, ~exists(answer)).correlate(Request))


WAITS = _waits()
"""The condition that a row of ``request``, unless it is decided, waits for admins."""
