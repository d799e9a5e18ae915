"""Provide pools of processes whose computations tests hold up."""

import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

from penstock.computing import Bounds, Outcome, Pool

PATIENCE = 60.0


MEBIBYTE = 1024 * 1024


BOUNDS = Bounds(seconds=30.0, memory=1024 * MEBIBYTE)


MakePool = Callable[..., Pool]


Notes = list[tuple[str, Outcome]]


class Gate:
    """Hold up a computation in a child until it is let go."""

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
