"""Draw from a table of a distribution function, exact to 2^-193 at each of its values.

Error charged per draw: the rounding of all thresholds, ``2^-193`` each, and the mass beyond the
last one, which is less.  Tables have a few hundred entries at most:
within ``2^-184`` of their law in total variation.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

import numpy as np
from numpy.typing import NDArray

from penstock.randomness import bernoulli
from penstock.randomness.bernoulli import CERTAIN, THRESHOLD_BITS
from penstock.randomness.stream import Stream

_LOW_BITS = THRESHOLD_BITS - 32


@dataclass(frozen=True)
class Table:
    """Hold ``P(X <= k)`` in multiples of 2^-192 for ``k = 0, 1, ...``, and their first 32 bits."""

    thresholds: list[int]
    first: NDArray[np.uint32]

    @classmethod
    def of(cls, chances: Iterable[Decimal]) -> "Table":
        """Return the table of a law with these values of ``P(X <= k)``, up to where they are 1."""
        thresholds: list[int] = []
        for chance in chances:
            value = bernoulli.threshold(chance)
            if value >= CERTAIN:
                break
            thresholds.append(value)
        first = np.array([value >> _LOW_BITS for value in thresholds], dtype=np.uint32)
        return cls(thresholds, first)

    def draw(self, size: int, stream: Stream) -> NDArray[np.int64]:
        """Draw independent integers, shape ``(size,)``."""
        words = stream.raw_uint32(size)
        out = np.searchsorted(self.first, words, side="right")
        # A word that equals the first 32 bits of a threshold does not decide alone.
        for i in np.flatnonzero(self.first[np.maximum(out, 1) - 1] == words):
            uniform = (int(words[i]) << _LOW_BITS) | bernoulli.low_bits(stream)
            out[i] = bisect_right(self.thresholds, uniform)
        return out
