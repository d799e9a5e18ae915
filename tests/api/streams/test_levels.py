"""Test tiers that join a stream midway, and what they cost."""

from typing import Any

import numpy as np
import pytest
from tests.api.streams.clicks import API, CLICKS, HITS, push, read, totals
from tests.api.world import World, parsed


@pytest.fixture
def wide(world: World) -> World:
    """Return a stream of wide elements, three steps of which were pushed."""
    world.answer("POST", f"{API}/datasets", CLICKS, by="root")
    world.answer("POST", f"{API}/streams", {**HITS, "dimension": 2000}, by="root")
    push(world, 1, [[1] * 2000] * 3)
    return world


def change(world: World, levels: dict[str, float], status: int = 200) -> Any:
    body = {"levels": {tier: {"epsilon": epsilon} for tier, epsilon in levels.items()}}
    response = world.call("PATCH", f"{API}/streams/hits", body, by="root")
    assert response.status_code == status, response.text
    return parsed(response)


def spent(world: World) -> list[float]:
    tiers = world.answer("GET", f"{API}/datasets/clicks/budget", by="root")["tiers"]
    return [tier["spent_share"] for tier in tiers]


def noise(world: World, by: str, step: int) -> Any:
    answer = read(world, by, f"?from={step}&to={step}")
    return np.array(totals(answer)[0]) - step


def test_a_tier_inserted_between_two_has_totals_from_there_on(wide: World) -> None:
    before, ian = spent(wide), totals(read(wide, "ian"))
    wide.answer("POST", f"{API}/tiers", {"name": "partner", "rank": 20}, by="root")
    shown = change(wide, {"partner": 0.7})
    assert [(tier["tier"], tier["first"]) for tier in shown["tiers"]] == [
        *(("public", 1), ("partner", 4), ("internal", 1))
    ]
    push(wide, 4, [[1] * 2000] * 2)
    assert totals(read(wide, "ian"))[:3] == ian
    assert spent(wide)[0] == before[0]
    assert spent(wide)[2] == before[1]
    wide.answer("PATCH", f"{API}/users/ann", {"clearance": "partner"}, by="root")
    assert [item["t"] for item in read(wide, "ann")["items"]] == [4, 5]
    response = wide.call("GET", f"{API}/streams/hits/releases?from=3&to=4", by="ann")
    problem = parsed(response)
    assert (response.status_code, problem["errors"][0]["pointer"]) == (422, "/from")
    assert "from step 4" in problem["detail"]
    assert len(read(wide, "ann", "?tier=public")["items"]) == 5
    # Three coupled levels: what a noisier one adds is independent of the more accurate one.
    public, partner, internal = (
        np.array(totals(read(wide, "ian", f"?tier={tier}&from=4&to=4"))[0]) - 4
        for tier in ("public", "partner", "internal")
    )
    for noisy, accurate in ((public, partner), (partner, internal)):
        slope = float(noisy @ accurate / (accurate @ accurate))
        assert slope == pytest.approx(1, abs=0.12)
    assert partner.var() == pytest.approx(internal.var() / 0.7**2, rel=0.3)
    assert not np.array_equal(partner, internal)


def test_a_tier_more_accurate_than_all_is_charged(wide: World) -> None:
    before = spent(wide)
    change(wide, {"internal": 2})
    after = spent(wide)
    assert after[0] == before[0]
    assert after[1] > before[1]
    push(wide, 4, [[1] * 2000])
    assert noise(wide, "ian", 4).var() == pytest.approx(noise(wide, "ann", 4).var() / 16, rel=0.4)
    assert wide.call("GET", f"{API}/streams/hits/releases?from=1", by="ian").status_code == 422


def test_a_noisier_level_acts_on_the_future_and_costs_nothing(wide: World) -> None:
    before = spent(wide)
    shown = change(wide, {"public": 0.3})
    assert shown["tiers"][0]["guarantee"]["epsilon"] == pytest.approx(0.3, rel=0.02)
    assert spent(wide) == before
    push(wide, 4, [[1] * 2000])
    assert [item["t"] for item in read(wide, "ann")["items"]] == [4]
    # Back at a level that it had, everything is there again.
    change(wide, {"public": 0.5})
    assert len(read(wide, "ann")["items"]) == 4


def test_levels_that_cannot_be_meant_or_paid_change_nothing(wide: World) -> None:
    shown = wide.answer("GET", f"{API}/streams/hits", by="root")
    change(wide, {"internal": 0.1}, status=422)
    change(wide, {"nobody": 0.1}, status=422)
    assert change(wide, {"internal": 7.9}, status=409)["code"] == "BUDGET_EXHAUSTED"
    assert wide.answer("GET", f"{API}/streams/hits", by="root") == shown
    body = {"levels": {"internal": {"epsilon": 2}}, "values": [1]}
    assert wide.call("PATCH", f"{API}/streams/hits", body, by="root").status_code == 422
    assert wide.call("PATCH", f"{API}/queries/hits", body, by="root").status_code == 404
