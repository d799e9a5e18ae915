"""Compute tail probabilities of Skellam noise, by summing its probabilities.

The law is symmetric, so one side suffices.  If there are too many integers, every ``stride``-th is
summed, with the trapezoid's corrections at the end (Euler, Maclaurin), as for Poisson noise.
"""

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np

from penstock.mechanisms.poisson.tails import stride
from penstock.randomness.bessel.law import log_skellam
from penstock.randomness.rejection import SMALLEST_MEAN
from penstock.randomness.saddle_point import Floats

OUTSIDE = 1e-22
"""The noise is further than ``reach`` from 0 with at most this probability a side."""

UNCLAIMED = 2.0**-56
"""The probability of the outermost values on each side, for which the sampler claims nothing.

A value there may be the difference of two parts in their own tails, for which nothing is claimed.
Closer to 0, such parts reduce a probability by so little that rounding to the ledger's units hides
it, even at the highest order that charges use: an engineering bound.
"""


def reach(variance: float) -> int:
    """Return a distance from 0 that noise exceeds with at most ``OUTSIDE`` (Chernoff)."""
    return math.ceil(10.5 * math.sqrt(variance)) + 30


@dataclass(frozen=True)
class Progression:
    """Hold integers ``step`` apart, and the noise's probabilities of them."""

    variance: float
    step: int
    values: Floats
    masses: Floats

    @classmethod
    def between(cls, variance: float, low: int, high: int, step: int) -> Self:
        """Return ``low, low + step, ...`` up to ``high``."""
        values = np.arange(low, high + 1, step, dtype=np.float64)
        return cls(variance, step, values, np.exp(log_skellam(values, variance)))

    def at_least(self, beyond: float = 0.0) -> Floats:
        """Return ``P(X >= y)`` for each value, ``beyond`` being that of the next after the last."""
        sums = beyond + self.step * np.cumsum(self.masses[::-1])[::-1]
        if self.step == 1:
            return np.asarray(sums)
        slope = -np.arcsinh(self.values / self.variance)  # of the logarithm of the masses
        second = (self.step**2 - 1) / 12 * slope
        return np.asarray(sums - self.masses * ((self.step - 1) / 2 - second))


def beyond_neighbor(variance: float, shift: int) -> float:
    """Return how much ``shift`` raises the probability of values that no neighbor draws.

    Nothing is claimed of the sampler beyond values of ``UNCLAIMED`` probability on each side, so
    values of one data set there cannot be explained by its neighbor.  Below a variance of 32 both
    parts are drawn by inversion, and there are no such values.
    """
    if variance < 2 * SMALLEST_MEAN:
        return 0.0
    points, tails = _upper(variance)
    last = float(points.values[0]) + points.step * (int(np.flatnonzero(tails >= UNCLAIMED)[-1]))
    return max(above(variance, last - shift) - above(variance, last), 0.0)


def above(variance: float, value: float) -> float:
    """Return ``P(X > value)``; between two points, that from the one before."""
    if value < 0:
        return 1.0 - above(variance, -value - 1)
    points, tails = _upper(variance)
    place = math.floor(value + 1) // points.step
    return float(tails[place]) if place < len(tails) else 0.0


def half_width(variance: float, confidence: float) -> int:
    """Return the least ``h`` with ``P(|X| <= h) >= confidence``, in steps, rounded up."""
    points, tails = _upper(variance)
    outside = 2 * tails
    # P(|X| > h) = 2 P(X >= h + 1)
    enough = int(np.argmax(outside <= 1 - confidence))
    return max(int(points.values[enough]) - 1, 0)


def distribution(variance: float) -> tuple[Floats, Floats]:
    """Return rising points halfway between integers, and how likely noise is below each."""
    points, tails = _upper(variance)
    thin = slice(1, None, max(1, len(points.values) >> 11))
    upper, beyond = points.values[thin] - 0.5, tails[thin]
    return np.concatenate((-upper[::-1], upper)), np.concatenate((beyond[::-1], 1 - beyond))


@lru_cache(maxsize=8)
def _upper(variance: float) -> tuple[Progression, Floats]:
    """Return the progression from 0 upwards, and ``P(X >= y)`` for each value."""
    points = Progression.between(variance, 0, reach(variance) + 40, stride(variance))
    return points, points.at_least()
