"""Compute the threshold above which a key is reported: a public function of the level.

A tier states how many keys of count 0 it expects to be reported by their noise alone, its
``false_keys``.  With ``d`` keys and variance ``s`` the threshold is
``tau(s) = sqrt(s) Q(false_keys / d)``, with ``Q`` the upper quantile of the normal law.
Between two tiers the logarithm of ``false_keys`` is linear in the rung, beyond the outermost
ones it is constant: so every rung of the ladder has its threshold from the beginning,
whatever was released.

With Laplace noise of scale ``b`` the threshold is the least one that is exceeded with at most that
chance: ``P(X > k g) = exp(-(k + 1) g / b) / (1 + exp(-g / b))``.
"""

import math
from bisect import bisect_left
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import localcontext
from fractions import Fraction
from typing import ClassVar

from penstock.errors import InvalidInput
from penstock.privacy.level import Ladder
from penstock.randomness.bernoulli import PRECISION, exact_decimal
from penstock.structures.sparse_histogram import exact_crossing

COARSENESS = 16
"""Thresholds are rounded up to multiples of this many steps.

So they do not depend on the last bits of special functions, which differ from version to
version.  If a deviation has 2^18 steps, this costs less than a thousandth of the false keys.
"""

LARGEST_CHANCE = 0.25
SMALLEST_CHANCE = 2.0**-200
"""``false_keys / d`` lies between these: above 0, and within what quadrature resolves."""


@dataclass(frozen=True)
class Thresholds:
    """Hold ``false_keys`` by the rungs of tiers, over a domain of ``size`` keys.

    Raises ``InvalidInput`` if there is none, or one outside ``2^-200 size`` to ``size / 4``.
    """

    ladder: Ladder
    granularity: Fraction
    size: int
    false_keys: Mapping[int, float]

    largest_chance: ClassVar[float] = LARGEST_CHANCE
    largest_part: ClassVar[str] = "a quarter"

    def __post_init__(self) -> None:
        if not self.false_keys:
            raise InvalidInput("At least one tier must state how many false keys it expects.")
        for rung, expected in self.false_keys.items():
            self.ladder.value(rung)
            if not SMALLEST_CHANCE <= expected / self.size <= self.largest_chance:
                raise InvalidInput(
                    f"{expected:g} false keys of {self.size} cannot be expected: choose a number"
                    f" from {1.1 * SMALLEST_CHANCE * self.size:.2g} up to {self.largest_part}"
                    f" of all keys, {self.size * self.largest_chance:g}.",
                    pointer="/false_keys",
                )

    def expected(self, rung: int) -> float:
        """Return a bound on the mean number of keys of count 0 reported at ``rung`` alone."""
        rungs = sorted(self.false_keys)
        place = bisect_left(rungs, rung)
        if place == len(rungs):
            return self.false_keys[rungs[-1]]
        if place == 0 or rungs[place] == rung:
            return self.false_keys[rungs[place]]
        low, high = rungs[place - 1], rungs[place]
        part = (rung - low) / (high - low)
        logs = math.log(self.false_keys[low]), math.log(self.false_keys[high])
        return math.exp(logs[0] + part * (logs[1] - logs[0]))

    def steps(self, rung: int) -> int:
        """Return the threshold in lattice steps: a key is reported if its value is above it."""
        # Imported here, so that commands that compute no threshold do not wait for it.
        from scipy.special import ndtri_exp

        chance = math.log(self.expected(rung)) - math.log(self.size)
        deviation = math.sqrt(self.ladder.value(rung) / self.granularity**2)
        return COARSENESS * math.ceil(-float(ndtri_exp(chance)) * deviation / COARSENESS)

    def at(self, rung: int) -> Fraction:
        """Return the threshold in units of counts, exactly."""
        return self.steps(rung) * self.granularity


@dataclass(frozen=True)
class LaplaceThresholds(Thresholds):
    """Hold the thresholds of a histogram with Laplace noise; ``ladder`` has its scales.

    Raises ``InvalidInput`` as ``Thresholds`` does, above ``size / 256``.
    """

    largest_chance: ClassVar[float] = exact_crossing.LARGEST_CHANCE
    largest_part: ClassVar[str] = "1/256"

    def steps(self, rung: int) -> int:
        """Return the threshold in lattice steps, which is exceeded with at most its chance."""
        with localcontext(PRECISION):
            rate = exact_decimal(self.granularity / self.ladder.value(rung))
            chance = exact_decimal(Fraction(self.expected(rung)) / self.size)
            least = -(chance * (1 + (-rate).exp())).ln() / rate - 1
            multiples = math.ceil(least / COARSENESS)
        return COARSENESS * multiples
