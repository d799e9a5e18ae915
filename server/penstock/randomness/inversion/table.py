"""Draw from a table of a distribution function, exact to 2^-193 at each of its values.

Error charged per draw: the rounding of all thresholds, ``2^-193`` each, and the mass beyond the
last one, which is less.  Tables that are made from chances have a few hundred entries at most:
within ``2^-184`` of their law in total variation.
"""

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import Self

import numpy as np
from numpy.typing import NDArray

from penstock.randomness import bernoulli
from penstock.randomness.bernoulli import CERTAIN, THRESHOLD_BITS
from penstock.randomness.stream import Stream

_LOW_BITS = THRESHOLD_BITS - 32


@dataclass(frozen=True)
class Table:
    """Hold ``P(X <= k)`` in multiples of 2^-192, ``k = least, least + 1, ...``.

    ``first`` has the first 32 bits of each.
    """

    thresholds: list[int]
    first: NDArray[np.uint32]
    least: int = 0

    @classmethod
    def of(cls, chances: Iterable[Decimal]) -> Self:
        """Return the table of a law with these values of ``P(X <= k)``, up to where they are 1."""
        return cls.up_to_certainty(map(bernoulli.threshold, chances))

    @classmethod
    def up_to_certainty(cls, values: Iterable[int], least: int = 0) -> Self:
        """Return the table with these thresholds, up to the first that is certain."""
        thresholds: list[int] = []
        for value in values:
            if value >= CERTAIN:
                break
            thresholds.append(value)
        first = np.array([value >> _LOW_BITS for value in thresholds], dtype=np.uint32)
        return cls(thresholds, first, least)

    def draw(self, size: int, stream: Stream) -> NDArray[np.int64]:
        """Draw independent integers, shape ``(size,)``."""
        words = stream.raw_uint32(size)
        out = np.searchsorted(self.first, words, side="right")
        # A word that equals the first 32 bits of a threshold does not decide alone.
        for i in np.flatnonzero(self.first[np.maximum(out, 1) - 1] == words):
            out[i] = self.decide(int(words[i]), stream)
        out += self.least
        return out

    def decide(self, word: int, stream: Stream) -> int:
        """Return how many thresholds the bits ``word`` and those that follow it have reached."""
        return bisect_right(self.thresholds, (word << _LOW_BITS) | bernoulli.low_bits(stream))
