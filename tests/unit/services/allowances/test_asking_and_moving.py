"""Test that budgets, visibility and exposure hold, whatever analysts ask and admins move."""

import hashlib
from collections import Counter
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest
from sqlmodel import col, select
from tests.support.thorough import by_count
from tests.unit.services.allowances.asking import ask, give
from tests.unit.worlds import World

from penstock.accounting.charging.ledger import Entry
from penstock.errors import NotFound, PenstockError
from penstock.persistence.tables import (
    Allowance,
    AllowanceCharge,
    Charge,
    Grant,
    Query,
    Release,
    User,
)
from penstock.services.access.principals import OPERATOR
from penstock.services.allowances.floors import floor_of
from penstock.services.datasets import allowances
from penstock.services.exposure import exposure
from penstock.services.ledger.accounts import open_account
from penstock.services.ledger.effective_levels import ladder, place
from penstock.services.people import tier_changes, users
from penstock.services.queries import queries
from penstock.services.repository.people import clearance_of
from penstock.services.schemas.people.tiers import TierChange, TierSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import LevelsChange
from penstock.services.verification.verification import verify

ANALYSTS = ("pia", "paul", "ines")
TIERS = ("public", "partner", "internal", "between", "upper")
WHERE = [
    [{"column": "visits", "op": op, "value": value}] for op in (">=", "<") for value in range(1, 5)
]


class Chance:
    """Choose the same things again for the same seed."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.count = 0

    def choice(self, things: Sequence[Any]) -> Any:
        """Return one of some things."""
        self.count += 1
        digest = hashlib.sha256(f"{self.seed} {self.count}".encode()).digest()
        return things[int.from_bytes(digest, "big") % len(things)]


def drawn(chance: Chance) -> tuple[str, str, Any]:
    """Draw an act, whom or what it is about, and what more it needs."""
    which: dict[str, tuple[Sequence[str], Sequence[Any]]] = {
        "ask": (ANALYSTS, WHERE),
        "give": (TIERS, (0.2, 0.5, 2.0)),
        "take": (TIERS, (None,)),
        "clear": (ANALYSTS, TIERS),
        "insert": (TIERS[3:], TIERS[:3]),
        "move": (TIERS, (5, 15, 25, 35)),
        "delete": (TIERS, (None,)),
        "level": (TIERS, (0.1, 0.3)),
        "release": (ANALYSTS, (None,)),
    }
    act = chance.choice(("ask", "ask", "ask", *which))
    whom, more = which[act]
    return act, chance.choice(whom), chance.choice(more)


class Story:
    """Act in a world of stays, one act after another."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.asked = 0

    def act(self, what: str, which: str, more: Any) -> None:
        """Do one act, as far as it is allowed."""
        server = self.world.server
        if what == "ask":
            self.asked += 1
            tier = users.me(server, self.world.person(which)).clearance
            ask(self.world, which, f"q{self.asked % 4}", tier, where=more)
        elif what == "give":
            give(self.world, which, more)
        elif what == "take":
            allowances.take_back(server, OPERATOR, "stays", which)
        elif what == "clear":
            users.change(server, OPERATOR, which, UserChange(clearance=more))
        elif what == "insert":
            tier_changes.create(server, OPERATOR, TierSpec(name=which, above=more))
        elif what == "move":
            tier_changes.change(server, OPERATOR, which, TierChange(rank=more))
        elif what == "delete":
            tier_changes.delete(server, OPERATOR, which)
        elif what == "level":
            change = LevelsChange.model_validate({"levels": {which: {"epsilon": more}}})
            for query in self.names():
                queries.change(server, OPERATOR, query, change)
        else:
            for query in self.names():
                self.world.ask(which, query)

    def names(self) -> list[str]:
        """Return the names of all queries."""
        with self.world.server.database.read() as session:
            return list(session.exec(select(Query.name).order_by(col(Query.id))).all())

    def check(self) -> None:
        """Compare budgets, allowances and visibility with the rows."""
        with self.world.server.database.read() as session:
            tiers = ladder(session)
            charges = session.exec(select(Charge)).all()
            rows = {row.id: row for row in session.exec(select(Allowance)).all()}
            for charge in session.exec(select(AllowanceCharge)).all():
                row = rows[charge.allowance_id]
                assert charge.loss_total <= row.limit_loss
                assert charge.failure_total <= row.limit_failure
            for tier in tiers:  # deleted ones that had users count as well
                account = open_account(session, 2, tier)
                if account is not None:
                    own = [row for row in charges if row.tier_id == tier.id and row.dataset_id == 2]
                    spent = Entry(sum(c.loss for c in own), sum(c.failure for c in own))
                    assert spent == account.spent
                    assert account.spent.loss / 2**40 <= account.account.limit
            made = session.exec(select(Query).where(col(Query.allowance_id).is_not(None))).all()
            floors = {query.name: floor_of(session, query) for query in made}
            paid = {(row.tier_id, row.query_id) for row in charges}
            held = {who: clearance_of(session, self.number(who)) for who in ANALYSTS}
            keys = {query.name: query.id for query in made}
        for name, floor in floors.items():
            for who, holding in held.items():
                assert floor is not None
                assert holding is not None
                seen = self.sees(who, name)
                if holding.id != floor.id and place(holding) < place(floor):
                    assert not seen, (who, holding.name, name)
                if seen:
                    assert (holding.id, keys[name]) in paid, "who sees it has paid for it"

    def number(self, who: str) -> int:
        """Return a user's number."""
        number = self.world.person(who).user_id
        assert number is not None
        return number

    def sees(self, who: str, name: str) -> bool:
        """Return whether somebody is shown a query."""
        try:
            queries.show(self.world.server, self.world.person(who), name)
        except NotFound:
            return False
        return True

    def check_exposure(self) -> None:
        """Compare what every coalition knows with the rows of what its members were given."""
        with self.world.server.database.read() as session:
            given_rows = session.exec(
                select(User.name, Query.name, Release.rung)
                .join(Grant, col(Grant.user_id) == col(User.id))
                .join(Release, col(Grant.release_id) == col(Release.id))
                .join(Query, col(Release.query_id) == col(Query.id))
            ).all()
        for size in (1, 2, 3):
            for coalition in combinations(ANALYSTS, size):
                best: dict[str, int] = {}
                for who, query, rung in given_rows:
                    if who in coalition:
                        best[query] = min(rung, best.get(query, rung))
                view = exposure.of(self.world.server, OPERATOR, list(coalition), "stays")
                assert {each.query for each in view.queries} == set(best)
                if view.reach is not None:
                    assert view.could_be.epsilon <= view.reach.epsilon
                assert view.released.epsilon <= view.could_be.epsilon * (1 + 1e-9)


@pytest.mark.only("sqlite")
@pytest.mark.parametrize("seed", range(by_count(5, 60)))
def test_nothing_gives_way_whatever_is_asked_and_moved(stays: World, seed: int) -> None:
    chance, story = Chance(seed), Story(stays)
    for tier in TIERS[:3]:
        give(story.world, tier, 0.5)
    outcomes: Counter[tuple[str, str]] = Counter()
    for _ in range(50):
        act = drawn(chance)
        try:
            story.act(*act)
        except PenstockError as problem:
            outcomes[act[0], problem.code] += 1
        else:
            outcomes[act[0], "done"] += 1
        story.check()
    story.check_exposure()
    assert verify(stays.server, OPERATOR).problems == []
    assert outcomes["ask", "done"] >= 2
    assert sum(outcomes[act, "done"] > 0 for act in ("give", "clear", "insert", "release")) >= 3
