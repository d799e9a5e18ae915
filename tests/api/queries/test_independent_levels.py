"""Test generalized Gaussian queries over HTTP.

Said to be not lossless, and released at their levels.
"""

from typing import Any

import pytest
from tests.api.world import World, parsed

QUERIES = "/api/v1/queries"
COUNTS: dict[str, Any] = {
    "name": "counts",
    "dataset": "wide",
    "values": list(range(16)),
    "sensitivity": {"l1": 16, "linf": 1},
    "mechanism": "generalized_gaussian",
    "p": 3,
    "levels": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 1}},
}
WIDE = {
    "name": "wide",
    "source": {"engine": "vector"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "budgets": {"public": {"epsilon": 8}, "internal": {"epsilon": 8}},
}


@pytest.fixture
def wide(world: World) -> World:
    """Return the world with a query of 16 counts with p = 3."""
    world.answer("POST", "/api/v1/datasets", WIDE, by="root")
    world.answer("POST", QUERIES, COUNTS, by="root")
    return world


def test_a_query_says_that_its_levels_add_up(wide: World) -> None:
    found = wide.answer("GET", f"{QUERIES}/counts", by="root")
    assert (found["p"], found["lossless"]) == (3, False)
    public, *_, internal = found["tiers"]
    assert public["composed"]["epsilon"] == pytest.approx(public["guarantee"]["epsilon"])
    assert internal["composed"]["epsilon"] > internal["guarantee"]["epsilon"] * 1.05
    assert len(internal["composed"]["levels"]) == 2
    plain = {**COUNTS, "name": "plain", "mechanism": "gaussian", "p": None}
    other = wide.answer("POST", QUERIES, plain, by="root")
    assert (other["p"], other["lossless"]) == (None, True)
    assert {tier["composed"] for tier in other["tiers"]} == {None}


def test_a_release_has_a_scale_and_no_other_level_can_be_had(wide: World) -> None:
    own = wide.answer("POST", f"{QUERIES}/counts/releases", {}, by="ian")
    assert own["level"]["parameter"] == "scale"
    assert own["error"]["half_width"] > 0
    low = wide.answer("POST", f"{QUERIES}/counts/releases", {"epsilon": 0.5}, by="ian")
    refused = wide.call("POST", f"{QUERIES}/counts/releases", {"epsilon": 0.7}, by="ian")
    assert refused.status_code == 422
    problem = parsed(refused)
    assert problem["code"] == "INVALID_INPUT"
    assert problem["errors"][0]["pointer"] == "/epsilon"
    assert "no lossless levels" in problem["detail"]
    for one in (own, low):
        assert f"{one['level']['value']:g}" in problem["detail"]
    above = wide.call("POST", f"{QUERIES}/counts/releases", {"epsilon": 0.7}, by="ann")
    assert above.status_code == 403


def test_the_log_and_the_exposure_list_every_level(wide: World) -> None:
    levels = [
        wide.answer("POST", f"{QUERIES}/counts/releases", body, by="ian")["level"]["value"]
        for body in ({}, {"tier": "public"})
    ]
    found = wide.answer("GET", "/api/v1/audit/exposure?users=ian&dataset=wide", by="olga")
    (one,) = found["queries"]
    assert one["composed"]["levels"] == levels
    assert found["released"]["epsilon"] == pytest.approx(one["composed"]["epsilon"], rel=5e-3)


def test_a_preview_recommends_a_power(wide: World) -> None:
    body = {**COUNTS, "name": "next"}
    found = wide.answer("POST", f"{QUERIES}/preview", body, by="root")
    assert found["powers"]["recommended"] in (1, 2)
    assert all(tier["expected_maximum"] > 0 for tier in found["tiers"])
    assert [one["p"] for one in found["powers"]["choices"]] == [1, 2, 3]
    seen = wide.answer("POST", f"{QUERIES}/preview", body, by="ann")
    assert [tier["tier"] for tier in seen["tiers"]] == ["public"]
    assert "the same level" in seen["powers"]["reason"]
