"""Hold the children of one process: few of them, with a short queue before them.

The rules of this module: nobody has two computations under way; the number of waiting requests
is bounded, so that the threads that answer requests are never all taken; a child that exceeded
a bound, or died, is never used again.
"""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from penstock.computing.bounds import Bounds
from penstock.computing.frames import Document, TooLong
from penstock.computing.process import Child, Died, Overtime
from penstock.computing.turns import Turns, taken
from penstock.errors import Busy, InvalidInput, Unavailable, raised_again

MEBIBYTE: Final = 1024 * 1024
REMEDY: Final = (
    " Nothing was done. Ask for fewer values, tiers or a simpler question; the operator may allow"
    " more by "
)


class Outcome(StrEnum):
    """Name how a computation ended."""

    DONE = "done"
    OVERTIME = "time"
    OUT_OF_MEMORY = "memory"
    DIED = "died"
    BUSY = "busy"


Noted = Callable[[str, Outcome, float], None]
"""Receives the person, how the computation ended, and the processor time in seconds."""


def unnoted(_person: str, _outcome: Outcome, _seconds: float) -> None:
    """Ignore the outcome."""


class Pool:
    """Hold up to ``processes`` children that know ``module``, and ``queue`` waiting computations.

    Children start when they are needed, and stay.  ``turns`` are shared with other processes.
    """

    def __init__(
        self,
        module: str,
        *,
        processes: int,
        queue: int,
        bounds: Bounds,
        turns: Turns,
        noted: Noted = unnoted,
    ) -> None:
        self._module = module
        self._processes = processes
        self._queue = queue
        self._bounds = bounds
        self._turns = turns
        self._noted = noted
        self._start()

    def _start(self) -> None:
        """Start with no child."""
        self._process = os.getpid()
        self._changed = threading.Condition()
        self._idle: list[Child] = []
        self._inside = 0
        self._busy = 0
        self._waiting: set[str] = set()

    def run(self, person: str, job: str, document: Document, patience: float = 0.0) -> Document:
        """Run ``job`` for ``person`` in a child.

        It waits up to ``patience`` seconds for the person's computation under way. Raises what the
        job raises, ``TooManyRequests`` if that computation is not done by then, ``Busy`` if the
        queue is full, ``Unavailable`` if a child died, and ``InvalidInput`` for a computation that
        takes more time or memory than it may.
        """
        if self._process != os.getpid():  # a fork has pipes, but no child, of its parent's
            for child in self._idle:
                child.abandon()
            self._start()
        with self.alone(person, patience):
            return self._queued(person, job, document)

    @contextmanager
    def alone(self, person: str, patience: float = 0.0) -> Iterator[None]:
        """Hold the turn of ``person``, also for work that no child does.

        Raises ``TooManyRequests`` as ``run`` does.
        """
        # As long as it may take: a turn that a killed process held blocks nobody for longer.
        longest = 2 * self._bounds.lasting
        with (
            self._waiting_alone(person, patience) as waits,
            taken(self._turns, person, longest, waits),
        ):
            yield

    @property
    def children(self) -> list[int]:
        """Return the process numbers of the idle children."""
        with self._changed:
            return [child.pid for child in self._idle]

    def close(self) -> None:
        """End all idle children."""
        with self._changed:
            ending, self._idle = self._idle, []
        for child in ending:
            child.kill()

    @contextmanager
    def _waiting_alone(self, person: str, patience: float) -> Iterator[float]:
        """Let one request of a person wait for their turn, and no second one."""
        with self._changed:
            first = patience > 0 and person not in self._waiting
            if first:
                self._waiting.add(person)
        try:
            yield patience if first else 0.0
        finally:
            if first:
                with self._changed:
                    self._waiting.discard(person)

    def _queued(self, person: str, job: str, document: Document) -> Document:
        with self._changed:
            if self._inside >= self._processes + self._queue:
                self._noted(person, Outcome.BUSY, 0.0)
                raise Busy(
                    f"The server runs at most {self._processes} computations here, and"
                    f" {self._queue} wait, its limit. Nothing was done; try again in a moment."
                )
            self._inside += 1
        try:
            child = self._child(person)
            try:
                return self._exchange(child, person, job, document)
            finally:
                self._back(child)
        finally:
            with self._changed:
                self._inside -= 1

    def _child(self, person: str) -> Child:
        """Return an idle child, the person's own if there is one, or a new one."""
        with self._changed:
            free = self._changed.wait_for(
                lambda: self._busy < self._processes, self._bounds.lasting
            )
            if not free:
                self._noted(person, Outcome.BUSY, 0.0)
                raise Busy("Other users' computations are still running; try again in a moment.")
            self._busy += 1
            self._idle.sort(key=lambda child: child.person == person)
            child = self._idle.pop() if self._idle else None
        if child is not None and child.alive:
            return child
        if child is not None:
            child.kill()
        try:
            return Child(self._module, self._bounds)
        except (Overtime, Died, OSError) as problem:
            self._left()
            self._noted(person, Outcome.DIED, 0.0)
            raise Unavailable(
                "No process could be started for this computation; ask again in a moment."
            ) from problem

    def _back(self, child: Child) -> None:
        if child.alive:
            with self._changed:
                self._idle.append(child)
        else:
            child.kill()
        self._left()

    def _left(self) -> None:
        with self._changed:
            self._busy -= 1
            self._changed.notify_all()

    def _exchange(self, child: Child, person: str, job: str, document: Document) -> Document:
        started = time.monotonic()
        try:
            reply = child.ask(person, job, document)
        except TooLong as problem:
            raise InvalidInput(f"This is too long to be computed: {problem}.") from problem
        except Overtime as problem:
            child.kill()
            self._noted(person, Outcome.OVERTIME, self._bounds.seconds)
            raise InvalidInput(
                "This computation takes more than the"
                f" {self._bounds.seconds:g} processor seconds that it may take.{REMEDY}"
                "PENSTOCK_COMPUTING_SECONDS."
            ) from problem
        except Died as problem:
            child.kill()
            took = min(time.monotonic() - started, self._bounds.seconds)
            self._noted(person, Outcome.DIED, took)
            raise Unavailable(
                "The process of this computation ended before it was done. Nothing was changed; try"
                " again, and with fewer values or tiers if it happens again."
            ) from problem
        return self._answer(child, person, reply)

    def _answer(self, child: Child, person: str, document: Document) -> Document:
        took = float(document["seconds"])
        if "memory" in document:
            child.kill()
            self._noted(person, Outcome.OUT_OF_MEMORY, took)
            raise InvalidInput(
                f"This computation takes more than the {self._bounds.memory / MEBIBYTE:,.0f} MiB of"
                f" memory that it may take.{REMEDY}PENSTOCK_COMPUTING_MEMORY."
            )
        self._noted(person, Outcome.DONE, took)
        if "problem" in document:
            raise raised_again(document["problem"])
        return document["answer"]
