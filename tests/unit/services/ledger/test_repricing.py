"""Test that a larger budget makes the error of samplers dearer.

Every query is repriced and charged.
"""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from sqlmodel import select
from tests.support import priced
from tests.unit.services.raised import balance, books, discs, furnished, grant, habits
from tests.unit.sites import SITES
from tests.unit.worlds import CopyWorld, Keep, World

from penstock.accounting import Entry
from penstock.errors import BudgetExhausted
from penstock.persistence.tables import Tier
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.people import tier_changes, tiers, users
from penstock.services.queries import queries
from penstock.services.repository.datasets import dataset_by_name
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import (
    DatasetRequest,
    LevelsChange,
)
from penstock.services.schemas.streams import StreamChange, StreamRequest
from penstock.services.streams import streams

SMALL = {"public": {"epsilon": 0.02}, "internal": {"epsilon": 0.04}}
MECHANISMS = ("gaussian", "laplace", "poisson", "skellam", "generalized_gaussian")
VECTORS = "sites"


@pytest.fixture
def loans(copy_world: CopyWorld, keep: Keep) -> World:
    return furnished(copy_world, keep)


def test_a_raised_budget_charges_what_false_keys_cost_under_it(loans: World) -> None:
    books(loans)
    before = balance(loans, "loans")["internal", "books"]
    grant(loans, "loans", public=4, partner=4, internal=4)
    after = balance(loans, "loans")["internal", "books"]
    # (1 + e^4) / (1 + e) is 14.9; the sampler of the noise itself is charged another way now.
    assert 10 * before.failure < after.failure < 14.9 * before.failure


def test_a_budget_under_which_queries_cost_too_much_is_refused_by_their_names(
    loans: World,
) -> None:
    books(loans)
    before = balance(loans, "loans")
    with pytest.raises(BudgetExhausted, match=r"1\.95e-05 more is needed.*books \(") as refusal:
        grant(loans, "loans", public=12, partner=12, internal=12)
    data: dict[str, Any] = dict(refusal.value.data)
    assert data["tier"] == "public"
    assert data["needed_failure"] > 1e-6 > data["remaining_failure"]
    assert [one["query"] for one in data["needed_by"]] == ["books"]
    assert balance(loans, "loans") == before
    fits = data["largest_epsilon"]
    assert 1 < fits < 12
    with pytest.raises(BudgetExhausted):
        grant(loans, "loans", **dict.fromkeys(("public", "partner", "internal"), fits * 1.1))
    grant(loans, "loans", **dict.fromkeys(("public", "partner", "internal"), fits))
    with pytest.raises(BudgetExhausted):
        discs(loans)


def test_a_lowered_budget_leaves_every_price_what_it_was(loans: World) -> None:
    books(loans)
    grant(loans, "loans", public=3, partner=3, internal=3)
    before = balance(loans, "loans")
    grant(loans, "loans", public=1, partner=2, internal=2)
    assert balance(loans, "loans") == before
    # What is registered then may have been chosen by answers under the larger budget.
    discs(loans)
    tier_changes.create(loans.server, OPERATOR, TierSpec(name="staff", above="public"))
    with loans.server.database.read() as session:
        key = dataset_by_name(session, "loans").id or 0
        highest = {tier.id or 0: 3.0 for tier in session.exec(select(Tier)).all()}
        assert priced.ledger(session, key) == priced.from_nothing(session, key, highest)


def test_raising_by_steps_charges_what_raising_at_once_does(loans: World) -> None:
    books(loans)
    habits(loans)
    grant(loans, "loans", internal=2)
    grant(loans, "loans", internal=1.5)
    grant(loans, "loans", internal=3)
    by_steps = balance(loans, "loans")
    assert by_steps["public", "books"] != by_steps["internal", "books"]
    discs(loans)
    fresh = balance(loans, "loans")["internal", "discs"]
    assert by_steps["internal", "books"] == fresh


def test_a_retired_query_is_priced_anew_too(loans: World) -> None:
    books(loans)
    queries.retire(loans.server, OPERATOR, "books")
    before = balance(loans, "loans")["internal", "books"]
    grant(loans, "loans", public=4, partner=4, internal=4)
    assert balance(loans, "loans")["internal", "books"].failure > 10 * before.failure


def test_a_stream_is_priced_anew_too(world: World) -> None:
    """Under a small budget its sampler's error is charged as a probability, later as a loss."""
    small = {**SITES, "name": "small", "budgets": {"public": {"epsilon": 1.0}}}
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(small))
    spec = {
        "name": "hits",
        "dataset": "small",
        "mechanism": "gaussian",
        "structure": "binary",
        "length": 8,
        "max_levels": 8,
        "max_steps_per_unit": 1,
        "levels": {"public": {"epsilon": 0.03}, "internal": {"epsilon": 0.06}},
    }
    streams.open_stream(world.server, OPERATOR, StreamRequest.model_validate(spec))
    before = balance(world, "small")["internal", "hits"]
    grant(world, "small", public=2, partner=2, internal=2)
    after = balance(world, "small")["internal", "hits"]
    assert after.loss > before.loss
    assert after.failure < before.failure


def test_a_deleted_tier_pays_what_its_queries_cost_under_the_budget_that_it_is_lifted_to(
    loans: World,
) -> None:
    books(loans)
    change = UserChange(clearance="public")
    users.change(loans.server, OPERATOR, "paul", change)
    tier_changes.delete(loans.server, OPERATOR, "partner")
    before = balance(loans, "loans")["partner", "books"]
    grant(loans, "loans", public=4, internal=4)
    assert balance(loans, "loans")["partner", "books"].failure > 10 * before.failure


Act = Callable[[World], None]


def register(world: World) -> None:
    """Register a query of every mechanism, and streams."""
    for mechanism in MECHANISMS:
        power = 3 if mechanism == "generalized_gaussian" else None
        world.push(f"{mechanism} query", mechanism=mechanism, p=power, levels=SMALL, max_levels=8)
    for mechanism, structure in (("laplace", "auto"), ("gaussian", "buffered")):
        spec = {
            "name": f"{mechanism} {structure}",
            "dataset": VECTORS,
            "mechanism": mechanism,
            "structure": structure,
            "length": 40 if structure == "auto" else None,
            "max_steps_per_unit": 1,
            "levels": SMALL,
        }
        streams.open_stream(world.server, OPERATOR, StreamRequest.model_validate(spec))


def look_closer(world: World) -> None:
    """Allow more accurate levels of every query."""
    levels = {
        tier.tier: {"epsilon": 0.03} for tier in budgets.show(world.server, OPERATOR, VECTORS).tiers
    }
    levels["internal"] = {"epsilon": 0.06}
    for mechanism in MECHANISMS:
        change = LevelsChange.model_validate({"levels": levels, "values": [120, 7, 0]})
        queries.change(world.server, OPERATOR, f"{mechanism} query", change)
    change_stream = StreamChange.model_validate({"levels": levels})
    streams.change(world.server, OPERATOR, "laplace auto", change_stream)


def raise_budgets(world: World) -> None:
    epsilons = {"public": 6.0, "staff": 7.0, "partner": 8.0, "internal": 9.0}
    names = {tier.name for tier in tiers.listing(world.server)}
    grant(world, VECTORS, **{name: epsilons[name] for name in names})


def insert_tier(world: World) -> None:
    tier_changes.create(world.server, OPERATOR, TierSpec(name="staff", above="public"))
    if budgets.show(world.server, OPERATOR, VECTORS).tiers[0].granted.epsilon == 6:
        grant(world, VECTORS, staff=7.0)


ACTS: Sequence[Act] = (register, look_closer, raise_budgets, insert_tier)
ORDERS = [
    order
    for order in itertools.permutations(ACTS)
    if order.index(register) < order.index(look_closer)
]


SOME = [pytest.param(order, id="-".join(act.__name__ for act in order)) for order in ORDERS[::6]]
EVERY = [
    pytest.param(order, id="-".join(act.__name__ for act in order), marks=pytest.mark.nightly)
    for place, order in enumerate(ORDERS)
    if place % 6
]
Ledger = dict[tuple[str, str], Entry]


@pytest.fixture(scope="module")
def ledgers() -> list[Ledger]:
    """Return what the first order left."""
    return []


@pytest.mark.parametrize("order", SOME + EVERY)
def test_no_order_of_acts_leaves_another_ledger(
    world: World, ledgers: list[Ledger], order: Sequence[Act]
) -> None:
    for act in order:
        act(world)
    left = balance(world, VECTORS)
    assert {tier for tier, _ in left} == {"public", "staff", "partner", "internal"}
    assert len(left) == 4 * (len(MECHANISMS) + 2)
    assert left == (ledgers or [left])[0]
    ledgers.append(left)


def test_a_budget_that_reprices_nothing_is_found_out(
    loans: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    books(loans)
    monkeypatch.setattr(budgets, "reprice", lambda *_: None)
    grant(loans, "loans", internal=3)
    with pytest.raises(AssertionError):
        balance(loans, "loans")
