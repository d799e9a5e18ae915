"""Define what is remembered beside a server with allowances, and held against its ledger.

Losses are computed again by ``textbook`` from the noise of the queries that are stored and from
what the queries count; which tier could see what, and at which level, from what was done.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from sqlmodel import Session, col, select
from tests.property.allowances.textbook import Noise, divergence, epsilon
from tests.property.tiers.record import Facts

from penstock.persistence.tables import (
    Allowance,
    AllowanceCharge,
    Charge,
    Dataset,
    Query,
    Tier,
    TierBudget,
)
from penstock.services.noise.kinds.choice import kind_of

NAT = 2**40
"""The ledger's units in one nat."""
SLACK = 1e-9
DELTA = 1e-6

Pair = tuple[int, int]


@dataclass(frozen=True)
class Made:
    """Hold a query that an analyst registered: where, and at which level it was registered."""

    dataset: int
    floor: int
    maker: str
    noise: Noise


@dataclass
class Rows:
    """Hold the rows of one moment."""

    facts: Facts
    versions: dict[int, int]
    budgets: dict[Pair, TierBudget]
    charges: dict[Pair, list[Charge]]
    allowances: dict[int, Allowance]
    taken: dict[int, AllowanceCharge]

    @classmethod
    def read(cls, session: Session) -> "Rows":
        """Read all rows, only from the tables."""
        charges: dict[Pair, list[Charge]] = {}
        for row in session.exec(select(Charge).order_by(col(Charge.seq))).all():
            charges.setdefault((row.dataset_id, row.tier_id), []).append(row)
        budgets = session.exec(select(TierBudget).order_by(col(TierBudget.version))).all()
        allowances = session.exec(select(Allowance)).all()
        taken = session.exec(select(AllowanceCharge)).all()
        return cls(
            facts=Facts.read(session),
            versions={row.id or 0: row.version for row in session.exec(select(Dataset)).all()},
            budgets={(row.dataset_id, row.tier_id): row for row in budgets},
            charges=charges,
            allowances={row.id or 0: row for row in allowances},
            taken={row.query_id: row for row in taken},
        )

    @property
    def alive(self) -> list[Tier]:
        """Return the tiers that exist, the least trusted first."""
        return [tier for tier in self.facts.standing() if tier.deleted_at is None]

    def tier_of(self, user: int) -> Tier | None:
        """Return the tier that a user has now."""
        key = self.facts.holds[user][-1]
        return next((tier for tier in self.facts.tiers if tier.id == key), None)

    def allowed(self, tier: Tier | None) -> dict[int, int]:
        """Return the rung of each query that a tier may be given now: the finest up to its own."""
        rungs: dict[int, int] = {}
        for lower in self.alive:
            if tier is not None and lower.rank <= tier.rank:
                for (key, query), rung in self.facts.own.items():
                    if key == lower.id:
                        rungs[query] = min(rung, rungs.get(query, rung))
        return rungs

    def is_below(self, tier: Tier | None, floor: int) -> bool:
        """Return True if somebody at a tier may never see what was registered at ``floor``."""
        order = [one.id for one in self.facts.standing()]
        return tier is None or order.index(tier.id) < order.index(floor)


@dataclass
class Record:
    """Remember what was seen so far."""

    shifts: dict[str, int] = field(default_factory=dict)
    """By how much one person moves a value, by the names of queries."""
    made: dict[int, Made] = field(default_factory=dict)
    reached: dict[Pair, int] = field(default_factory=dict)
    """The finest rung of a query that was ever in reach of a tier."""
    could: dict[Pair, int] = field(default_factory=dict)
    """The same of a user."""

    def noise(self, query: Query, rung: int) -> Noise:
        """Return the noise of a query at a rung."""
        level = kind_of(query).level(rung).value
        return Noise(query.mechanism, level, self.shifts[query.name])

    def check(self, rows: Rows) -> None:
        """Hold a server's rows against everything that was remembered."""
        self._grow(rows)
        for pair, budget in rows.budgets.items():
            self._check_account(rows, pair, budget)
        for query, row in rows.taken.items():
            self._check_taken(rows, query, row)
        for payer in rows.facts.standing():
            self._check_paid(rows, payer)
        assert self.made.keys() == rows.taken.keys()
        for (tier, query), rung in self.reached.items():
            key = rows.facts.queries[query].dataset_id
            assert (key, tier) in rows.budgets, "a tier without a budget sees a query"
            assert rung >= 0

    def _check_paid(self, rows: Rows, tier: Tier) -> None:
        """Require that a tier pays for no query of an analyst who is above it."""
        for (_, payer), charged in rows.charges.items():
            for charge in charged if payer == tier.id else ():
                made = self.made.get(charge.query_id)
                below = made is not None and rows.is_below(tier, made.floor)
                assert not below, f"{tier.name} pays for what it may never see"

    def _grow(self, rows: Rows) -> None:
        """Extend what tiers and users could see: theirs, and what those below could."""
        reached: dict[int, int] = {}
        for tier in rows.facts.standing():
            now = {} if tier.deleted_at is not None else rows.allowed(tier)
            for query in rows.facts.queries:
                known = [
                    now.get(query),
                    reached.get(query),
                    self.reached.get((tier.id or 0, query)),
                ]
                rungs = [rung for rung in known if rung is not None]
                if rungs:
                    reached[query] = self.reached[tier.id or 0, query] = min(rungs)
        for user in rows.facts.holds:
            for query, rung in rows.allowed(rows.tier_of(user)).items():
                self.could[user, query] = min(rung, self.could.get((user, query), rung))

    def _check_account(self, rows: Rows, pair: Pair, budget: TierBudget) -> None:
        """Require that a tier paid for all that it could see, and for nothing else, and could."""
        dataset, tier = pair
        charges: dict[int, list[Charge]] = {}
        for charge in rows.charges.get(pair, []):
            charges.setdefault(charge.query_id, []).append(charge)
        noises = []
        for query, of_query in charges.items():
            assert (tier, query) in self.reached, "a tier pays for what it never saw"
            noise = self.noise(rows.facts.queries[query], self.reached[tier, query])
            due = divergence(noise, budget.order)
            assert sum(charge.loss for charge in of_query) / NAT >= due * (1 - SLACK)
            noises.append(noise)
        seen = {
            query
            for (key, query) in self.reached
            if key == tier and rows.facts.queries[query].dataset_id == dataset
        }
        assert seen == charges.keys(), "a tier sees what it did not pay for"
        assert sum(charge.loss for charge in rows.charges.get(pair, [])) <= budget.limit_loss
        assert epsilon(noises, DELTA, budget.order) <= budget.epsilon * (1 + SLACK)

    def _check_taken(self, rows: Rows, query: int, row: AllowanceCharge) -> None:
        """Require that a query took of its allowance what its level costs, and no more."""
        made, allowance = self.made[query], rows.allowances[row.allowance_id]
        assert (allowance.dataset_id, allowance.tier_id) == (made.dataset, made.floor)
        due = divergence(made.noise, allowance.order) * NAT
        assert due * (1 - SLACK) <= row.loss <= due * 1.05 + 1
        assert row.loss_total <= allowance.limit_loss

    def register(self, rows: Rows, name: str, made: Made, granted: float) -> None:
        """Remember a query of an analyst; all of their tier's must keep within what is granted."""
        (query,) = (key for key, row in rows.facts.queries.items() if row.name == name)
        self.made[query] = made
        allowance = rows.allowances[rows.taken[query].allowance_id]
        every = self.under(made.dataset, made.floor)
        assert epsilon(every, DELTA, allowance.order) <= granted * (1 + SLACK)

    def under(self, dataset: int, floor: int) -> list[Noise]:
        """Return the noise of all that analysts of a tier registered, as they registered it."""
        return [
            made.noise
            for made in self.made.values()
            if (made.dataset, made.floor) == (dataset, floor)
        ]

    def of_coalition(self, rows: Rows, users: Iterable[int]) -> list[tuple[Query, int]]:
        """Return the finest rung of each query that was ever in reach of one of some users."""
        best: dict[int, int] = {}
        for user, query in self.could:
            if user in users:
                rung = self.could[user, query]
                best[query] = min(rung, best.get(query, rung))
        return [(rows.facts.queries[query], rung) for query, rung in best.items()]


def highest_budgets(rows: Rows, users: Sequence[int]) -> dict[int, float]:
    """Return the budget, by dataset, of the most trusted tier that one of some users ever had."""
    order = rows.facts.standing()
    ever = {key for user in users for key in rows.facts.holds[user] if key is not None}
    held = [tier for tier in order if tier.id in ever]
    if not held:
        return {}
    found = {}
    for dataset in rows.versions:
        budget = rows.budgets.get((dataset, held[-1].id or 0))
        if budget is not None:
            found[dataset] = budget.epsilon
    return found
