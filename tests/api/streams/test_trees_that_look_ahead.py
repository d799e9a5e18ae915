"""Test Laplace streams whose tree subtracts at a delta above 0, charged their pure epsilon."""

from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from tests.api.streams.clicks import API, CLICKS, HITS, push, read, totals
from tests.api.world import World, parsed

from penstock.accounting import account_of, pure_loss, refinement_loss
from penstock.mechanisms import Laplace
from penstock.privacy import Sensitivity
from penstock.services.access.principals import OPERATOR
from penstock.services.verification.verification import verify

AUTO: dict[str, Any] = {**HITS, "structure": "auto"}
SMALL = {**CLICKS, "name": "small", "budgets": {"public": {"epsilon": 1}}}
WIDE = {
    **AUTO,
    "length": 64,
    "dimension": 10,
    "sensitivity": {"l1": 10, "linf": 1},
    "levels": {"internal": {"epsilon": 4}},
}


@pytest.fixture
def clicks(world: World) -> World:
    world.answer("POST", f"{API}/datasets", CLICKS, by="root")
    return world


def opened(world: World, body: dict[str, Any]) -> Any:
    return world.answer("POST", f"{API}/streams", body, by="root")


def shares(world: World, dataset: str = "clicks") -> list[float]:
    tiers = world.answer("GET", f"{API}/datasets/{dataset}/budget", by="root")["tiers"]
    return [tier["spent_share"] for tier in tiers]


def exposure(world: World, users: str) -> tuple[float, float]:
    path = f"{API}/audit/exposure?users={users}&dataset=clicks"
    found = world.answer("GET", path, by="olga")
    return found["released"]["epsilon"], found["could_be"]["epsilon"]


def test_each_tier_is_charged_the_pure_epsilon_of_its_level(clicks: World) -> None:
    shown = opened(clicks, AUTO)
    assert shown["structure"]["subtracting"]
    for tier, epsilon, budget, spent in zip(
        shown["tiers"], (0.5, 1.0), (4.0, 8.0), shares(clicks), strict=True
    ):
        promise = tier["guarantee"]
        assert (promise["definition"], promise["delta"]) == ("pure", 0)
        assert promise["epsilon"] == pytest.approx(epsilon, rel=1e-3)
        account = account_of(budget, 1e-6)
        loss = pure_loss(promise["epsilon"], account.order)
        assert spent == pytest.approx(loss / account.limit, rel=1e-6)


def test_the_charge_is_above_that_of_the_divergences_which_are_not_proved(clicks: World) -> None:
    """Ten numbers in two nodes lose less than their sum, for elements that nobody chose."""
    shown = opened(clicks, WIDE)
    assert shown["structure"]["subtracting"]
    (tier,), moved = shown["tiers"], shown["sensitivity"]
    account = account_of(8.0, 1e-6)
    sensitivity = Sensitivity(
        Fraction(moved["l1"]), Fraction(round(moved["l2"] ** 2)), Fraction(moved["linf"])
    )
    level = Fraction(tier["level"]["value"])
    fixed = Laplace(Fraction(shown["granularity"])).cost(level, sensitivity, account.order).loss
    spent = shares(clicks)[-1] * account.limit
    assert spent == pytest.approx(pure_loss(4.0, account.order), rel=1e-3)
    assert fixed < 0.97 * spent


def test_exposure_is_that_of_the_pure_epsilon(clicks: World) -> None:
    opened(clicks, WIDE)
    push(clicks, 1, [[1] * 10])
    read(clicks, "ian")
    # Of the lattice's law it would be 3.9 at this delta.
    assert list(exposure(clicks, "ian")) == pytest.approx([4.0, 4.0], rel=2e-3)


def test_a_coalition_loses_what_its_best_member_does(clicks: World) -> None:
    opened(clicks, AUTO)
    push(clicks, 1, [1, 2, 3])
    for reader in ("ann", "ian"):
        read(clicks, reader)
    assert exposure(clicks, "ann,ian") == exposure(clicks, "ian")
    assert exposure(clicks, "ann")[0] == pytest.approx(0.5, rel=2e-3)
    assert exposure(clicks, "ian")[0] == pytest.approx(1.0, rel=2e-3)


def test_a_tier_that_joins_is_between_its_neighbors_and_charged_for_the_whole(
    clicks: World,
) -> None:
    assert opened(clicks, {**AUTO, "dimension": 2000})["structure"]["subtracting"]
    push(clicks, 1, [[1] * 2000] * 3)
    before = shares(clicks)
    clicks.answer("POST", f"{API}/tiers", {"name": "partner", "rank": 20}, by="root")
    joined = {"levels": {"partner": {"epsilon": 0.7}}}
    clicks.answer("PATCH", f"{API}/streams/hits", joined, by="root")
    push(clicks, 4, [[1] * 2000] * 2)
    noises = [
        np.array(totals(read(clicks, "ian", f"?tier={tier}&from=5&to=5"))[0]) - 5
        for tier in ("public", "partner", "internal")
    ]
    for noisy, accurate in pairwise(noises):
        slope = float(noisy @ accurate / (accurate @ accurate))
        assert slope == pytest.approx(1, abs=0.12)
    assert noises[1].var() == pytest.approx(noises[2].var() / 0.7**2, rel=0.3)
    assert shares(clicks)[2] == before[1]
    clicks.answer(
        "PATCH", f"{API}/streams/hits", {"levels": {"internal": {"epsilon": 2}}}, by="root"
    )
    account = account_of(8.0, 1e-6)
    added = (shares(clicks)[2] - before[1]) * account.limit
    assert added == pytest.approx(refinement_loss(1.0, 2.0, account.order), rel=2e-3)
    assert verify(clicks.server, OPERATOR).problems == []


def test_where_the_budgets_lack_room_the_tree_that_adds_is_opened(world: World) -> None:
    """Each is previewed as it is opened, and the last is refused at the cheaper charge."""
    world.answer("POST", f"{API}/datasets", SMALL, by="root")
    kinds: list[bool | None] = []
    for number in range(3):
        body = {**AUTO, "name": f"hits-{number}", "dataset": "small", "length": 1024}
        body["levels"] = {"public": {"epsilon": 0.3}}
        found = world.answer("POST", f"{API}/streams/preview", body, by="root")
        response = world.call("POST", f"{API}/streams", body, by="root")
        if response.status_code != 201:
            assert (response.status_code, parsed(response)["code"]) == (409, "BUDGET_EXHAUSTED")
            assert found["refusal"] == parsed(response)["detail"]
            kinds.append(None)
            continue
        shown = parsed(response)
        assert (found["structure"], found["refusal"]) == (shown["structure"], None)
        kinds.append(shown["structure"]["subtracting"])
    # In shares of the budget 0.515 and 0.388; a third one would need 0.388 again.
    assert kinds == [True, False, None]
    assert shares(world, "small")[0] == pytest.approx(0.903, abs=0.01)
