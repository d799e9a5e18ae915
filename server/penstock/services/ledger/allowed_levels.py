"""Store the levels that tiers are allowed: rungs in versions, the newest of which counts.

A tier may be given what it is allowed from now on; it is charged for all that it was ever allowed
(``effective_levels``).  Each tier that sees a query has a rung, never noisier than those of the
tiers below it.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from penstock.errors import LevelsUsedUp
from penstock.persistence.row_authentication import store_signed
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, QueryLevel, Release
from penstock.services.access.admin_actions import Exposure, exposure_of
from penstock.services.access.principals import Principal
from penstock.services.ledger.effective_levels import Rungs
from penstock.services.ledger.logged_levels import level_leaves
from penstock.services.repository.levels import given_rungs
from penstock.transparency_log.leaves import AppendedLeaf, append_all

_VERSIONS = (
    select(QueryLevel)
    .where(col(QueryLevel.query_id) == bindparam("query_id"))
    .order_by(col(QueryLevel.version))
)


def newest(session: Session, queries: Sequence[Query]) -> dict[int, dict[int, int]]:
    """Return by query and tier the rung that each tier was last allowed."""
    statement = select(QueryLevel).order_by(col(QueryLevel.version))
    if len(queries) == 1:
        statement = statement.where(col(QueryLevel.query_id) == queries[0].id)
    rungs: dict[int, dict[int, int]] = {required(query.id): {} for query in queries}
    for row in session.exec(statement).all():
        if row.query_id in rungs:
            rungs[row.query_id][row.tier_id] = row.rung
    return rungs


def risen(tiers: Sequence[Tier], own: Rungs) -> dict[int, int]:
    """Return ``own`` with no tier noisier than those below it.

    ``tiers`` are those that the caller sees, least trusted first.
    """
    reached: int | None = None
    levels: dict[int, int] = {}
    for tier in tiers:
        rungs = [rung for rung in (reached, own.get(required(tier.id))) if rung is not None]
        if rungs:
            reached = min(rungs)
            levels[required(tier.id)] = reached
    return levels


def require_levels(session: Session, query: Query, rungs: Rungs) -> None:
    """Raise ``LevelsUsedUp`` if ``rungs`` and all levels so far are more than were charged for."""
    drawn = select(Release.rung).where(col(Release.query_id) == query.id)
    known = set(session.exec(drawn).all()) | given_rungs(session, query)
    count = len(known | set(rungs.values()))
    if count > query.max_levels and not set(rungs.values()) <= known:
        raise LevelsUsedUp(
            f"Query {query.readable!r} would have {count} levels, and was registered for"
            f" {query.max_levels}; choose levels that it has already."
        )


def allow(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    rungs: Rungs,
    at: datetime,
) -> None:
    """Append the next version of each tier's rung that is not its newest, and its leaf."""
    rows = session.exec(_VERSIONS, params={"query_id": query.id}).all()
    before = {row.tier_id: (row.version, row.rung) for row in rows}
    changed = {key: rung for key, rung in rungs.items() if before.get(key, (0, None))[1] != rung}
    if changed:
        versions = {key: before.get(key, (0, None))[0] + 1 for key in changed}
        _store(session, principal, query, changed, versions, at)
        exposure = exposure_of(session, principal, dataset)
        names = {key: session.get_one(Tier, key).name for key in changed}
        append_all(
            session,
            level_leaves(session, principal, dataset, query, changed, names, at, exposure),
        )


def allow_first(
    session: Session,
    principal: Principal,
    dataset: Dataset,
    query: Query,
    rungs: Rungs,
    names: Mapping[int, str],
    at: datetime,
    exposure: Exposure,
) -> list[AppendedLeaf]:
    """Store the first rungs of a query that was just stored; return the leaves to append.

    ``names`` are those of the tiers.
    """
    _store(session, principal, query, rungs, dict.fromkeys(rungs, 1), at)
    return level_leaves(session, principal, dataset, query, rungs, names, at, exposure)


def _store(
    session: Session,
    principal: Principal,
    query: Query,
    rungs: Rungs,
    versions: Mapping[int, int],
    at: datetime,
) -> None:
    rows = [
        {
            "query_id": required(query.id),
            "tier_id": key,
            "version": versions[key],
            "rung": rung,
            "at": at,
            "by": principal.name,
        }
        for key, rung in rungs.items()
    ]
    store_signed(session, QueryLevel, rows)
