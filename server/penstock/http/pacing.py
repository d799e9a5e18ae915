"""Send answers at multiples of one duration, so that their timing does not distinguish them.

Durations are measured from the start of each request: with multiples of an absolute time a caller
could choose the phase, and find out on which side of a multiple the work ended.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from flask import request

QUANTA = "penstock.quanta"
"""Key in a request's environ of the number of time quanta for its answer."""

VALUES_PER_QUANTUM = 50_000
"""The number of values that are drawn within the default time quantum (an engineering bound)."""

REFUSALS = frozenset({401, 403, 404, 409, 429})
"""Statuses of refusals whose reason must not be visible in the response time."""


@dataclass(frozen=True)
class Pace:
    """Wait in steps of ``quantum`` seconds, 0 for none; ``clock`` in seconds, monotonic."""

    quantum: float
    clock: Callable[[], float] = time.perf_counter
    sleep: Callable[[float], None] = time.sleep

    def wait(self, since: float, quanta: int = 1) -> None:
        """Sleep until the next multiple of ``quanta`` quanta after ``since``."""
        unit = self.quantum * quanta
        if unit <= 0:
            return
        until = since + unit * max(1, math.ceil((self.clock() - since) / unit))
        while (left := until - self.clock()) > 0:
            self.sleep(left)


def quanta_of(values: int) -> int:
    """Return the number of time quanta that suffice to draw ``values`` values."""
    return max(1, math.ceil(values / VALUES_PER_QUANTUM))


def hide_duration(values: int) -> None:
    """Pad this answer's time for ``values`` values, which hides whether they were just drawn."""
    request.environ[QUANTA] = quanta_of(values)
