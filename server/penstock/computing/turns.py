"""Give each person one computation at a time."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, Protocol

from penstock.errors import TooManyRequests

RETRY_SECONDS: Final = 2
LOOK_SECONDS: Final = 0.05
"""The pause between two checks whether a person's earlier computation is done."""


class Turns(Protocol):
    """Hold who has a computation under way, in all processes that share the table."""

    def take(self, person: str, seconds: float) -> bool:
        """Record a computation of at most ``seconds``; return False if one is under way."""

    def give(self, person: str) -> None:
        """Record that the computation is done."""


class LocalTurns:
    """Hold the table of one process."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.Lock()
        self._until: dict[str, float] = {}
        self._clock = clock

    def take(self, person: str, seconds: float) -> bool:
        """Record a computation, as ``Turns.take`` describes."""
        with self._lock:
            now = self._clock()
            if self._until.get(person, now) > now:
                return False
            self._until[person] = now + seconds
            return True

    def give(self, person: str) -> None:
        """Record that a computation is done, as ``Turns.give`` describes."""
        with self._lock:
            self._until.pop(person, None)


@contextmanager
def taken(turns: Turns, person: str, seconds: float, patience: float) -> Iterator[None]:
    """Hold the turn of ``person``, for that many seconds at most.

    It waits up to ``patience`` seconds for the person's computation under way.  Raises
    ``TooManyRequests`` if that is not done by then.
    """
    until = time.monotonic() + patience
    while not turns.take(person, seconds):
        if time.monotonic() >= until:
            raise TooManyRequests(
                "Your last preview is still being computed, and each person may run one at a time."
                " Try again when it is done. Many values, and very small or very large numbers,"
                " take long.",
                retry_after=RETRY_SECONDS,
            )
        time.sleep(LOOK_SECONDS)
    try:
        yield
    finally:
        turns.give(person)
