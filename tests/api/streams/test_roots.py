"""Test streams whose totals come from the square root, or from buffers.

The noise of every step goes on in later ones, and none is drawn again.
"""

from typing import Any

import numpy as np
import pytest
from tests.api.streams.clicks import API, CLICKS, HITS, push, read, totals
from tests.api.world import World

ROOT: dict[str, Any] = {**HITS, "mechanism": "gaussian", "structure": "sqrt", "dimension": 600}
BUFFERS: dict[str, Any] = {**ROOT, "structure": "buffered", "length": None}
SPECS = {"square_root": ROOT, "buffered": BUFFERS}


@pytest.fixture(params=SPECS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def root(world: World, kind: str) -> World:
    world.answer("POST", f"{API}/datasets", CLICKS, by="root")
    world.answer("POST", f"{API}/streams", SPECS[kind], by="root")
    push(world, 1, [[1] * 600] * 3)
    return world


def noise(world: World, tier: str, step: int) -> Any:
    answer = read(world, "ian", f"?from={step}&to={step}&tier={tier}")
    return np.array(totals(answer)[0]) - step


def test_the_structure_is_shown_as_such(root: World, kind: str) -> None:
    shown = root.answer("GET", f"{API}/streams/hits", by="root")
    buffers = {"buffers": 14} if kind == "buffered" else {}
    assert shown["structure"] == {"kind": kind, **buffers}
    assert (shown["next"], shown["length"]) == (4, SPECS[kind]["length"])
    granularity = read(root, "ann")["granularity"]
    assert granularity == shown["granularity"]
    steps = np.array(totals(read(root, "ann"))) / granularity
    assert (steps == np.rint(steps)).all()


def test_the_noises_of_totals_are_stated(root: World, kind: str) -> None:
    answer = read(root, "ann")
    stated = answer["covariance"]
    assert stated["structure"]["kind"] == kind
    assert len(stated["weights"] or []) == (14 if kind == "buffered" else 0)
    spread = answer["items"][0]["error"]["standard_deviation"] ** 2
    assert stated["variance"] == pytest.approx(spread - answer["granularity"] ** 2 / 12, rel=1e-5)


def test_what_was_given_stays_and_the_server_goes_on_with_the_same_noise(root: World) -> None:
    before = totals(read(root, "ian"))
    root.server.database.close()
    push(root, 4, [[1] * 600] * 2)
    after = totals(read(root, "ian"))
    assert after[:3] == before
    third, fourth = noise(root, "internal", 3), noise(root, "internal", 4)
    slope = float(third @ fourth / (third @ third))
    # Both have all nodes of the third: entries 1, 1/2, 3/8 beside 1/2, 3/8, 5/16 of L, which
    # those of buffers are near to.
    shared = 1 / 2 + 3 / 16 + 15 / 128
    assert slope == pytest.approx(shared / (1 + 1 / 4 + 9 / 64), abs=0.12)


def test_a_tier_that_joins_is_between_its_neighbors(root: World) -> None:
    root.answer("POST", f"{API}/tiers", {"name": "partner", "rank": 20}, by="root")
    body = {"levels": {"partner": {"epsilon": 0.7}, "internal": {"epsilon": 2}}}
    shown = root.answer("PATCH", f"{API}/streams/hits", body, by="root")
    assert [tier["first"] for tier in shown["tiers"]] == [1, 4, 4]
    push(root, 4, [[1] * 600])
    levels = ("public", "partner", "internal")
    found = {tier: noise(root, tier, 4) for tier in levels}
    for noisy, accurate in (("public", "partner"), ("partner", "internal")):
        slope = float(found[noisy] @ found[accurate] / (found[accurate] @ found[accurate]))
        assert slope == pytest.approx(1, abs=0.35)
    for tier in levels:
        items = read(root, "ian", f"?from=4&to=4&tier={tier}")["items"]
        deviation = items[0]["error"]["standard_deviation"]
        assert float(found[tier].std()) == pytest.approx(deviation, rel=0.15)


def test_a_unit_in_several_steps_is_charged_what_its_columns_are_together(
    root: World, kind: str
) -> None:
    one = root.answer("GET", f"{API}/streams/hits", by="root")["sensitivity"]
    several = {**SPECS[kind], "name": "several", "max_steps_per_unit": 4, "dimension": 1}
    four = root.answer("POST", f"{API}/streams", several, by="root")["sensitivity"]
    assert one["l2"] < four["l2"] < 3.9 * one["l2"]
    assert 3.5 * one["l1"] < four["l1"] < 4 * one["l1"]
