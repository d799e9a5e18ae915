"""Effective levels: the most accurate that a tier could ever be given, which it pays for.

A tier's effective level of a query is the most accurate of all tiers up to its own, over
all of history.  It never gets noisier.  The ledger is its record: it is the finest rung
that the tier was charged for.

A tier that people once held and that was deleted keeps its place in the *ladder*: it is
out of sight, and goes on paying for what those below it see, since its former holders
keep what they saw and may pool it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy import bindparam
from sqlmodel import Session, col, func, select

from penstock.accounting import Entry, raising
from penstock.persistence.tables import Charge, Clearance, Dataset, Query, Tier
from penstock.services.accounts import TierAccount, append_charge, open_account, require_room
from penstock.services.lookup import required
from penstock.services.process import Process

Rungs = Mapping[int, int]
"""Rungs by the key of their tier."""

_EFFECTIVE = select(func.min(col(Charge.rung))).where(
    col(Charge.query_id) == bindparam("query_id"), col(Charge.tier_id) == bindparam("tier_id")
)


@dataclass(frozen=True)
class Charged:
    """What a tier was charged for a query until now, and up to which rung."""

    rung: int
    sum: Entry


@dataclass(frozen=True)
class Due:
    """A charge that is to be made."""

    account: TierAccount
    query: Query
    rung: int
    cost: Entry


def place(tier: Tier) -> tuple[int, bool, datetime, int]:
    """What orders the ladder: the rank, and among equal ranks the newest last.

    A tier that took the rank of a deleted one stands above it.
    """
    gone = tier.deleted_at or tier.created_at
    return tier.rank, tier.deleted_at is None, gone, required(tier.id)


def ladder(session: Session) -> list[Tier]:
    """All tiers that count, deleted ones that were held included, least trusted first."""
    held = select(col(Clearance.tier_id)).where(col(Clearance.tier_id).is_not(None))
    tiers = session.exec(
        select(Tier).where(col(Tier.deleted_at).is_(None) | col(Tier.id).in_(held))
    ).all()
    return sorted(tiers, key=place)


def effective_rung(session: Session, query: Query, tier: Tier) -> int | None:
    """The rung that a tier is charged for; ``None`` where it could never see the query."""
    return session.exec(_EFFECTIVE, params={"query_id": query.id, "tier_id": tier.id}).one()


def recharge(
    session: Session,
    dataset: Dataset,
    queries: Sequence[Query],
    at: datetime,
    *,
    allowed: Mapping[int, Rungs] | None = None,
) -> None:
    """Charge every tier the effective levels that it now has of ``queries``.

    ``allowed`` has, by query, rungs that tiers are about to be given.  What tiers below a
    tier were charged for is its own to pay as well.  Raises ``BudgetExhausted``, and then
    nothing may be kept, unless every account has room.
    """
    tiers = ladder(session)
    accounts = {
        required(tier.id): account
        for tier in tiers
        if (account := open_account(session, required(dataset.id), tier)) is not None
    }
    charged = charged_for(session, dataset, queries)
    dues: list[Due] = []
    for query in queries:
        key = required(query.id)
        before = {tier: charged[tier, key] for tier in accounts if (tier, key) in charged}
        dues += _dues(query, tiers, accounts, before, (allowed or {}).get(key, {}))
    _pay(session, required(dataset.id), dues, at)


def charged_for(
    session: Session, dataset: Dataset, queries: Sequence[Query]
) -> dict[tuple[int, int], Charged]:
    """What was charged until now, by the keys of tier and query."""
    statement = select(Charge).where(col(Charge.dataset_id) == dataset.id)
    if len(queries) == 1:
        statement = statement.where(col(Charge.query_id) == queries[0].id)
    found: dict[tuple[int, int], Charged] = {}
    for row in session.exec(statement).all():
        key, cost = (row.tier_id, row.query_id), Entry(row.loss, row.failure)
        known = found.get(key)
        found[key] = (
            Charged(min(known.rung, row.rung), known.sum + cost)
            if known
            else Charged(row.rung, cost)
        )
    return found


def _dues(
    query: Query,
    tiers: Sequence[Tier],
    accounts: Mapping[int, TierAccount],
    before: Mapping[int, Charged],
    allowed: Rungs,
) -> Iterable[Due]:
    reached: int | None = None
    for tier in tiers:
        key = required(tier.id)
        known = before.get(key)
        own = [reached, known.rung if known else None, allowed.get(key)]
        reached = min((rung for rung in own if rung is not None), default=None)
        if key in accounts and reached is not None and (known is None or reached < known.rung):
            cost = _price(query, accounts[key], known, reached)
            yield Due(accounts[key], query, reached, cost)


def _price(query: Query, account: TierAccount, known: Charged | None, rung: int) -> Entry:
    process = Process.of(query)
    if known is None:
        return process.price(rung, account.account, query.dimension, query.max_levels)
    return raising(
        process.mechanism,
        process.ladder,
        charged=known.sum,
        old=process.ladder.value(known.rung),
        new=process.ladder.value(rung),
        sensitivity=process.sensitivity,
        account=account.account,
        dimension=query.dimension,
        levels=query.max_levels,
    )


def _pay(session: Session, dataset_id: int, dues: Sequence[Due], at: datetime) -> None:
    accounts = {required(due.account.tier.id): due.account for due in dues}
    totals = dict.fromkeys(accounts, Entry(0, 0))
    for due in dues:
        totals[required(due.account.tier.id)] += due.cost
    require_room(session, dataset_id, [(accounts[key], totals[key]) for key in accounts])
    for due in dues:
        key = required(due.account.tier.id)
        account = accounts[key]
        append_charge(
            session,
            account,
            due.cost,
            dataset_id=dataset_id,
            query_id=required(due.query.id),
            rung=due.rung,
            at=at,
        )
        accounts[key] = replace(
            account, spent=account.spent + due.cost, entries=account.entries + 1
        )
    session.flush()
