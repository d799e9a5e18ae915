"""Let analysts ask, and admins give and move, in any order, and check what must always hold.

What is refused must change nothing; what is done is held against ``record``, and what everybody is
shown against ``sights``.
"""

import itertools
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule
from sqlmodel import func, select
from tests.property.allowances import sights
from tests.property.allowances.record import Made, Record, Rows
from tests.property.allowances.world import MOVES, PEOPLE, Move, second, statistic
from tests.property.tiers.record import HISTORY
from tests.unit.worlds import Clock

from penstock.connectors.planning.refusals import checked
from penstock.errors import PenstockError
from penstock.persistence.tables import Allowance, AllowanceCharge
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.datasets import allowances, datasets
from penstock.services.people import tier_changes, users
from penstock.services.queries import queries, registration
from penstock.services.requests import asking, decisions
from penstock.services.schemas.datasets import AllowanceSpec
from penstock.services.schemas.people.tiers import TierChange, TierSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import (
    ComputedQueryRequest,
    LevelsChange,
    ReleaseRequest,
)
from penstock.services.schemas.requests.specs import AskRequest, DecisionRequest
from penstock.services.verification.verification import verify

NUMBERS = st.integers(0, 1000)
WHO = st.sampled_from(sorted(PEOPLE))
EPSILONS = st.sampled_from([0.05, 0.1, 0.2, 0.4, 0.8])
GIVEN = st.sampled_from([0.1, 0.3, 0.6, 1.0, 2.0])
MECHANISMS = st.sampled_from(["gaussian", "gaussian", "laplace", "poisson", "skellam"])

TABLES: Sequence[Any] = (*HISTORY, Allowance, AllowanceCharge)

Result = TypeVar("Result")


class Moves(RuleBasedStateMachine):
    """Do everything that concerns allowances, to a server with three tiers and four analysts."""

    def __init__(self, make: Callable[[Clock], Server], tried: Counter[tuple[str, str]]) -> None:
        super().__init__()
        self.clock, self.record, self.tried = Clock(), Record(), tried
        self.server = make(self.clock)
        self.people = {who: acting_as(self.server, who) for who in PEOPLE}
        self.numbers, self.turns = itertools.count(), itertools.count()
        self.granted: dict[tuple[int, int], float] = {}
        self.version = 1
        self.open: list[tuple[str, str]] = []
        self.given: dict[tuple[str, str], float] = {}
        """The finest level that somebody was given of a query, as they were told."""
        self.rows = self.read()

    @initialize()
    def begin(self) -> None:
        """Give allowances, and let two analysts ask."""
        for move in MOVES:
            self.do(move)

    def do(self, move: Move) -> None:
        """Call one of the rules."""
        getattr(self, move[0])(*move[1:])

    def teardown(self) -> None:
        self.end()
        self.server.database.close()

    def end(self) -> None:
        """Check all at once what is checked in turns before."""
        self.everything_holds()
        sights.check_exposure(self, sights.COALITIONS)
        for who in PEOPLE:
            sights.check_listed(self, who)
            for number in range(len(self.record.made)):
                sights.check_hidden(self, who, number)
        assert verify(self.server, OPERATOR).problems == []

    def read(self) -> Rows:
        with self.server.database.read() as session:
            return Rows.read(session)

    def attempt(self, name: str, act: Callable[[], Result]) -> Result | None:
        """Do something; a refusal must leave everything as it was."""
        self.clock.forward(seconds=1)
        before = self.lengths()
        try:
            done = act()
        except PenstockError as refusal:
            self.tried[name, refusal.code] += 1
            assert self.lengths() == before
            return None
        self.tried[name, "done"] += 1
        self.rows = self.read()
        return done

    def lengths(self) -> list[int]:
        """Return how long each table of history is."""
        with self.server.database.read() as session:
            return [session.exec(select(func.count(table.id))).one() for table in TABLES]

    def tier(self, number: int) -> str:
        names = [tier.name for tier in self.rows.alive]
        return names[number % len(names)]

    def query(self, number: int) -> str:
        names = sorted(query.name for query in self.rows.facts.queries.values())
        return names[number % len(names)]

    def holding(self, who: str) -> str | None:
        """Return the tier that somebody has now."""
        tier = self.rows.tier_of(self.people[who].user_id or 0)
        return None if tier is None else tier.name

    @rule(number=NUMBERS, epsilon=GIVEN)
    def give(self, number: int, epsilon: float) -> None:
        tier = self.tier(number)
        named = sorted(PEOPLE)[: 1 + number % 3] if number % 4 == 0 else None
        spec = AllowanceSpec(epsilon=epsilon, users=named)
        if self.attempt(
            "give", lambda: allowances.give(self.server, OPERATOR, "stays", tier, spec)
        ):
            self.granted[self.pair(tier)] = epsilon

    def pair(self, tier: str) -> tuple[int, int]:
        """Return the keys of the newest version of the dataset and of a tier."""
        dataset = next(key for key, one in self.rows.versions.items() if one == self.version)
        return dataset, next(one.id or 0 for one in self.rows.alive if one.name == tier)

    @rule(number=NUMBERS)
    def take_back(self, number: int) -> None:
        tier = self.tier(number)
        if self.attempt(
            "take_back", lambda: allowances.take_back(self.server, OPERATOR, "stays", tier)
        ):
            self.granted.pop(self.pair(tier))

    @rule(who=WHO, number=NUMBERS, mechanism=MECHANISMS, epsilon=EPSILONS)
    def ask(self, who: str, number: int, mechanism: str, epsilon: float) -> None:
        tier = self.holding(who)
        if tier is None:
            return
        content, shift = statistic(number)
        # Names collide at times, since those above are in nobody's way.
        name = f"own{next(self.numbers):04}" if number % 5 else "same"
        levels = {tier: {"epsilon": epsilon}}
        request = ComputedQueryRequest.model_validate(
            {**content, "name": name, "mechanism": mechanism, "levels": levels}
        )
        whole = f"{name}@{tier},{self.pair(tier)[1]}"
        known = self.record.shifts.setdefault(whole, shift)
        person = self.people[who]
        view = self.attempt("ask", lambda: registration.register(self.server, person, request))
        if view is None:
            if known == shift and whole not in {q.name for q in self.rows.facts.queries.values()}:
                del self.record.shifts[whole]
            return
        dataset, floor = self.pair(tier)
        key = next(k for k, q in self.rows.facts.queries.items() if q.name == whole)
        noise = self.record.noise(self.rows.facts.queries[key], self.rows.facts.own[floor, key])
        granted = self.granted[dataset, floor]
        sights.check_maker(self, who, floor)
        self.record.register(self.rows, whole, Made(dataset, floor, who, noise), granted)

    @rule(who=WHO, number=NUMBERS, epsilon=EPSILONS)
    def ask_again(self, who: str, number: int, epsilon: float) -> None:
        """Ask once more: what machines that try few things should not leave out."""
        self.ask(who, number, "gaussian", epsilon)

    @rule(number=NUMBERS, mechanism=MECHANISMS, epsilon=EPSILONS, step=st.sampled_from([1, 1.5, 4]))
    def register(self, number: int, mechanism: str, epsilon: float, step: float) -> None:
        order = [tier.name for tier in self.rows.alive]
        listed = order[number % len(order) :][: 1 + number // 3 % 3]
        levels = {name: {"epsilon": epsilon * step**place} for place, name in enumerate(listed)}
        content, shift = statistic(number // 7)
        name = f"set{next(self.numbers):04}" if number % 6 else "same"
        request = ComputedQueryRequest.model_validate(
            {**content, "name": name, "mechanism": mechanism, "levels": levels}
        )
        if self.attempt("register", lambda: registration.register(self.server, OPERATOR, request)):
            self.record.shifts[name] = shift

    @precondition(lambda self: self.rows.facts.queries)
    @rule(number=NUMBERS, place=NUMBERS, epsilon=EPSILONS)
    def change_levels(self, number: int, place: int, epsilon: float) -> None:
        query, tier = self.query(number), self.tier(place)
        change = LevelsChange.model_validate({"levels": {tier: {"epsilon": epsilon}}})
        self.attempt("change_levels", lambda: queries.change(self.server, OPERATOR, query, change))

    @precondition(lambda self: len(self.rows.alive) < 6)
    @rule(number=NUMBERS)
    def insert_tier(self, number: int) -> None:
        above = self.tier(number) if number % 4 else None
        spec = TierSpec(name=f"t{next(self.numbers)}", above=above)
        self.attempt("insert_tier", lambda: tier_changes.create(self.server, OPERATOR, spec))

    @rule(number=NUMBERS, rank=st.integers(0, 60))
    def move_tier(self, number: int, rank: int) -> None:
        tier, change = self.tier(number), TierChange(rank=rank)
        self.attempt("move_tier", lambda: tier_changes.change(self.server, OPERATOR, tier, change))

    @precondition(lambda self: len(self.rows.alive) > 2)
    @rule(number=NUMBERS)
    def delete_tier(self, number: int) -> None:
        tier = self.tier(number)
        if number % 3:
            for who in PEOPLE:
                if self.holding(who) == tier:
                    self.clear(who, number + 1)
        self.attempt("delete_tier", lambda: tier_changes.delete(self.server, OPERATOR, tier))

    @rule(who=WHO, number=NUMBERS)
    def clear(self, who: str, number: int) -> None:
        tier = self.tier(number) if number % 7 else None
        change = UserChange(clearance=tier)
        self.attempt("clear", lambda: users.change(self.server, OPERATOR, who, change))

    @rule(who=WHO, number=NUMBERS, mechanism=MECHANISMS, epsilon=EPSILONS)
    def request(self, who: str, number: int, mechanism: str, epsilon: float) -> None:
        content, shift = statistic(number)
        levels = {self.holding(who) or self.tier(number): {"epsilon": epsilon}}
        name = f"wish{next(self.numbers):04}"
        own = {"name": name, "mechanism": mechanism, "levels": levels, "purpose": "A report"}
        sent = checked(AskRequest, {**content, **own})
        person = self.people[who]
        view = self.attempt("request", lambda: asking.ask(self.server, person, sent))
        if view is not None and view.id is not None:
            self.record.shifts[name] = shift
            self.open.append((view.id, name))

    @precondition(lambda self: self.open)
    @rule(number=NUMBERS, epsilon=EPSILONS)
    def decide(self, number: int, epsilon: float) -> None:
        key, _ = self.open[number % len(self.open)]
        content: dict[str, Any] = {"decision": "approve" if number % 4 else "decline"}
        if number % 4 > 1:
            content["levels"] = {self.tier(number // 4): {"epsilon": epsilon}}
        decision = DecisionRequest.model_validate(content)
        self.attempt(
            content["decision"], lambda: decisions.decide(self.server, OPERATOR, key, decision)
        )

    @precondition(lambda self: self.version == 1)
    @rule(number=NUMBERS)
    def add_version(self, number: int) -> None:
        if number % 4:
            return
        request = second(self.server)
        if self.attempt(
            "add_version", lambda: datasets.add_version(self.server, OPERATOR, "stays", request)
        ):
            self.version += 1

    @precondition(lambda self: len(self.rows.facts.queries) > 2)
    @rule(number=NUMBERS)
    def retire(self, number: int) -> None:
        query = self.query(number)
        if number % 3 == 0:
            self.attempt("retire", lambda: queries.retire(self.server, OPERATOR, query))

    @precondition(lambda self: self.rows.facts.queries)
    @rule(number=NUMBERS, epsilon=EPSILONS)
    def everybody_reads(self, number: int, epsilon: float) -> None:
        query = self.query(number)
        targets = (ReleaseRequest(), ReleaseRequest(tier=self.tier(number)))
        for who, target in itertools.product(PEOPLE, (*targets, ReleaseRequest(epsilon=epsilon))):
            sights.check_release(self, who, query, target)

    @invariant()
    def everything_holds(self) -> None:
        self.record.check(self.rows)
        turn = next(self.turns)
        sights.check_floors(self)
        who = sorted(PEOPLE)[turn % len(PEOPLE)]
        sights.check_listed(self, who)
        if self.record.made:
            sights.check_hidden(self, who, turn // len(PEOPLE))
        if turn % 2 == 0:
            coalition = sights.COALITIONS[turn // 2 % len(sights.COALITIONS)]
            sights.check_exposure(self, [coalition])
        if turn % 8 == 0:
            assert verify(self.server, OPERATOR).problems == []


@dataclass
class MoveMachines:
    """Make machines, and count what all of them tried."""

    server: Callable[[Clock], Server]
    tried: Counter[tuple[str, str]] = field(default_factory=Counter)

    def __call__(self) -> Moves:
        """Return a machine over a server of its own."""
        return Moves(self.server, self.tried)
