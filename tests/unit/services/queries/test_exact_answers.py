"""Test that once the anchor is drawn, the exact answer is nowhere: not on disk, not in memory."""

import gc
from collections.abc import Callable
from itertools import chain
from pathlib import Path

import numpy as np
import pytest
from tests.databases.homes import Homes
from tests.unit.sites import VISITS
from tests.unit.worlds import World

from penstock.connectors.planning.prepare import PreparedQuery
from penstock.errors import PenstockError
from penstock.services.access.principals import OPERATOR
from penstock.services.queries import exact_answers, recorded_statement, registration
from penstock.services.queries.charging import rows
from penstock.services.schemas.queries import PushedVectorRequest

SIZE = 37
FIRST, STEP = 1_907_340_119, 1_000_003
SCALES = [2**exponent for exponent in range(-24, 25)]


def canary() -> list[int]:
    """Return values that nothing else in the process looks like; made again at every call."""
    return [FIRST + STEP * place for place in range(SIZE)]


KINDS = (np.ndarray, list, tuple, str, bytes, bytearray)


def is_canary(candidate: object) -> bool:
    """Return whether an object holds the exact vector, in whatever lattice."""
    if isinstance(candidate, np.ndarray) and candidate.shape == (SIZE,):
        differences = np.diff(candidate.astype(np.float64))
        first = float(candidate[0])
        return bool(
            differences[0] != 0
            and np.all(differences == differences[0])
            and abs(first / differences[0] - FIRST / STEP) < 1e-12
        )
    if isinstance(candidate, list | tuple) and len(candidate) == SIZE:
        return candidate[0] in (FIRST, float(FIRST)) and candidate[1] == FIRST + STEP
    if isinstance(candidate, str):
        candidate = candidate.encode("utf-8", "surrogatepass")
    if isinstance(candidate, bytes | bytearray) and len(candidate) >= 7 * SIZE:
        return holds_canary(bytes(candidate))
    return False


def traces() -> list[bytes]:
    """Return what the vector's third value looks like in text and as 64-bit integers."""
    value = FIRST + 2 * STEP
    binary = [
        int(value * scale).to_bytes(8, "little") for scale in SCALES if value * scale >= 2**16
    ]
    return [str(value).encode(), np.float64(value).tobytes(), *binary]


TRACES = traces()


def holds_canary(content: bytes) -> bool:
    return any(trace in content for trace in TRACES[:2]) or any(
        trace in content for trace in TRACES[2:] if trace.count(b"\x00") < 5
    )


def push(world: World, **changes: object) -> None:
    body = {**VISITS, "keys": None, "values": canary(), **changes}
    registration.register(world.server, OPERATOR, PushedVectorRequest.model_validate(body))


def live_canaries() -> list[object]:
    gc.unfreeze()  # tests/conftest.py
    gc.collect()
    holders = gc.get_objects()
    # Each once, and only what ``is_canary`` knows: most objects are named by many others.
    found = {
        id(candidate): candidate
        for candidate in chain(holders, gc.get_referents(*holders))
        if isinstance(candidate, KINDS)
    }
    return [
        type(candidate)
        for candidate in found.values()
        if candidate is not TRACES and is_canary(candidate)
    ]


@pytest.fixture
def files(homes: Homes, world: World) -> Callable[[], list[Path]]:
    """Return all that is on disk of the world's home and database, from now on."""
    since = homes.cluster.log_place() if homes.cluster else ""

    def find() -> list[Path]:
        home = world.server.settings.home
        found = [path for path in home.rglob("*") if path.is_file()]
        if homes.cluster:
            found += homes.cluster.files(homes.made[0], since)
        return found

    return find


OLDER: list[object] = []
"""What holds answers may have been there before the tests, as a module's own cache is."""


@pytest.mark.slow
def test_the_search_finds_an_answer_that_is_still_held() -> None:
    OLDER.extend([canary(), np.array(canary()), str(canary())])
    assert {list, np.ndarray, str} <= set(live_canaries())
    OLDER.clear()


@pytest.mark.slow
def test_no_live_object_refers_to_the_exact_answer(world: World) -> None:
    """Whether it was answered from, by any mechanism, or refused; one search looks for all."""
    for mechanism in ("gaussian", "laplace", "poisson", "skellam"):
        push(world, name=mechanism, mechanism=mechanism)
        world.ask("pia", mechanism)
    with pytest.raises(PenstockError):
        push(world, name="refused", levels={"public": {"epsilon": 50.0}})
    assert live_canaries() == []


def test_no_file_of_the_home_holds_the_exact_answer(
    world: World, files: Callable[[], list[Path]]
) -> None:
    push(world)
    for name in ("pia", "paul", "ines"):
        world.ask(name)
    found = files()
    assert any("wal" in path.name or "wal" in path.parent.name for path in found)
    assert [path for path in found if holds_canary(path.read_bytes())] == []


def test_the_search_finds_what_a_server_that_forgets_nothing_leaves(
    world: World, files: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = recorded_statement.spec_text

    def careless(request: exact_answers.Request, prepared: PreparedQuery) -> str:
        return kept(request, prepared)[:-1] + f', "values": {canary()}}}'

    monkeypatch.setattr(rows, "spec_text", careless)
    push(world)
    assert any(holds_canary(path.read_bytes()) for path in files())


def test_the_search_finds_plain_integers_of_the_state(
    world: World, files: Callable[[], list[Path]], monkeypatch: pytest.MonkeyPatch
) -> None:
    def unsealed(*arguments: object) -> bytes:
        steps = arguments[-1]
        assert isinstance(steps, np.ndarray)
        return np.array(canary(), dtype="<i8").tobytes()

    monkeypatch.setattr("penstock.services.queries.anchors.seal_state", unsealed)
    push(world)
    assert any(holds_canary(path.read_bytes()) for path in files())
