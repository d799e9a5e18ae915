"""Charge effective levels: the most accurate level that each tier could ever be given.

A tier's effective level of a query is the most accurate of all tiers up to its own, over
all of history.  It never gets noisier.  The ledger is its record: it is the finest rung
that the tier was charged for.

If the levels of a query are independent draws, every one of them counts: a tier is charged once for
each level that it or a tier below it was ever allowed, and no charge is returned when it is allowed
less.  The rungs that it was charged for are these.

A deleted tier that had users keeps its place in the *ladder*: it is hidden, and is still charged
for what the tiers below it see, since its former users keep what they saw and may pool it.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select as core_select
from sqlmodel import Session, col, select

from penstock.accounting.charging.ledger import NOTHING, Entry
from penstock.persistence.row_authentication import authentic_row, signed_columns
from penstock.persistence.row_numbers import required
from penstock.persistence.tables.columns import metadata
from penstock.persistence.tables.datasets import Dataset
from penstock.persistence.tables.ledger import Charge
from penstock.persistence.tables.people import Clearance, Tier
from penstock.persistence.tables.queries import Query
from penstock.services.ledger.accounts import (
    TierAccount,
    append_charges,
    charges_to,
    open_account,
    require_room,
)
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.repository.levels import paid_rungs

# Built once, as in ``repository``.
_CLEARED = select(col(Clearance.tier_id)).where(col(Clearance.tier_id).is_not(None))
_LADDER = select(Tier).where(col(Tier.deleted_at).is_(None) | col(Tier.id).in_(_CLEARED))
_TIER = metadata.tables["tier"]
_DELETED = (
    core_select(*signed_columns(_TIER))
    .where(_TIER.c.deleted_at.is_not(None), _TIER.c.id.in_(_CLEARED))
    .limit(1)
)

Rungs = Mapping[int, int]
"""Rungs by the key of their tier."""


@dataclass(frozen=True)
class Charged:
    """Hold a tier's charges for a query, and their rungs, in the order of charges."""

    rungs: tuple[int, ...]
    sum: Entry

    def beside(self, rung: int, cost: Entry) -> "Charged":
        """Return the sum with one more charge; a corrected rung may be charged again."""
        rungs = self.rungs if rung in self.rungs else (*self.rungs, rung)
        return Charged(rungs, self.sum + cost)

    @property
    def rung(self) -> int:
        """Return the most accurate rung."""
        return min(self.rungs)


UNCHARGED = Charged((), NOTHING)


@dataclass(frozen=True)
class Due:
    """Hold a charge that is due."""

    account: TierAccount
    query: Query
    rung: int
    cost: Entry


DELETED_TIERS = _DELETED.exists()
"""Whether the ladder may have a tier that was deleted: ``counts_deleted_tiers`` checks its row."""


def place(tier: Tier) -> tuple[int, bool, datetime, int]:
    """Return a tier's sort key: its rank, and among equal ranks the newest last.

    A tier with the rank of a deleted one comes after it.
    """
    gone = tier.deleted_at or tier.created_at
    return tier.rank, tier.deleted_at is None, gone, required(tier.id)


def highest_ever(session: Session, user_ids: Sequence[int]) -> Tier | None:
    """Return the most trusted tier that any of the users holds or ever held."""
    return max(highest_of_each(session, user_ids).values(), key=place, default=None)


def highest_of_each(session: Session, user_ids: Sequence[int]) -> dict[int, Tier]:
    """Return the most trusted tier that each of the users holds or ever held, by user.

    Users who never held one are left out.
    """
    rows = session.exec(
        select(Clearance, Tier)
        .join(Tier, col(Clearance.tier_id) == col(Tier.id))
        .where(col(Clearance.user_id).in_(user_ids))
    ).all()
    highest: dict[int, Tier] = {}
    for clearance, tier in rows:
        highest[clearance.user_id] = max(highest.get(clearance.user_id, tier), tier, key=place)
    return highest


def ladder(session: Session) -> list[Tier]:
    """Return all tiers that count, including deleted ones that had users, least trusted first."""
    return sorted(session.exec(_LADDER).all(), key=place)


def counts_deleted_tiers(session: Session) -> bool:
    """Return True if the ladder has a tier that was deleted."""
    row = session.connection().execute(_DELETED).first()
    return row is not None and authentic_row(session, "tier", row) is not None


def effective_rungs(session: Session, query: Query, tier: Tier) -> list[int]:
    """Return the rungs that a tier is charged for, most accurate first.

    One rung, or all rungs if the query's levels are independent draws.
    """
    return kind_of(query).levels.telling(paid_rungs(session, query, tier))


def charged_rungs(session: Session, dataset_id: int, tier: Tier) -> dict[int, list[int]]:
    """Return by query key all rungs that a tier is charged for."""
    charges = session.exec(charges_to(dataset_id, tier))
    rungs: dict[int, list[int]] = {}
    for charge in charges:
        rungs.setdefault(charge.query_id, []).append(charge.rung)
    return rungs


def recharge(
    session: Session,
    dataset: Dataset,
    queries: Sequence[Query],
    at: datetime,
    *,
    allowed: Mapping[int, Rungs] | None = None,
) -> None:
    """Charge every tier for the effective levels that it now has of ``queries``.

    ``allowed`` is that of ``due``.  Raises ``BudgetExhausted`` unless every account has room; then
    nothing may be committed.
    """
    dues = due(session, dataset, queries, allowed=allowed)
    _pay(session, required(dataset.id), dues, at)


def due(
    session: Session,
    dataset: Dataset,
    queries: Sequence[Query],
    *,
    allowed: Mapping[int, Rungs] | None = None,
) -> list[Due]:
    """Return the charges still missing for the effective levels that tiers have of ``queries``.

    ``allowed`` has, by query, rungs that tiers are about to be given.  A tier is also charged for
    what the tiers below it were charged for.
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
    return dues


def charged_for(
    session: Session, dataset: Dataset, queries: Sequence[Query]
) -> dict[tuple[int, int], Charged]:
    """Return the charges so far, by the keys of tier and query."""
    statement = select(Charge).where(col(Charge.dataset_id) == dataset.id).order_by(col(Charge.seq))
    if len(queries) == 1:
        statement = statement.where(col(Charge.query_id) == queries[0].id)
    charged: dict[tuple[int, int], Charged] = {}
    for row in session.exec(statement).all():
        key = row.tier_id, row.query_id
        charged[key] = charged.get(key, UNCHARGED).beside(row.rung, Entry(row.loss, row.failure))
    return charged


def price(query: Query, account: TierAccount, known: Charged | None, rung: int) -> Entry:
    """Return the charge for ``rung`` of a query on top of what the account was charged before."""
    charged = None if known is None else (known.rung, known.sum)
    kind = kind_of(query)
    return kind.levels.price(
        rung, account.account, kind.charged_numbers(query), query.max_levels, charged
    )


def from_nothing(query: Query, account: TierAccount, rungs: Sequence[int]) -> Entry:
    """Return the charge for ``rungs`` of a query, one after another, priced from nothing.

    It does not depend on earlier charges: only on the present account, and on the rungs in the
    order in which the tier came to see them.
    """
    known: Charged | None = None
    for rung in rungs:
        known = (known or UNCHARGED).beside(rung, price(query, account, known, rung))
    return (known or UNCHARGED).sum


def _dues(
    query: Query,
    tiers: Sequence[Tier],
    accounts: Mapping[int, TierAccount],
    before: Mapping[int, Charged],
    allowed: Rungs,
) -> Iterable[Due]:
    levels = kind_of(query).levels
    reached: list[int] = []
    for tier in tiers:
        key = required(tier.id)
        known = before.get(key)
        paid = known.rungs if known else ()
        own = {allowed[key]} if key in allowed else set()
        reached = levels.telling({*reached, *paid, *own})
        if key in accounts:
            for rung in reached:
                if rung not in paid:
                    cost = price(query, accounts[key], known, rung)
                    yield Due(accounts[key], query, rung, cost)


def _pay(session: Session, dataset_id: int, dues: Sequence[Due], at: datetime) -> None:
    require_room(session, dataset_id, [(due.account, due.cost) for due in dues])
    append_charges(
        session,
        [(due.account, required(due.query.id), due.rung, due.cost) for due in dues],
        dataset_id=dataset_id,
        at=at,
    )
    session.flush()
