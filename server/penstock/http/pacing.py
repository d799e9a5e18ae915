"""Send answers that the clock must not tell apart at multiples of one duration.

Measured from the start of each request: multiples of an absolute time would let a caller
choose the phase, and so find out on which side of a multiple the work had ended.
"""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from flask import request

QUANTA = "penstock.quanta"
"""Where a request keeps in how many time quanta its answer goes out."""

VALUES_PER_QUANTUM = 50_000
"""Drawing so many values takes less than the default time quantum (an engineering bound)."""

REFUSALS = frozenset({401, 403, 404, 409, 429})
"""The statuses whose reason the caller may not learn from the clock."""


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
    """Return in how many time quanta so many values are surely drawn."""
    return max(1, math.ceil(values / VALUES_PER_QUANTUM))


def hide_duration(values: int) -> None:
    """Let the answer to this request, of so many values, not tell whether they were just drawn."""
    request.environ[QUANTA] = quanta_of(values)
