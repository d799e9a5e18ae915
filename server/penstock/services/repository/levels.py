"""Find the level that a tier has of a query, and the levels that tiers paid for."""

from collections.abc import Iterable

from sqlalchemy import bindparam
from sqlmodel import Session, col, select

from penstock.persistence.tables.ledger import Charge
from penstock.persistence.tables.people import Tier
from penstock.persistence.tables.queries import Query, QueryLevel

_GIVEN = select(QueryLevel).where(col(QueryLevel.query_id) == bindparam("query_id"))
_PAID = select(Charge).where(
    col(Charge.query_id) == bindparam("query_id"), col(Charge.tier_id) == bindparam("tier_id")
)
_LEVELS = (
    select(QueryLevel, Tier)
    .outerjoin(Tier, col(QueryLevel.tier_id) == col(Tier.id))
    .where(col(QueryLevel.query_id) == bindparam("query_id"))
    .order_by(col(QueryLevel.version))
)


def allowed_rung(session: Session, query: Query, tier: Tier) -> int | None:
    """Return the most accurate rung that a holder of ``tier`` may be given now.

    Only the newest level of each tier counts: lowering acts on the future.
    """
    return _allowed(list(_levels(session, query)), tier)


def allowed_rungs(
    session: Session, query: Query, tiers: Iterable[Tier]
) -> list[tuple[Tier, int | None]]:
    """Return ``allowed_rung`` for each of some tiers; the levels are read once."""
    levels = list(_levels(session, query))
    return [(tier, _allowed(levels, tier)) for tier in tiers]


def all_allowed_rungs(session: Session, tier: Tier) -> dict[int, int | None]:
    """Return ``allowed_rungs`` for all queries that have levels, by the query's key."""
    rows = session.exec(
        select(QueryLevel, Tier)
        .outerjoin(Tier, col(QueryLevel.tier_id) == col(Tier.id))
        .order_by(col(QueryLevel.version))
    ).all()
    levels: dict[int, list[tuple[QueryLevel, Tier | None]]] = {}
    for level, other in rows:
        levels.setdefault(level.query_id, []).append((level, other))
    return {key: _allowed(query_levels, tier) for key, query_levels in levels.items()}


def _allowed(levels: Iterable[tuple[QueryLevel, Tier | None]], tier: Tier) -> int | None:
    newest = {
        level.tier_id: level.rung
        for level, other in levels
        if other is not None and other.rank <= tier.rank and other.deleted_at is None
    }
    return min(newest.values(), default=None)


def _levels(session: Session, query: Query) -> Iterable[tuple[QueryLevel, Tier | None]]:
    """Return levels, oldest first; the tier is None if the row names none (an altered row)."""
    return session.exec(_LEVELS, params={"query_id": query.id})


def paid_rungs(session: Session, query: Query, tier: Tier) -> list[int]:
    """Return the rungs that a tier was charged for, in no order and with repetitions."""
    charges = session.exec(_PAID, params={"query_id": query.id, "tier_id": tier.id})
    return [charge.rung for charge in charges]


def given_rungs(session: Session, query: Query) -> set[int]:
    """Return the rungs that any tier was ever given as its own."""
    return {level.rung for level in session.exec(_GIVEN, params={"query_id": query.id})}
