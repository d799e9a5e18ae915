"""Test a server's counters in one piece of memory: workers share them, tables stay apart."""

import os
from collections.abc import Iterator

import pytest
from tests.api.world import World

from penstock.computing import Outcome
from penstock.http.counting import counters
from penstock.http.counting.counters import Counters
from penstock.http.counting.shared_memory import nameless

ROUTES = [("GET", "/a"), ("GET", "/b")]


@pytest.fixture
def memory() -> Iterator[int]:
    made = nameless()
    yield made
    os.close(made)


def opened(world: World, memory: int | None) -> Counters:
    return counters.opened(world.server, ROUTES, world.stopwatch, memory)


def requests(counted: Counters) -> dict[tuple[str, str], int]:
    return {
        (route, status): sum(counts)
        for _, route, status, counts in counted.requests.counted()
        if sum(counts)
    }


def test_workers_count_together(world: World) -> None:
    """Two applications over one memory, as two workers have it."""
    memory = nameless()
    routes = [("GET", "/a"), ("GET", "/b")]
    one, two = (counters.opened(world.server, routes, world.stopwatch, memory) for _ in range(2))
    one.requests.count("GET", "/a", 200, 0.01)
    two.requests.count("GET", "/a", 204, 0.2)
    found = {
        (route, status): sum(counts)
        for _, route, status, counts in one.requests.counted()
        if sum(counts)
    }
    assert found == {("/a", "2xx"): 2}


def test_without_a_descriptor_each_process_counts_for_itself(world: World) -> None:
    one, two = opened(world, None), opened(world, None)
    one.requests.count("GET", "/a", 200, 0.01)
    assert requests(one) == {("/a", "2xx"): 1}
    assert requests(two) == {}


def test_a_computation_is_counted_and_its_time_is_charged(world: World, memory: int) -> None:
    one, two = opened(world, memory), opened(world, memory)
    one.computed("ann", Outcome.DONE, 0.5)
    assert {outcome: count for outcome, count in two.computations.counted() if count} == {
        str(Outcome.DONE): 1
    }
    assert requests(two) == {}, "the tables do not overlap"


def test_a_worker_with_other_routes_counts_apart(world: World, memory: int) -> None:
    """A master of an older version may start workers of a newer one."""
    one = opened(world, memory)
    other = counters.opened(world.server, [*ROUTES, ("GET", "/c")], world.stopwatch, memory)
    one.requests.count("GET", "/a", 200, 0.01)
    assert requests(other) == {}
