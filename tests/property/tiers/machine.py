"""Do all kinds of things to a server, sensible or not, and check what must always hold.

What is refused must change nothing; what is done is held against ``tiers_record``.
"""

import inspect
import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from types import FrameType
from typing import cast

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from sqlmodel import select
from tests.databases.homes import Home, Homes
from tests.property.tiers.record import Record, lengths
from tests.unit.worlds import Clock, Streams

from penstock.errors import PenstockError
from penstock.persistence.tables import User
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.exposure import exposure
from penstock.services.operations import home
from penstock.services.people import tier_changes, tiers, users
from penstock.services.queries import queries, registration
from penstock.services.releases import releases
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.tiers import TierChange, TierSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.queries import (
    BudgetSpec,
    DatasetRequest,
    LevelsChange,
    PushedVectorRequest,
    ReleaseRequest,
)

Pair = tuple[str, str]
DELTA = 1e-6
PEOPLE = {"ann": "low", "ben": "mid", "cyd": "high"}
VALUES = [12, 3]
SITES = {
    "name": "sites",
    "source": {"engine": "vector"},
    "neighboring": "add_remove",
    "delta": DELTA,
    "budgets": {"low": {"epsilon": 5}, "mid": {"epsilon": 9}, "high": {"epsilon": 9}},
}

NUMBERS = st.integers(0, 1000)
EPSILONS = st.sampled_from([0.05, 0.1, 0.2, 0.4, 0.8, 1.6])
GRANTS = st.sampled_from([2.0, 3.0, 5.0, 9.0, 12.0])
MECHANISMS = st.sampled_from(["gaussian", "laplace", "poisson", "skellam"])
INDEPENDENT = st.sampled_from(["generalized_gaussian", "generalized_gaussian", "gaussian"])

ACTS = {
    *("insert_tier", "move_tier", "delete_tier", "clear", "register", "change_levels"),
    *("scale_levels", "change_budgets", "retire", "everybody_asks"),
}
"""The rules' functions in which something is done; ``promote`` is ``clear`` by another name."""


class Rules(RuleBasedStateMachine):
    """Do everything that may be done to a server with three tiers and people."""

    def __init__(self, make: Callable[[Clock], Server], tried: Counter[Pair]) -> None:
        super().__init__()
        self.clock, self.record = Clock(), Record()
        self.server, self.tried = make(self.clock), tried
        self.names = itertools.count()
        with self.server.database.read() as session:
            self.facts = self.record.check(session)

    def teardown(self) -> None:
        self.end()
        self.server.database.close()

    def end(self) -> None:
        """Require that no tightly composed epsilon is above the highest budget ever held."""
        with self.server.database.read() as session:
            everybody = session.exec(select(User)).all()
        for group in (everybody, everybody[:1]):
            names = [user.name for user in group]
            seen = exposure.of(self.server, OPERATOR, names, "sites")
            if seen.reach is not None:
                composed = self.record.composed(self.facts, group, DELTA)
                assert max(composed, seen.could_be.epsilon) <= seen.reach.epsilon
                assert seen.released.epsilon <= seen.reach.epsilon

    def attempt(self, act: Callable[[], object]) -> None:
        """Do something; a refusal must leave everything as it was."""
        self.clock.forward(seconds=1)
        with self.server.database.read() as session:
            before = lengths(session)
        try:
            act()
        except PenstockError as refusal:
            self.tried["refused", refusal.code] += 1
            with self.server.database.read() as session:
                assert lengths(session) == before
            return
        # inspect.stack() reads the source of all callers, and took a third of these tests.
        frame = cast(FrameType, cast(FrameType, inspect.currentframe()).f_back)
        self.tried["done", frame.f_code.co_name] += 1

    def tier(self, number: int) -> str:
        names = [tier.name for tier in tiers.listing(self.server)]
        return names[number % len(names)]

    def query(self, number: int) -> str:
        names = sorted(query.name for query in self.facts.queries.values())
        return names[number % len(names)]

    def rising(self, known: Mapping[str, float], number: int, value: float) -> dict[str, float]:
        """Return ``value`` at one tier, and at those whose ``known`` would fall as rank rises."""
        order = [tier.name for tier in tiers.listing(self.server)]
        place = number % len(order)
        wanted = {order[place]: value}
        for name in order[:place]:
            if name in known and known[name] > value:
                wanted[name] = value
        for name in order[place:]:
            if name in known and known[name] < value:
                wanted[name] = value
        return wanted

    @rule(number=NUMBERS)
    def insert_tier(self, number: int) -> None:
        name = f"t{next(self.names)}"
        above = self.tier(number) if number % 4 else None
        self.attempt(
            lambda: tier_changes.create(self.server, OPERATOR, TierSpec(name=name, above=above))
        )

    @rule(number=NUMBERS, rank=st.integers(0, 60))
    def move_tier(self, number: int, rank: int) -> None:
        name = self.tier(number)
        self.attempt(
            lambda: tier_changes.change(self.server, OPERATOR, name, TierChange(rank=rank))
        )

    @precondition(lambda self: len(tiers.listing(self.server)) > 2)
    @rule(number=NUMBERS)
    def delete_tier(self, number: int) -> None:
        name = self.tier(number)
        if number % 3:
            for holder in PEOPLE:
                if users.show(self.server, OPERATOR, holder).clearance == name:
                    self.clear(holder, number + 1)
        self.attempt(lambda: tier_changes.delete(self.server, OPERATOR, name))

    @rule(user=st.sampled_from(sorted(PEOPLE)), number=NUMBERS)
    def promote(self, user: str, number: int) -> None:
        self.clear(user, number)

    def clear(self, user: str, number: int) -> None:
        tier = self.tier(number) if number % 5 else None
        change = UserChange(clearance=tier)
        self.attempt(lambda: users.change(self.server, OPERATOR, user, change))

    @rule(mechanism=MECHANISMS, number=NUMBERS, epsilon=EPSILONS, step=st.sampled_from([1, 1.5, 4]))
    def register(self, mechanism: str, number: int, epsilon: float, step: float) -> None:
        order = [tier.name for tier in tiers.listing(self.server)]
        listed = order[number % len(order) :][: 1 + number // 3 % 3]
        levels = {name: {"epsilon": epsilon * step**place} for place, name in enumerate(listed)}
        content = {
            "name": f"q{next(self.names)}",
            "dataset": "sites",
            "values": VALUES,
            "sensitivity": {"l1": 1},
            "mechanism": mechanism,
            "p": 3 if mechanism == "generalized_gaussian" else None,
            "max_levels": 12,
            **({"levels": levels} if number % 5 else {"share": 0.1}),
        }
        request = PushedVectorRequest.model_validate(content)
        self.attempt(lambda: registration.register(self.server, OPERATOR, request))

    @precondition(lambda self: self.facts.queries)
    @rule(number=NUMBERS, epsilon=EPSILONS)
    def change_levels(self, number: int, epsilon: float) -> None:
        query = self.query(number)
        view = queries.show(self.server, OPERATOR, query)
        known = {one.tier: one.guarantee.epsilon for one in view.tiers}
        levels = {
            name: {"epsilon": value}
            for name, value in self.rising(known, number // 7, epsilon).items()
        }
        content = {"levels": levels, **({"values": VALUES} if number % 4 else {})}
        change = LevelsChange.model_validate(content)
        self.attempt(lambda: queries.change(self.server, OPERATOR, query, change))

    @precondition(lambda self: self.facts.queries)
    @rule(number=NUMBERS, factor=st.sampled_from([0.5, 1.25, 2.0]))
    def scale_levels(self, number: int, factor: float) -> None:
        query = self.query(number)
        view = queries.show(self.server, OPERATOR, query)
        levels = {one.tier: {"epsilon": one.guarantee.epsilon * factor} for one in view.tiers}
        if not levels:
            return  # all tiers that saw it are gone
        change = LevelsChange.model_validate({"levels": levels, "values": VALUES})
        self.attempt(lambda: queries.change(self.server, OPERATOR, query, change))

    @rule(number=NUMBERS, epsilon=GRANTS)
    def change_budgets(self, number: int, epsilon: float) -> None:
        view = datasets.show(self.server, OPERATOR, "sites")
        known = {tier: one.epsilon for tier, one in view.budgets.items()}
        wanted = self.rising(known, number, epsilon)
        change = DatasetChange(
            budgets={name: BudgetSpec(epsilon=value) for name, value in wanted.items()}
        )
        self.attempt(lambda: budgets.change(self.server, OPERATOR, "sites", change))

    @precondition(lambda self: len(self.facts.queries) > 1)
    @rule(number=NUMBERS)
    def retire(self, number: int) -> None:
        query = self.query(number)
        if number % 3 == 0:
            self.attempt(lambda: queries.retire(self.server, OPERATOR, query))

    @precondition(lambda self: self.facts.queries)
    @rule(number=NUMBERS, epsilon=EPSILONS)
    def everybody_asks(self, number: int, epsilon: float) -> None:
        query = self.query(number)
        wishes = (
            ReleaseRequest(),
            ReleaseRequest(tier=self.tier(number)),
            ReleaseRequest(epsilon=epsilon),
        )
        for name, wish in itertools.product(PEOPLE, wishes):
            self.attempt(partial(self.ask, name, query, wish))

    def ask(self, name: str, query: str, wish: ReleaseRequest) -> None:
        person = acting_as(self.server, name)
        view = releases.request(self.server, person, query, wish).view
        key = person.user_id or 0
        self.record.given(self.facts, key, view.query, view.level.value, view.values)

    @invariant()
    def everything_is_paid_for(self) -> None:
        with self.server.database.read() as session:
            self.facts = self.record.check(session)


class IndependentRules(Rules):
    """Do what ``Rules`` does with queries whose levels are independent draws, and some others."""

    @rule(mechanism=INDEPENDENT, number=NUMBERS, epsilon=EPSILONS, step=st.sampled_from([1, 2, 4]))
    def register(self, mechanism: str, number: int, epsilon: float, step: float) -> None:
        super().register(mechanism, number, epsilon, step)


def furnished(homes: Homes, folder: Path) -> Home:
    """Return a home with three tiers, somebody at each, and a dataset."""
    made = homes.empty(folder)
    server = home.open_server(made.settings(), clock=Clock(), randomness=Streams())
    for name in PEOPLE.values():
        tier_changes.create(server, OPERATOR, TierSpec(name=name))
    for name, tier in PEOPLE.items():
        users.create(server, OPERATOR, UserSpec(name=name, roles=["analyst"], clearance=tier))
    datasets.register(server, OPERATOR, DatasetRequest.model_validate(SITES))
    server.database.close()
    return made
