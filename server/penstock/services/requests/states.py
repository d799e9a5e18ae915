"""Say in SQL in which state a request is, for lists of requests in one state.

``views`` says the same of one request.
"""

from sqlalchemy import ColumnElement
from sqlmodel import col, exists, false, select, true

from penstock.persistence.tables.decided.requests import Asker, Request, RequestDecision
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.allowances.own_names import MARK, RETIRED
from penstock.services.repository.queries import in_sight
from penstock.services.requests import settled
from penstock.services.requests.rows import WITHDRAWN
from penstock.services.schemas.requests.views import RequestState

DECIDED: tuple[RequestState, ...] = ("approved", "declined")


def in_state(state: RequestState | None) -> list[ColumnElement[bool]]:
    """Return the conditions for requests in one state, as admins see it."""
    if state is None:
        return []
    if state in DECIDED:
        return [_decided(state)]
    if state == "open":
        return [~_decided(), settled.WAITS]
    of_request = select(Asker.id).where(col(Asker.request_id) == col(Request.id), ~WITHDRAWN)
    active = exists(of_request)
    return [~_decided(), *([active, ~settled.WAITS] if state == "answered" else [~active])]


def own_in_state(
    state: RequestState | None, principal: Principal, limit: Tier | None
) -> list[ColumnElement[bool]]:
    """Return the conditions for requests in one state, as the person sees it who sent them."""
    if state is None:
        return []
    if state == "withdrawn":
        return [WITHDRAWN]
    seen = _visible_to(principal, limit)
    if state in DECIDED:
        led = _approved(seen)
        return [~WITHDRAWN, _decided(), led if state == "approved" else ~led]
    equal = _equal(limit, seen)
    return [~WITHDRAWN, ~_decided(), equal if state == "answered" else ~equal]


def _decided(outcome: str | None = None) -> ColumnElement[bool]:
    made = select(RequestDecision.id).where(col(RequestDecision.request_id) == col(Request.id))
    return exists(made if outcome is None else made.where(col(RequestDecision.outcome) == outcome))


def _visible_to(principal: Principal, limit: Tier | None) -> ColumnElement[bool]:
    """Return the condition that the caller sees a query."""
    if limit is not None:
        return in_sight(limit)
    return true() if principal.roles & {"admin", "auditor"} else false()


def _equal(limit: Tier | None, seen: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that a query that is seen, and not retired, equals a request."""
    statistic, stored = col(Request.canonical_hash), col(Query.canonical_hash)
    same = stored == statistic
    if limit is not None:
        same |= stored.startswith(statistic + MARK)
    return exists(select(Query.id).where(same, col(Query.status) != RETIRED, seen))


def _approved(seen: ColumnElement[bool]) -> ColumnElement[bool]:
    """Return the condition that a request was approved, and led to a query that is seen."""
    queries = select(Query.id).where(seen)
    led = col(RequestDecision.query_id).in_(queries)
    made = select(RequestDecision.id).where(col(RequestDecision.request_id) == col(Request.id))
    return exists(made.where(led))
