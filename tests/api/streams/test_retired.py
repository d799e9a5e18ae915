"""Test a retired stream: it takes no elements, and releases only what it released before."""

import pytest
from tests.api.streams.clicks import API, CLICKS, HITS, push, read, totals
from tests.api.world import World

STREAM = f"{API}/streams/hits"


@pytest.fixture
def retired(world: World) -> World:
    world.answer("POST", f"{API}/datasets", CLICKS, by="root")
    world.answer("POST", f"{API}/streams", HITS, by="root")
    push(world, 1, [1] * 9)
    read(world, "ann", "?from=2&to=6")
    world.answer("POST", f"{STREAM}/retire", by="root")
    return world


def test_nothing_comes_in_and_no_level_moves(retired: World) -> None:
    assert push(retired, 10, [1], status=409)["code"] == "CONFLICT"
    levels = {"levels": {"public": {"epsilon": 0.1}}}
    assert retired.call("PATCH", STREAM, levels, by="root").status_code == 409
    shown = retired.answer("GET", STREAM, by="ann")
    assert (shown["status"], shown["next"]) == ("retired", 10)
    again = retired.answer("POST", f"{STREAM}/retire", by="root")
    assert again["status"] == "retired"


def test_what_was_given_is_given_again_and_no_more(retired: World) -> None:
    whole = read(retired, "ann", "?from=2&to=6")
    assert totals(read(retired, "ann", "?from=3&to=5")) == totals(whole)[1:4]
    for query in ("", "?from=1&to=6", "?from=2&to=7"):
        assert read(retired, "ann", query, status=409)["code"] == "CONFLICT"
    # Others were given nothing, and a level at which nothing was given is another.
    read(retired, "ian", "?from=2&to=6", status=409)
    read(retired, "ian", "?from=2&to=6&tier=public", status=409)


def test_nothing_comes_back_to_the_budget_and_the_name_stays_taken(retired: World) -> None:
    tiers = retired.answer("GET", f"{API}/datasets/clicks/budget", by="root")["tiers"]
    assert all(tier["spent"]["epsilon"] > 0.4 for tier in tiers)
    assert retired.call("POST", f"{API}/streams", HITS, by="root").status_code == 409


def test_retiring_is_a_leaf(retired: World) -> None:
    leaves = retired.answer("GET", f"{API}/audit/events?kind=query&query=hits", by="olga")["items"]
    assert [leaf.get("retired") for leaf in leaves] == [None, True]
