"""Draw binomial integers of many numbers of trials, as sums of tabulated ones.

Successes among ``n`` trials are those among the first ``base`` of them, among the ``steps`` that
follow, ``2^bits`` trials each, and among the rest, each drawn from a table of its own number of
trials.  So a vector needs a table for each digit and not for each number, and the law is the
binomial one: every draw is within three times ``weights.ERROR`` of it.
"""

from collections.abc import Iterable
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from penstock.randomness.inversion.rows import CHUNK, MOST_VALUES, Room, Rows
from penstock.randomness.inversion.weights import (
    DRAWS_AN_ENTRY,
    MOST_ENTRIES,
    binomial_table,
    entries,
)
from penstock.randomness.stream import Stream

ENTRIES_A_ROW = 50
"""What the cells of a row cost, counted in entries of a table."""

_LEAST_COST = 2 * (ENTRIES_A_ROW + 1)
"""What the smallest tables cost: of two rows, with an entry each."""

_MOST_BITS = 10
_MOST_ROWS = 128


class BinomialSums:
    """Draw successes among ``low`` to ``high`` trials."""

    def __init__(self, low: int, high: int, bits: int, chance: Fraction) -> None:
        self._base, self._bits = low, bits
        self._low = Rows.alone(binomial_table(low, chance)) if low else None
        self._steps = _rows(range(0, high - low + 1, 1 << bits), chance)
        self._rest = _rows(range(min(1 << bits, high - low + 1)), chance)

    @classmethod
    def for_trials(cls, trials: NDArray[np.int64], chance: Fraction) -> Self | None:
        """Return the tables of all ``trials``; none where these cost more than they save.

        ``chance`` is above 0 and below 1, and there is a number of trials.
        """
        if len(trials) < _LEAST_COST * DRAWS_AN_ENTRY:
            return None
        low, high = int(trials.min()), int(trials.max())
        variance = float(chance * (1 - chance))
        whole = _cheapest(high, variance)
        based = _cheapest(high - low, variance)
        if based is None or entries(low * variance) > MOST_ENTRIES:
            return None
        based = (based[0] + entries(low * variance), based[1])
        if whole is not None and (whole[0] - based[0]) * 10 * DRAWS_AN_ENTRY < len(trials):
            low, based = 0, whole
        cost, bits = based
        return cls(low, high, bits, chance) if cost * DRAWS_AN_ENTRY <= len(trials) else None

    def fill(self, trials: NDArray[np.int64], out: NDArray[np.int64], stream: Stream) -> None:
        """Fill ``out``, which may be ``trials`` itself, with the successes among ``trials``."""
        size = min(len(out), CHUNK)
        room, memory = Room(size), np.empty((2, size), dtype=np.int64)
        for start in range(0, len(out), CHUNK):
            part = out[start : start + CHUNK]
            above, digit = memory[:, : len(part)]
            np.subtract(trials[start : start + CHUNK], self._base, out=above)
            part.fill(0)
            if self._low is not None:
                self._low.add(part, stream, room, None)
            np.right_shift(above, self._bits, out=digit)
            self._steps.add(part, stream, room, digit)
            above &= (1 << self._bits) - 1
            self._rest.add(part, stream, room, above)


def _rows(trials: Iterable[int], chance: Fraction) -> Rows:
    return Rows([binomial_table(count, chance) for count in trials])


def _cheapest(span: int, variance: float) -> tuple[int, int] | None:
    """Return the least cost of the tables of a span of trials, and the bits that it takes."""
    if span >= MOST_VALUES:
        return None
    return min(
        (_cost(span, bits, variance), bits)
        for bits in range(_MOST_BITS)
        if span >> bits < _MOST_ROWS
    )


def _cost(span: int, bits: int, variance: float) -> int:
    """Return the entries of the tables of a span of trials, and what their rows cost."""
    counts = [*range(1 << bits), *range(0, span + 1, 1 << bits)]
    wide: list[int] = [min(count + 1, entries(count * variance)) for count in counts]
    return sum(wide) + ENTRIES_A_ROW * len(wide)
