"""Find the rows of requests, for those who may see them.

A person is shown what they sent, under an identifier of its own.  That others requested the same
statistic is shown to admins alone: it may tell what they had read.
"""

import json
from collections.abc import Sequence

from sqlalchemy import ColumnElement
from sqlmodel import Session, col, exists, select

from penstock.connectors.planning.refusals import checked
from penstock.errors import Conflict, InvalidInput, NotFound
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.decided.requests import Asker, Request, RequestDecision, Withdrawal
from penstock.persistence.tables.people import Tier, User
from penstock.persistence.tables.queries import Query
from penstock.services.access.principals import Principal
from penstock.services.allowances.own_names import MARK, RETIRED, shown_name
from penstock.services.context import Server
from penstock.services.datasets.datasets import visible_dataset
from penstock.services.ledger.charges import registered_already
from penstock.services.noise.keys import require_not_shredded
from penstock.services.queries.exact_answers import planned_on
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.repository.people import clearance_of
from penstock.services.repository.queries import in_sight
from penstock.services.schemas.queries import SpecRequest

_OF_ASKER = select(Withdrawal.id).where(col(Withdrawal.asker_id) == col(Asker.id))
WITHDRAWN: ColumnElement[bool] = exists(_OF_ASKER)
"""The condition that what a row of ``asker`` holds was withdrawn."""


def sees_all(principal: Principal) -> bool:
    """Return True for callers who see the requests of everybody."""
    return "admin" in principal.roles


def asker_row(session: Session, principal: Principal, public_id: str) -> Asker:
    """Return what somebody sent, for that person and for admins.

    Raises ``NotFound``, with one text for missing ones and for those of others.
    """
    row = session.exec(select(Asker).where(col(Asker.public_id) == public_id)).first()
    if row is None or not (sees_all(principal) or row.user_id == principal.user_id):
        raise NotFound(f"There is no request {public_id!r}.")
    return row


def decision_of(session: Session, request_id: int) -> RequestDecision | None:
    """Return the decision on a request, if there is one."""
    row = select(RequestDecision).where(col(RequestDecision.request_id) == request_id)
    return session.exec(row).one_or_none()


def is_withdrawn(session: Session, asker: Asker) -> bool:
    """Return True if the person withdrew it."""
    row = select(Withdrawal).where(col(Withdrawal.asker_id) == asker.id)
    return session.exec(row).first() is not None


def askers_of(session: Session, request_id: int) -> Sequence[Asker]:
    """Return all that was sent for a request, the first one first."""
    rows = select(Asker).where(col(Asker.request_id) == request_id).order_by(col(Asker.id))
    return session.exec(rows).all()


def active_askers(session: Session, request_id: int) -> list[Asker]:
    """Return what was sent for a request and not withdrawn, the first one first."""
    rows = askers_of(session, request_id)
    return [row for row in rows if not is_withdrawn(session, row)]


def name_of(session: Session, asker: Asker) -> str:
    """Return the name of the person who sent it."""
    return session.get_one(User, asker.user_id).name


def tier_of(session: Session, asker: Asker) -> Tier | None:
    """Return the tier that the person who sent it holds now."""
    return clearance_of(session, asker.user_id)


def newest(session: Session, canonical_hash: str) -> Request | None:
    """Return the newest request of a statistic, decided or not."""
    rows = select(Request).where(col(Request.canonical_hash) == canonical_hash)
    return session.exec(rows.order_by(col(Request.turn).desc()).limit(1)).first()


def same_statistic(
    session: Session, canonical_hash: str, limit: Tier | None = None
) -> Query | None:
    """Return the registered query that is a statistic, unless it is hidden from ``limit``.

    With ``limit`` it may be one that an analyst registered under an allowance; without, it is that
    of admins, beside which there may be some of analysts at their own tiers.  One that is retired
    comes last.
    """
    same = col(Query.canonical_hash) == canonical_hash
    statement = select(Query).order_by(col(Query.status) == RETIRED, col(Query.id))
    if limit is None:
        return session.exec(statement.where(same)).first()
    of_analysts = col(Query.canonical_hash).startswith(canonical_hash + MARK)
    return session.exec(statement.where(same | of_analysts, in_sight(limit))).first()


def registered(session: Session, canonical_hash: str, askers: Sequence[Asker]) -> Query | None:
    """Return the query that a request would lead to.

    It is one that all who request it see, also if an analyst registered it, or else that of admins.
    """
    tiers = [tier_of(session, asker) for asker in askers]
    holders = [tier for tier in tiers if tier is not None]
    query = None
    if holders and len(holders) == len(tiers):
        lowest = min(holders, key=lambda tier: tier.rank)
        query = same_statistic(session, canonical_hash, lowest)
    return query or same_statistic(session, canonical_hash)


def retired(session: Session, query: Query | None, limit: Tier | None) -> Conflict | None:
    """Return the refusal of a request that equals a retired query; ``None`` for others."""
    if query is None or query.status != RETIRED:
        return None
    return registered_already(shown_name(session, query, limit), retired=True)


def answers(session: Session, canonical_hash: str, limit: Tier | None) -> bool:
    """Return True if a request is answered by a query that ``limit`` sees."""
    query = None if limit is None else same_statistic(session, canonical_hash, limit)
    return query is not None and query.status != RETIRED


def sees(session: Session, asker: Asker, query: Query) -> bool:
    """Return True if the person who sent it sees a query now, as an analyst."""
    tier = tier_of(session, asker)
    if tier is None:
        return False
    seen = select(Query.id).where(col(Query.id) == required(query.id), in_sight(tier))
    return session.exec(seen).first() is not None


def spec_request(text: str) -> SpecRequest:
    """Return a stored spec as the request that registers it.  Raises ``InvalidInput``."""
    request: SpecRequest = checked(SpecRequest, json.loads(text))
    return request


def require_version(dataset: str, version: int, charged: int) -> None:
    """Raise ``Conflict`` if a request is for another version than would be charged."""
    if version != charged:
        raise Conflict(
            f"This request is for version {version} of dataset {dataset!r}, and queries are"
            f" registered for version {charged} now, which has budgets of its own: it cannot be"
            f" approved. Whoever needs the query requests it again, for version {charged}."
        )


def outdated(
    server: Server, session: Session, reader: Principal | None, request: Request, asker: Asker
) -> str | None:
    """Return why an open request cannot be approved any more, or ``None`` if it can.

    That is if its dataset has a newer version, another declaration, or no data any more. Without
    ``reader`` it is for admins.
    """
    dataset = session.get_one(Dataset, request.dataset_id)
    try:
        if reader is None:
            newest = dataset_by_name(session, dataset.name)
        else:
            newest = visible_dataset(session, reader, dataset.name)
        require_not_shredded(newest)
        require_version(dataset.name, dataset.version, newest.version)
        if newest.declaration is not None:
            sent = spec_request(asker.spec)
            require_as_requested(server, newest, sent, request)
    except (Conflict, InvalidInput, NotFound) as problem:
        return problem.detail
    return None


def require_as_requested(
    server: Server, dataset: Dataset, sent: SpecRequest, request: Request
) -> None:
    """Raise ``Conflict`` if a spec is another statistic than when it was requested."""
    if planned_on(server, dataset, sent).canonical_hash != request.canonical_hash:
        raise other_statistic(dataset.name)


def other_statistic(dataset: str) -> Conflict:
    """Return the refusal of a request under a former declaration of its dataset."""
    return Conflict(
        f"The declaration of dataset {dataset!r} was corrected since, so that this is another"
        " statistic: it cannot be approved. Whoever needs it requests it again."
    )


def require_undecided(session: Session, request_id: int) -> None:
    """Raise ``Conflict`` if the request is decided."""
    decision = decision_of(session, request_id)
    if decision is not None:
        raise Conflict(f"The request is {decision.outcome} already, by {decision.by}.")
