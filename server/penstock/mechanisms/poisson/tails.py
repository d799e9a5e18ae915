"""Compute tail probabilities of Poisson noise, by summing its probabilities.

scipy's incomplete gamma functions are not usable: beyond 4.5 deviations of a mean above 10^6 their
series are truncated, and their values are up to several times too small.  If there are too many
integers, every ``stride``-th is summed, with the trapezoid's corrections at the end (Euler,
Maclaurin); at 2^13 points a deviation these leave a relative error below 1e-11.
"""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from penstock.randomness.rejection import SMALLEST_MEAN, TAIL_ERROR
from penstock.randomness.saddle_point import Floats, log_poisson

OUTSIDE = 1e-22
"""The noise is further than ``reach`` from its mean with at most this probability a side."""

_POINTS_A_DEVIATION = 1 << 13


def reach(mean: float) -> int:
    """Return a distance from the mean that noise exceeds with at most ``OUTSIDE`` (Chernoff)."""
    return math.ceil(10.5 * math.sqrt(mean)) + 30


def stride(mean: float) -> int:
    """Return the number of integers that one point of a sum represents."""
    return max(1, int(math.sqrt(mean)) // _POINTS_A_DEVIATION)


@dataclass(frozen=True)
class Progression:
    """Hold integers ``step`` apart, and the noise's probabilities of them."""

    mean: float
    step: int
    values: Floats
    masses: Floats

    @classmethod
    def between(cls, mean: float, low: int, high: int, step: int) -> "Progression":
        """Return ``low, low + step, ...`` up to ``high``; negative integers have no mass."""
        values = np.arange(low, high + 1, step, dtype=np.float64)
        masses = np.zeros(len(values))
        inside = values >= 0
        x = values[inside]
        masses[inside] = np.exp(log_poisson(x, mean, x - mean))
        return cls(mean, step, values, masses)

    def at_least(self, beyond: float = 0.0) -> Floats:
        """Return ``P(X >= y)`` for each value, ``beyond`` being that of the next after the last."""
        sums = self.step * np.cumsum(self.masses[::-1])[::-1]
        return np.asarray(beyond + sums - self._correction(+1))

    def at_most(self, beyond: float = 0.0) -> Floats:
        """Return ``P(X <= y)`` for each value, ``beyond`` being that before the first."""
        return np.asarray(beyond + self.step * np.cumsum(self.masses) - self._correction(-1))

    def _correction(self, side: int) -> Floats:
        if self.step == 1:
            return np.zeros(len(self.values))
        # the derivative of the logarithm of mean^y / y!
        slope = np.zeros(len(self.values))
        inside = self.values >= 0
        slope[inside] = -np.log((self.values[inside] + 0.5) / self.mean)
        second = side * (self.step**2 - 1) / 12 * slope
        return np.asarray(self.masses * ((self.step - 1) / 2 - second))


# Divergences of both orders of a charge need it, and the probability of failure does.
@lru_cache(maxsize=4096)
def below(mean: float, shift: int) -> float:
    """Return ``P(X < shift)``, the mass where noise that is moved up by ``shift`` has none."""
    if shift <= 0:
        return 0.0
    if shift > mean + reach(mean):
        return 1.0
    low = max(0, shift - 1 - reach(mean))
    step = stride(mean)
    low += (shift - 1 - low) % step
    return float(Progression.between(mean, low, shift - 1, step).at_most()[-1])


def beyond_neighbor(mean: float, shift: int) -> float:
    """Return how much ``shift`` raises the probability of values that no neighbor draws.

    Nothing is claimed of the sampler in the last ``TAIL_ERROR / 2`` of either tail, so values of
    one data set there cannot be explained by its neighbor.  It is the larger of both directions:
    noise itself in the tails of noise moved up, which include all below ``shift``, and the other
    way round.
    """
    tails = _tails(mean)
    down = tails.below(tails.first + shift) - tails.below(tails.first)
    up = tails.below(shift) + tails.above(tails.last - shift) - tails.above(tails.last)
    return max(down, up)


@dataclass(frozen=True)
class _Tails:
    """Hold both tails of the noise, and the integers on which its draws are claimed correct."""

    low: int
    step: int
    at_most: Floats
    at_least: Floats
    first: int
    last: int

    def below(self, value: int) -> float:
        """Return ``P(X < value)``; between two points, that up to the next one."""
        place = -((self.low + 1 - value) // self.step)
        return float(self.at_most[min(place, len(self.at_most) - 1)]) if place >= 0 else 0.0

    def above(self, value: int) -> float:
        """Return ``P(X > value)``; between two points, that from the one before."""
        place = (value + 1 - self.low) // self.step
        return float(self.at_least[max(place, 0)]) if place < len(self.at_least) else 0.0


@lru_cache(maxsize=4)
def _tails(mean: float) -> _Tails:
    low, high = max(0, math.floor(mean) - reach(mean)), math.ceil(mean) + reach(mean)
    points = Progression.between(mean, low, high, stride(mean))
    at_most, at_least = points.at_most(), points.at_least()
    first, last = low, high
    if mean >= SMALLEST_MEAN:  # below that it is drawn by inversion
        first += points.step * int(np.argmax(at_most > TAIL_ERROR / 2))
        last = low + points.step * int(np.flatnonzero(at_least > TAIL_ERROR / 2)[-1])
    return _Tails(low, points.step, at_most, at_least, first, last)


def half_width(mean: float, confidence: float) -> float:
    """Return the least ``h`` with ``P(|X - mean| <= h) >= confidence``, in steps, rounded up."""
    low = max(0, math.floor(mean) - reach(mean))
    points = Progression.between(mean, low, math.ceil(mean) + reach(mean), stride(mean))
    at_most, at_least = points.at_most(), points.at_least()

    def covers(h: float) -> bool:
        # Between points the tails are taken at the nearer point, where they are larger.
        left = math.ceil((math.ceil(mean - h) - 1 - low) / points.step)
        right = (math.floor(mean + h) + 1 - low) // points.step
        outside = float(at_most[left]) if left >= 0 else 0.0
        outside += float(at_least[right]) if right < len(at_least) else 0.0
        return 1 - outside >= confidence

    narrow, wide = 0.0, float(reach(mean))
    while wide - narrow > 1e-9 * max(wide, 1.0):
        middle = (narrow + wide) / 2
        narrow, wide = (narrow, middle) if covers(middle) else (middle, wide)
    return wide


def centered_distribution(mean: float) -> tuple[Floats, Floats]:
    """Return points halfway between integers, less the mean, and how likely noise is below each."""
    low = max(0, math.floor(mean) - reach(mean))
    points = Progression.between(mean, low, math.ceil(mean) + reach(mean), stride(mean))
    thin = slice(None, None, max(1, len(points.values) >> 12))
    before = [points.values[0] - points.step], [0.0]
    values = np.concatenate((before[0], points.values[thin])) + 0.5 - mean
    return values, np.concatenate((before[1], points.at_most()[thin]))
