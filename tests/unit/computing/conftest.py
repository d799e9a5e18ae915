"""Provide pools whose children know ``jobs``, and computations that wait until they are let go."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.support.places import ROOT
from tests.unit.computing.pools import BOUNDS, Gate, Hold, MakePool, Notes

from penstock.computing import Bounds, LocalTurns, Pool

MODULE = "tests.unit.computing.jobs"


@pytest.fixture
def notes() -> Notes:
    return []


@pytest.fixture
def make_pool(monkeypatch: pytest.MonkeyPatch, notes: Notes) -> Iterator[MakePool]:
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    made: list[Pool] = []

    def make(processes: int = 1, queue: int = 2, bounds: Bounds = BOUNDS) -> Pool:
        pool = Pool(
            MODULE,
            processes=processes,
            queue=queue,
            bounds=bounds,
            turns=LocalTurns(),
            noted=lambda person, outcome, _: notes.append((person, outcome)),
        )
        made.append(pool)
        return pool

    yield make
    for pool in made:
        pool.close()


@pytest.fixture
def hold(tmp_path: Path) -> Iterator[Hold]:
    """Provide ``hold(pool, person)``: a person's computation, held up until the test is over."""
    held: list[Gate] = []

    def begin(pool: Pool, person: str) -> Gate:
        held.append(Gate(pool, tmp_path, person))
        return held[-1]

    yield begin
    for gate in held:
        gate._open.touch()
        gate._thread.shutdown()
