"""Pools whose children know ``jobs``, and computations that wait until they are let go."""

import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from tests.support.places import ROOT

from penstock.computing import Bounds, LocalTurns, Outcome, Pool

MODULE = "tests.unit.computing.jobs"
PATIENCE = 60.0
MEBIBYTE = 1024 * 1024
BOUNDS = Bounds(seconds=30.0, memory=1024 * MEBIBYTE)

MakePool = Callable[..., Pool]
Notes = list[tuple[str, Outcome]]


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


class Gate:
    """A computation that is held up in a child until it is let go."""

    def __init__(self, pool: Pool, folder: Path, person: str) -> None:
        self._reached, self._open = folder / f"{person}-reached", folder / f"{person}-open"
        self._thread = ThreadPoolExecutor(1)
        asked = {"reached": str(self._reached), "open": str(self._open)}
        self.answer: Future[Any] = self._thread.submit(pool.run, person, "wait", asked)

    def wait(self) -> "Gate":
        """Wait until the child is at it."""
        pause = threading.Event()
        while not self._reached.exists():
            assert not self.answer.done(), self.answer.exception()
            pause.wait(0.01)
        return self

    def let_go(self) -> Any:
        self._open.touch()
        self._thread.shutdown()
        return self.answer.result(PATIENCE)


Hold = Callable[..., Gate]


@pytest.fixture
def hold(tmp_path: Path) -> Iterator[Hold]:
    """``hold(pool, person)``: a computation of a person, held up until the test is over."""
    held: list[Gate] = []

    def begin(pool: Pool, person: str) -> Gate:
        held.append(Gate(pool, tmp_path, person))
        return held[-1]

    yield begin
    for gate in held:
        gate._open.touch()
        gate._thread.shutdown()
