"""Test that after a request nothing in the process refers to the exact values that it brought."""

import gc
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from tests.api.world import QUERY, World

from penstock.api import bodies
from penstock.http import problems

CANARY = 47110815
ROWS = 400


Containers = list[list[Any] | dict[Any, Any]]


@pytest.fixture(scope="module")
def older() -> Iterator[Containers]:
    """Yield the lists and dicts that are there already, of which no more is collected meanwhile."""
    gc.unfreeze()  # tests/conftest.py
    gc.collect()
    found = [one for one in gc.get_objects() if type(one) in (list, dict)]
    gc.freeze()
    yield found
    gc.unfreeze()  # so that cycles of what these tests made are found by the tests that follow
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def uncollected(older: Containers) -> Iterator[None]:
    """Let cycles that only the collector would free count as kept."""
    del older
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    """Return an application whose statements are its own, which keep their first values."""
    return open_copy(keeps_statements=False)


def holders(older: Containers) -> list[str]:
    """Return the kinds of live object that hold the canary; tuples that are older cannot."""
    return [
        type(found).__name__ for found in itertools.chain(gc.get_objects(), older) if _holds(found)
    ]


def _holds(found: Any) -> bool:
    kind = type(found)
    if kind is dict:
        return any(
            _is_exact(value)
            for value in list(found.values())
            if type(value) in TEXTS or isinstance(value, np.ndarray)
        )
    return kind in (list, tuple) and len(found) == ROWS and found[1] == CANARY


TEXTS = {bytes, bytearray, str}


def _is_exact(value: Any) -> bool:
    if isinstance(value, np.ndarray):
        return value.size == ROWS and CANARY in value
    if len(value) <= ROWS:
        return False
    text = value if isinstance(value, str) else bytes(value).decode("latin-1")
    return str(CANARY) in text


def push(world: World, path: str = "/api/v1/queries", **changes: Any) -> int:
    """Register a vector that holds the canary, or preview it; the status."""
    # Made here alone, so that the test itself keeps no list of it.
    body = {**QUERY, "name": "pushed", "keys": None, "values": [1, CANARY] + [0] * (ROWS - 2)}
    return world.call("POST", path, {**body, **changes}, by="root").status_code


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ({}, 201),
        ({"surprise": 1}, 422),
        ({"bound": 10}, 422),
        ({"name": "visits"}, 409),
        ({"dataset": "absent"}, 404),
        ({"levels": {"public": {"epsilon": 50}}}, 409),
    ],
)
def test_no_live_object_holds_a_pushed_vector(
    world: World, older: Containers, changes: dict[str, Any], status: int
) -> None:
    assert push(world, **changes) == status
    assert holders(older) == []


@pytest.mark.parametrize(("changes", "status"), [({}, 200), ({"bound": 10}, 422)])
def test_no_live_object_holds_a_vector_that_was_previewed(
    world: World, older: Containers, changes: dict[str, Any], status: int
) -> None:
    assert push(world, "/api/v1/queries/preview", **changes) == status
    assert holders(older) == []


def test_a_body_cut_short_is_not_kept(world: World, older: Containers) -> None:
    data = b'{"values": [1, %d, ' % CANARY + b"0, " * ROWS
    assert world.call("POST", "/api/v1/queries", by="root", data=data).status_code == 400
    del data
    assert holders(older) == []


def test_a_fault_of_ours_keeps_nothing(
    world: World, older: Containers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.services.noise.level_rule.draw_anchor", lambda *_: 1 / 0)
    assert push(world) == 500
    assert holders(older) == []


def test_what_is_not_forgotten_is_found(
    world: World, older: Containers, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The measurement itself: frames that are not cleared keep a refused body."""
    monkeypatch.setattr(problems, "forget", lambda _: None)
    assert push(world, surprise=1) == 422
    assert holders(older) != []


def test_a_large_body_waits_for_another(
    open_copy: Callable[..., World], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each process holds one at a time: a second one is told to come back."""
    world = open_copy(body_limit=1024)
    monkeypatch.setattr(bodies, "LARGE_BODY_PATIENCE_SECONDS", 0.01)
    read = bodies.read
    statuses: list[int] = []

    def read_while_another_comes(request: Any, limit: int) -> bytearray:
        if not statuses:
            statuses.append(0)
            statuses.append(push(world, name="second"))
        return read(request, limit)

    monkeypatch.setattr(bodies, "read", read_while_another_comes)
    assert push(world) == 201
    assert statuses == [0, 503]
