"""Test that a chunk that another process draws has the bytes that the server would have drawn."""

import json
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from tests.altered_bytes import altered
from tests.faults.processes import CONTEXT
from tests.unit.services.noise.long_vectors.spread.spreading import drawn, in_turn
from tests.unit.services.noise.long_vectors.stored_vectors import store, vectors
from tests.unit.worlds import LONG_VALUES, World

from penstock.errors import Conflict, IntegrityViolation, Unavailable
from penstock.services.noise.long_vectors import sizes
from penstock.services.noise.long_vectors.spread.chunk_work import carried_out

CHUNKS = 10
MECHANISMS: list[dict[str, object]] = [
    {"mechanism": "gaussian"},
    {"mechanism": "laplace"},
    {"mechanism": "laplace", "granularity": 1},
    {"mechanism": "poisson"},
    {"mechanism": "skellam"},
]


@pytest.fixture
def stored(world: World, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> World:
    """Provide a query in ten chunks, of which the anchor and a noisy level are stored."""
    monkeypatch.setattr(sizes, "CHUNK", len(LONG_VALUES) // CHUNKS)
    noise = getattr(request, "param", MECHANISMS[0])
    world.push("long", values=LONG_VALUES, keys=None, **noise)
    world.ask("pia", "long")
    return world


@pytest.mark.slow
@pytest.mark.parametrize("workers", [1, 8])
def test_one_process_and_eight_draw_the_same_bytes_as_the_server(
    stored: World, workers: int
) -> None:
    with ProcessPoolExecutor(workers, mp_context=CONTEXT) as pool:
        spread = drawn(stored, lambda told: pool.map(carried_out, told))
    spread.require_whole()
    assert spread.manifest.count == CHUNKS
    assert spread.whole().tolist() == drawn(stored, None).whole().tolist()


@pytest.mark.parametrize("stored", MECHANISMS, indirect=True)
@pytest.mark.parametrize("is_last", [False, True])
def test_every_mechanism_is_drawn_elsewhere_as_here(stored: World, is_last: bool) -> None:
    spread = drawn(stored, in_turn, is_last=is_last)
    assert spread.whole().tolist() == drawn(stored, None, is_last=is_last).whole().tolist()
    spread.require_whole()


@pytest.mark.parametrize("damage", ["missing", "altered"])
def test_a_worker_draws_nothing_from_a_damaged_neighbor(stored: World, damage: str) -> None:
    vector = vectors(stored)[min(vectors(stored))]
    file = store(stored).folder / vector.manifest.attempt / "00000007"
    if damage == "missing":
        file.unlink()
    else:
        file.write_bytes(altered(file.read_bytes()))
    before = set(store(stored).attempts())
    with pytest.raises(IntegrityViolation, match=r"A worker: Chunk 7 of 10 of release") as caught:
        drawn(stored, in_turn)
    assert caught.value.data == {"path": str(file)}
    assert set(store(stored).attempts()) == before


@pytest.mark.parametrize("stored_last", [False, True])
def test_a_level_is_not_drawn_from_a_neighbor_that_was_cut_elsewhere(
    stored: World, monkeypatch: pytest.MonkeyPatch, stored_last: bool
) -> None:
    """Two versions may cut a vector in other places; chunk 3 of one is not chunk 3 of the other."""
    monkeypatch.setattr(sizes, "CHUNK", len(LONG_VALUES) // CHUNKS + 1)
    before = set(store(stored).attempts())
    for spread in (in_turn, None):
        with pytest.raises(Conflict, match="Chunk 0 of the new level has the values from 0"):
            drawn(stored, spread, is_last=stored_last)
    assert set(store(stored).attempts()) == before


def test_a_work_that_is_repeated_is_refused(stored: World) -> None:
    """A chunk is written once: nothing is drawn a second time in its place."""

    def twice(told: list[str]) -> Iterable[str]:
        return map(carried_out, [*told, told[0]])

    with pytest.raises(Unavailable, match="File exists"):
        drawn(stored, twice)


def test_a_work_has_no_exact_value_and_the_keys_of_three_attempts_alone(stored: World) -> None:
    seen: list[str] = []

    def noted(told: list[str]) -> Iterable[str]:
        seen.extend(told)
        return in_turn(told)

    new = drawn(stored, noted)
    fields = json.loads(seen[0])
    assert set(fields) == {
        *("store", "mechanism", "level", "key", "places", "accurate", "noisy", "index", "stream")
    }
    assert fields["key"] == new.key.material.hex()
    assert len({json.loads(told)["stream"] for told in seen}) == CHUNKS
    for neighbor in (fields["accurate"], fields["noisy"]):
        assert set(neighbor) == {"level", "manifest", "key", "places", "called"}
    assert Path(fields["store"]).is_absolute()
