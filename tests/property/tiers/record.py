"""Define what is remembered of a server beside it, and held against its ledger and its answers.

Nothing here asks the server what a tier pays for: effective levels, running totals and what
people could fetch are worked out again from what happened.
"""

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from sqlmodel import Session, SQLModel, col, func, select
from tests.support import priced

from penstock.accounting import (
    Account,
    Entry,
    PlacedRelease,
    account_of,
    charge,
    composed_epsilon,
    entry,
    limit_of,
    raising,
)
from penstock.persistence.tables import (
    Charge,
    Clearance,
    Leaf,
    Query,
    QueryLevel,
    Release,
    Tier,
    TierBudget,
    User,
)
from penstock.services.noise.kinds.choice import kind_of
from penstock.services.repository.levels import allowed_rung

HISTORY: Sequence[type[SQLModel]] = (Charge, Clearance, Leaf, QueryLevel, Release, TierBudget)


Vector = NDArray[np.float64]
Pair = tuple[int, int]


@dataclass
class Facts:
    """Hold the rows of one moment."""

    tiers: list[Tier]
    queries: dict[int, Query]
    budgets: dict[int, TierBudget]
    charges: dict[int, list[Charge]]
    own: dict[Pair, int]
    releases: list[Release]
    holds: dict[int, list[int | None]]

    @classmethod
    def read(cls, session: Session) -> "Facts":
        """Read all rows, only from the tables."""
        charges: dict[int, list[Charge]] = {}
        for row in session.exec(select(Charge).order_by(col(Charge.seq))).all():
            charges.setdefault(row.tier_id, []).append(row)
        holds: dict[int, list[int | None]] = {}
        for held in session.exec(select(Clearance).order_by(col(Clearance.version))).all():
            holds.setdefault(held.user_id, []).append(held.tier_id)
        versions = session.exec(select(TierBudget).order_by(col(TierBudget.version))).all()
        levels = session.exec(select(QueryLevel).order_by(col(QueryLevel.version))).all()
        return cls(
            tiers=list(session.exec(select(Tier)).all()),
            queries={query.id or 0: query for query in session.exec(select(Query)).all()},
            budgets={row.tier_id: row for row in versions},
            charges=charges,
            own={(row.tier_id, row.query_id): row.rung for row in levels},
            releases=list(session.exec(select(Release)).all()),
            holds=holds,
        )

    def standing(self) -> list[Tier]:
        """Return tiers from the least trusted on, with deleted ones that were held in place."""
        held = {tier for tiers in self.holds.values() for tier in tiers}
        kept = [tier for tier in self.tiers if tier.deleted_at is None or tier.id in held]
        alive = [tier for tier in kept if tier.deleted_at is None]
        gone = sorted(
            (tier for tier in kept if tier.deleted_at is not None),
            key=lambda tier: str(tier.deleted_at),
        )
        return sorted([*gone, *alive], key=lambda tier: tier.rank)


@dataclass
class Record:
    """Remember what was seen so far.  ``check`` is called after everything that was tried."""

    effective: dict[Pair, frozenset[int]] = field(default_factory=dict)
    reachable: dict[Pair, frozenset[int]] = field(default_factory=dict)
    orders: dict[int, float] = field(default_factory=dict)
    highest: dict[int, float] = field(default_factory=dict)
    prices: dict[tuple[int, Account, tuple[int, ...]], Entry] = field(default_factory=dict)
    replayed: dict[int, list[tuple[int, int, int, int]]] = field(default_factory=dict)
    sealed: dict[Pair, str] = field(default_factory=dict)
    vectors: dict[tuple[str, float], Vector] = field(default_factory=dict)

    def check(self, session: Session) -> Facts:
        """Hold the server's rows against everything that was remembered."""
        facts = Facts.read(session)
        standing = facts.standing()
        self._grow(facts, standing)
        self._replay(facts, standing)
        self._keep_accounts(facts, standing)
        self._keep_releases(facts)
        self._reach(session, facts, standing)
        return facts

    def given(self, facts: Facts, user: int, query: str, level: float, values: Vector) -> None:
        """Require that a level is one vector forever and for all, and nobody gets a finer one."""
        known = self.vectors.setdefault((query, level), values)
        np.testing.assert_array_equal(values, known)
        key = next(key for key, row in facts.queries.items() if row.name == query)
        assert (user, key) in self.reachable
        process, rungs = kind_of(facts.queries[key]), self.reachable[user, key]
        if is_lossless(facts.queries[key]):
            assert level >= process.level(min(rungs)).value
        else:
            assert level in {process.level(rung).value for rung in rungs}

    def _grow(self, facts: Facts, standing: Sequence[Tier]) -> None:
        """Extend effective levels: those so far, of a tier and of all that stand below it.

        Of lossless levels the finest says all.
        """
        for query, row in facts.queries.items():
            reached: frozenset[int] = frozenset()
            for tier in standing:
                key = (tier.id or 0, query)
                reached |= self.effective.get(key, frozenset())
                if tier.deleted_at is None and key in facts.own:
                    reached |= {facts.own[key]}
                if reached:
                    reached = self.effective[key] = _telling(row, reached)

    def _replay(self, facts: Facts, standing: Sequence[Tier]) -> None:
        """Require that each charge is what the rule demands, and no effective level is free."""
        before = {tier: list(rows) for tier, rows in self.replayed.items()}
        for place, tier in enumerate(standing):
            key = tier.id or 0
            rows = facts.charges.get(key, [])
            known = self.replayed.get(key, [])
            if key not in self.orders and key in facts.budgets and place:
                lower = [one.id or 0 for one in standing[:place] if one.id in facts.budgets]
                # A new account begins as a copy of the next lower one.
                known = before.get(lower[-1], []) if lower else []
                if lower:
                    self.highest[key] = self.highest[lower[-1]]
            account = self._account(facts, key)
            for row in rows[len(known) :]:
                assert account is not None
                known = [*known, self._priced(facts.queries[row.query_id], row, known, account)]
            assert [(row.query_id, row.rung, row.loss, row.failure) for row in rows] == known
            self.replayed[key] = known
            charged: dict[int, frozenset[int]] = {}
            for query, rung, *_ in known:
                rungs = charged.get(query, frozenset()) | {rung}
                charged[query] = _telling(facts.queries[query], rungs)
            expected = {q: rungs for (t, q), rungs in self.effective.items() if t == key}
            assert account is None or charged == expected
            if account is not None:
                self._price_from_nothing(facts, account, known)

    def _account(self, facts: Facts, tier: int) -> Account | None:
        """Return the account that prices a tier's queries: at the largest budget it ever had."""
        budget = facts.budgets.get(tier)
        if budget is None:
            return None
        ever = self.highest[tier] = max(budget.epsilon, self.highest.get(tier, 0.0))
        return account_of(ever, budget.delta, budget.order)

    def _price_from_nothing(
        self, facts: Facts, account: Account, known: Sequence[tuple[int, int, int, int]]
    ) -> None:
        """Require that every query is charged as if all were priced now, whatever came before."""
        for query in {one[0] for one in known}:
            rows = [one for one in known if one[0] == query]
            rungs = tuple(dict.fromkeys(rung for _, rung, *_ in rows))
            charged = Entry(sum(one[2] for one in rows), sum(one[3] for one in rows))
            if (query, account, rungs) not in self.prices:
                fresh = priced.priced(facts.queries[query], account, rungs)
                self.prices[query, account, rungs] = fresh
            assert charged == self.prices[query, account, rungs]

    @staticmethod
    def _priced(
        query: Query, row: Charge, known: Sequence[tuple[int, int, int, int]], account: Account
    ) -> tuple[int, int, int, int]:
        process = kind_of(query)
        level = process.ladder.value(row.rung)
        earlier = [one for one in known if one[0] == row.query_id]
        if row.rung in {rung for _, rung, *_ in earlier}:
            # A difference to what a larger budget makes of it, which is held to the sum.
            return row.query_id, row.rung, row.loss, row.failure
        if not earlier or not is_lossless(query):
            cost = charge(
                process.mechanism,
                process.ladder,
                level,
                process.sensitivity,
                account,
                query.dimension,
                query.max_levels,
            )
            new = entry(cost)
        else:
            new = raising(
                process.mechanism,
                process.ladder,
                charged=Entry(sum(one[2] for one in earlier), sum(one[3] for one in earlier)),
                old=process.ladder.value(min(one[1] for one in earlier)),
                new=level,
                sensitivity=process.sensitivity,
                account=account,
                dimension=query.dimension,
                level_count=query.max_levels,
            )
        return row.query_id, row.rung, new.loss, new.failure

    def _keep_accounts(self, facts: Facts, standing: Sequence[Tier]) -> None:
        """Require that totals are sums, orders stay, none is overdrawn, budgets rise with rank."""
        last = 0.0
        for tier in standing:
            key = tier.id or 0
            account = _account(facts, key)
            if account is None:
                assert key not in facts.charges
                continue
            assert self.orders.setdefault(key, account.order) == account.order
            assert account.epsilon >= last
            last = account.epsilon
            rows = facts.charges.get(key, [])
            assert [row.seq for row in rows] == list(range(len(rows)))
            for column in ("loss", "failure"):
                running = itertools.accumulate(getattr(row, column) for row in rows)
                totals = [getattr(row, f"{column}_total") for row in rows]
                assert totals == list(running)
                limit = getattr(limit_of(account), column)
                assert not totals or totals[-1] <= limit

    def _keep_releases(self, facts: Facts) -> None:
        for row in facts.releases:
            digest = hashlib.sha256(row.ciphertext).hexdigest()
            assert self.sealed.setdefault((row.query_id, row.rung), digest) == digest
        per_query: dict[int, set[int]] = {}
        for row in facts.releases:
            per_query.setdefault(row.query_id, set()).add(row.rung)
        for query, rungs in per_query.items():
            assert min(rungs) == facts.queries[query].ceiling
            if not is_lossless(facts.queries[query]):
                paid = [own for (_, key), own in self.effective.items() if key == query]
                assert rungs == set().union(*paid)
            assert len(rungs) <= facts.queries[query].max_levels

    def _reach(self, session: Session, facts: Facts, standing: Sequence[Tier]) -> None:
        """Require that the highest of people's tiers pays for all they could fetch together."""
        places = {tier.id: place for place, tier in enumerate(standing)}
        by_id = {tier.id: tier for tier in standing}
        for user, held in facts.holds.items():
            tier = by_id.get(held[-1])
            for key, query in facts.queries.items():
                rung = allowed_rung(session, query, tier) if tier is not None else None
                if tier is None or rung is None:
                    continue
                now = {rung}
                if not is_lossless(query):
                    paid = self.effective[tier.id or 0, key]
                    assert rung in paid
                    now = {one for one in paid if one >= rung}
                before = self.reachable.get((user, key), frozenset())
                self.reachable[user, key] = _telling(query, before | now)
        highest = {
            user: max((places[tier] for tier in held if tier is not None), default=-1)
            for user, held in facts.holds.items()
        }
        for user, seen in self.reachable:
            for place in highest.values():
                top = standing[max(place, highest[user])].id or 0
                paid, ever = self.effective[top, seen], self.reachable[user, seen]
                if is_lossless(facts.queries[seen]):
                    assert min(paid) <= min(ever)
                else:
                    assert ever <= paid

    def composed(self, facts: Facts, users: Sequence[User], delta: float) -> float:
        """Return the tight epsilon of all that ``users`` could ever fetch together."""
        ever: dict[int, frozenset[int]] = {}
        for (user, query), rungs in self.reachable.items():
            if user in {one.id for one in users}:
                known = ever.get(query, frozenset())
                ever[query] = _telling(facts.queries[query], known | rungs)
        placed = [
            _placed(facts.queries[key], rung) for key, rungs in ever.items() for rung in rungs
        ]
        return composed_epsilon(placed, delta)


def lengths(session: Session) -> list[int]:
    """Return how long each table of history is."""
    counts = (select(func.count()).select_from(table) for table in HISTORY)
    return [session.exec(count).one() for count in counts]


def is_lossless(query: Query) -> bool:
    """Return whether the finest of several levels says all."""
    return query.mechanism != "generalized_gaussian"


def _telling(query: Query, rungs: frozenset[int]) -> frozenset[int]:
    return frozenset({min(rungs)}) if is_lossless(query) else rungs


def _placed(query: Query, rung: int) -> PlacedRelease:
    process = kind_of(query)
    return PlacedRelease(
        query.mechanism,
        process.mechanism.granularity,
        process.ladder.value(rung),
        process.sensitivity,
        None if query.power is None else Fraction(query.power),
    )


def _account(facts: Facts, tier: int) -> Account | None:
    budget = facts.budgets.get(tier)
    return account_of(budget.epsilon, budget.delta, budget.order) if budget else None
