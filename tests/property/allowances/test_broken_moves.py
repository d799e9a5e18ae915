"""Test rules of allowances that are broken one by one, which the machine's checks must find out."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from sqlalchemy import ColumnElement, true
from sqlmodel import Session
from tests.databases.homes import SQLITE
from tests.property.allowances.machine import MoveMachines
from tests.property.allowances.world import Move

from penstock.accounting import Entry
from penstock.persistence.tables import Tier
from penstock.services.allowances import own_levels, own_names
from penstock.services.datasets import allowances
from penstock.services.exposure import exposure
from penstock.services.exposure.compositions import Line
from penstock.services.ledger import charges
from penstock.services.ledger.quotes import Quote
from penstock.services.people import tier_changes
from penstock.services.queries import level_changes
from penstock.services.queries.charging import own_queries
from penstock.services.releases import visibility
from penstock.services.releases.known_queries import KnownQuery

Story = Sequence[Move]

BEGUN: Story = ()
"""What every machine begins with is enough."""
READ: Story = [("everybody_reads", 0, 0.05), ("everybody_reads", 1, 0.4)]
MUCH: Story = [
    ("give", 1, 9.0),
    *(("ask", "ben", number, "laplace", 0.8) for number in (3, 9, 11, 13)),
]
"""More than the tier's budget, under an allowance that is larger."""
MORE: Story = [("ask", "bob", 3, "gaussian", 0.8)]
"""More than the allowance, which the tier's budget has room for."""
ANEW: Story = [
    ("ask", "ben", 3, "gaussian", 0.4),
    ("give", 1, 0.62),
    ("ask", "ben", 9, "gaussian", 0.4),
]
LOWERED: Story = [("change_levels", 0, 0, 0.05)]
MOVED: Story = [
    ("insert_tier", 1),
    ("ask", "ben", 3, "gaussian", 0.1),
    ("move_tier", 2, 15),
]
"""A tier above the analyst's that sees the query, and then is moved below it."""
PAID: Story = [("delete_tier", 2), ("insert_tier", 0), ("clear", "bob", 2), ("move_tier", 2, 25)]
"""A tier on top of a deleted one, which pays for what that saw, and then is moved below it."""
STORIES = [BEGUN, READ, MUCH, MORE, ANEW, LOWERED, MOVED, PAID]


def told(story: Story, moves: MoveMachines) -> None:
    """Do what ``story`` says, and check after each of its steps, and in the end."""
    machine = moves()
    try:
        machine.begin()
        machine.everything_holds()
        for move in story:
            machine.do(move)
            machine.everything_holds()
        machine.end()
    finally:
        machine.server.database.close()


@pytest.mark.only(SQLITE)
def test_the_stories_hold(moves: MoveMachines) -> None:
    for story in STORIES:
        told(story, moves)
    outcomes = {
        ("ask", "BUDGET_EXHAUSTED"): 5,  # of MUCH three, of MORE and ANEW one each
        ("change_levels", "CONFLICT"): 1,
        ("move_tier", "CONFLICT"): 2,
    }
    assert {key: moves.tried[key] for key in outcomes} == outcomes


def unpaid_above(
    quote: Quote, accounts: own_levels.Accounts, tier: Tier, dimension: int, max_levels: int
) -> Quote:
    """Charge the analyst's own tier alone."""
    whole = KEPT_ABOVE(quote, accounts, tier, dimension, max_levels)
    own = [charge for charge in whole.charges if charge[0].tier.id == tier.id]
    return replace(whole, charges=own)


def nothing_compared(*_: object) -> None:
    """Let through whatever there is room for."""


def nothing_spent(*_: object) -> Entry:
    """Forget what earlier versions of an allowance were spent on."""
    return Entry(0, 0)


def all_in_sight(_: Tier) -> ColumnElement[bool]:
    return true()


def without_own(*arguments: Any) -> Sequence[exposure._QueryReleases]:
    """Leave out of what somebody knows what analysts registered."""
    return [one for one in KEPT_RELEASES(*arguments) if one.query.allowance_id is None]


def nothing_visible(session: Session, dataset: Any, account: Any) -> Line:
    """Leave out of what somebody could know what analysts registered: here, all."""
    return replace(KEPT_VISIBLE(session, dataset, account), releases=Counter())


def noisiest(releases: exposure._QueryReleases) -> list[int]:
    return [max(releases.rungs)]


def ceiling(known: KnownQuery, _: Tier) -> int:
    return known.query.ceiling


KEPT_ABOVE = own_levels.for_all_above  # what broken variants replace
KEPT_RELEASES = exposure._releases_of
KEPT_VISIBLE = exposure.visible

BROKEN: Mapping[str, tuple[Story, object, str, object]] = {
    # Budgets.
    "tiers above are not charged": (BEGUN, own_levels, "for_all_above", unpaid_above),
    "budgets are not compared": (MUCH, charges, "require_room", nothing_compared),
    # Allowances.
    "allowances are not compared": (MORE, own_queries, "require_room", nothing_compared),
    "what was spent before is forgotten": (ANEW, allowances, "spent_at", nothing_spent),
    # Sight.
    "a level below a floor": (LOWERED, level_changes, "require_above_floor", nothing_compared),
    "a tier moves below a floor": (MOVED, tier_changes, "require_floors_kept", nothing_compared),
    "a tier that pays moves there": (PAID, tier_changes, "require_floors_kept", nothing_compared),
    "queries above are listed": (BEGUN, visibility, "in_sight", all_in_sight),
    "names above are known": (BEGUN, own_names, "in_sight", all_in_sight),
    # Exposure.
    "own queries are not counted": (READ, exposure, "_releases_of", without_own),
    "own queries could not be read": (READ, exposure, "visible", nothing_visible),
    "the worst informed counts": (READ, exposure._QueryReleases, "best", property(noisiest)),
    "a finer level is given": (READ, KnownQuery, "allowed_rung", ceiling),
}


@pytest.mark.only(SQLITE)
@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_rule_is_found_out(
    moves: MoveMachines, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    story, module, attribute, broken = BROKEN[name]
    monkeypatch.setattr(module, attribute, broken)
    if name == "budgets are not compared":
        monkeypatch.setattr(own_queries, "_require_budgets", nothing_compared)
    with pytest.raises(AssertionError):
        told(story, moves)
