"""Test what is asked of a home, and that answers of the wrong kind end a benchmark."""

import json
from itertools import islice
from pathlib import Path

import pytest
from tests.benchmarks.database.world import TIERS, exact_values
from tests.benchmarks.served.compared.populated import Home, Tree
from tests.benchmarks.served.compared.rows import FIRST, REPEAT, STORED
from tests.benchmarks.served.compared.sides import Side, between, new_levels
from tests.benchmarks.served.readers import Ask, Heard, Visit

SIZE = 5


@pytest.fixture
def side() -> Side:
    return Side(Home(Tree("now"), Path(), {}), queries=2, values=SIZE)


def answered(asks: list[Ask], shift: float = 0.0) -> Visit:
    """Return what a server might answer: the exact values, all of them off by one deviation."""
    heard = []
    for ask in asks:
        level = json.loads(ask.body or "").get("level", TIERS["internal"])
        values = [value + level**0.5 + shift for value in exact_values(SIZE).tolist()]
        query = ask.path.split("/")[-2]
        release = {"id": f"{query}-{level}", "query": query, "level": {"value": level}}
        heard.append(Heard(200, json.dumps({**release, "values": values}).encode(), 0.001))
    return Visit(heard, 0.0, 1.0)


def drawn(side: Side, clients: int, most: int) -> list[list[Ask]]:
    asks = side.asks(FIRST, clients, most)
    side.take(FIRST, asks, [answered(own) for own in asks])
    return asks


def test_levels_are_new_for_long_between_those_of_the_tiers() -> None:
    asks = list(islice(new_levels(3), 3000))
    assert len(set(asks)) == 3000
    assert {ask.path for ask in asks} == {
        f"/api/v1/queries/query-{number}/releases" for number in range(3)
    }
    levels = [json.loads(ask.body or "")["level"] for ask in asks]
    assert TIERS["internal"] < min(levels) < max(levels) < TIERS["partner"]


def test_fractions_fill_the_interval_evenly() -> None:
    assert [between(step) for step in range(1, 8)] == [
        *(1 / 2, 1 / 4, 3 / 4, 1 / 8, 5 / 8, 3 / 8, 7 / 8)
    ]


def test_first_releases_that_were_not_reached_in_time_are_asked_for_later(side: Side) -> None:
    asks = side.asks(FIRST, 2, 8)
    side.take(FIRST, asks, [answered(own[:3]) for own in asks])
    (again,) = side.asks(FIRST, 1, 3)
    assert again[:2] == [asks[0][3], asks[1][3]]
    assert again[2] not in asks[0] + asks[1]


def test_repeats_are_what_a_reader_was_given(side: Side) -> None:
    own, others = drawn(side, 2, 6)
    (repeats, _) = side.asks(REPEAT, 2, 40)
    assert len(repeats) == 20
    assert set(repeats) == {*side.anchors, *own}
    assert not set(repeats) & set(others)


def test_stored_releases_are_what_another_reader_drew_and_only_once(side: Side) -> None:
    first = drawn(side, 2, 6)
    asks = side.asks(STORED, 2, 4)
    assert asks == [first[1][:2], first[0][:2]]
    side.take(STORED, asks, [answered(asks[0][:1]), answered(asks[1])])
    assert side.asks(STORED, 2, 100) == [first[1][2:] + first[1][1:2], first[0][2:]]
    assert side.asks(STORED, 2, 100) == [[], []]


def test_stored_releases_are_divided_among_the_pieces_to_come(side: Side) -> None:
    drawn(side, 2, 10)
    counts = [[len(own) for own in side.asks(STORED, 2, 100, pieces)] for pieces in (3, 2, 1)]
    assert counts == [[2, 2], [2, 2], [1, 1]]
    drawn(side, 2, 10)
    side.draw_anew()
    assert side.asks(STORED, 2, 100) == [[], []]


@pytest.mark.parametrize(("shown_as", "really"), [(FIRST, REPEAT), (REPEAT, FIRST)])
def test_a_release_of_the_other_kind_is_refused(side: Side, shown_as: str, really: str) -> None:
    side.warm([answered(side.anchors)])
    asks = side.asks(really, 1, 2)
    with pytest.raises(AssertionError, match=f"{shown_as}: "):
        side.take(shown_as, asks, [answered(own) for own in asks])


def test_another_vector_of_the_same_release_is_refused(side: Side) -> None:
    side.warm([answered(side.anchors)])
    with pytest.raises(AssertionError, match="two different releases"):
        side.warm([answered(side.anchors, shift=1.0)])
