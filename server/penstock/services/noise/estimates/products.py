"""Hold the released products of one group, and what is estimated from them.

All estimates are smooth functions of the released numbers, whose noise is independent and has one
variance divided by the square of each one's weight, so that to first order the variance of an
estimate is that variance times the square of the norm of the gradient, each part of it divided by
the weight (the delta method).  Its interval is the estimate plus and minus its
standard deviation times a ratio: the larger one of a normal law's, 1.96 at 95%, and of the half
width of one released number over that one's standard deviation.  For Gaussian noise both are equal;
a sum of several other noises has a law between the two, which simulations show and no theorem, so
that intervals are somewhat too wide there.

What is left out is of second order: the noise of the count, or of the matrix of the predictors, in
units of that count or matrix.  So nothing is estimated from a count below ``FEWEST`` standard
deviations of its noise, nor from a matrix that near to a singular one.  About a population nothing
is estimated from rows that may be of fewer than ``FEWEST_UNITS`` units either: their spread says
too little of its own error, and that of one unit is 0.  Where few units have most of a column's
spread, as in skewed columns, such an interval misses more often than it says with more units, too.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.planning.plan import pairs
from penstock.connectors.specs.moments import Order

Numbers = NDArray[np.float64]

FEWEST = 10.0
"""The least count, in standard deviations of its noise, from which something is estimated."""

FEWEST_UNITS = 30
"""The fewest privacy units from which something is estimated about a population."""


@dataclass(frozen=True)
class Scale:
    """Hold where a column's values lie: ``middle`` plus ``half_width`` times -1 to 1."""

    name: str
    middle: float
    half_width: float


@dataclass(frozen=True)
class Estimate:
    """Hold one estimate of one group; without a value there is too little to estimate it from."""

    name: str
    value: float | None
    lower: float | None
    upper: float | None
    standard_deviation: float | None


@dataclass(frozen=True)
class Products:
    """Hold the released numbers of one group: the sums of ``z_i z_j`` for ``i <= j``.

    Of order 1 there are the count and the sums alone, the first row of the matrix.

    ``deviation`` is the standard deviation of the noise of each times its weight, which is 1
    without ``weights``; ``ratio`` that of the half width of its interval to it.  ``rows_per_unit``
    is the most rows of one privacy unit.  With ``sampling`` the intervals are about the population
    that the units are a sample of.
    """

    numbers: Numbers
    factors: int
    deviation: float
    ratio: float
    rows_per_unit: int
    sampling: bool
    order: Order = 2
    weights: tuple[int, ...] = ()

    @cached_property
    def matrix(self) -> Numbers:
        """Return the sums as a symmetric matrix; the first row has the count and the sums."""
        matrix = np.full((self.factors + 1, self.factors + 1), np.nan)
        places = pairs(self.factors, self.order)
        for (first, second), number in zip(places, self.numbers, strict=True):
            matrix[first, second] = matrix[second, first] = number
        return matrix

    @property
    def count(self) -> float:
        """Return the number of rows, with its noise."""
        return float(self.numbers[0])

    @property
    def is_clear(self) -> bool:
        """Return False if there are too few rows for the noise, or too few units to be a sample."""
        if self.sampling and self.count < FEWEST_UNITS * self.rows_per_unit:
            return False
        return self.count >= FEWEST * self.count_deviation and self.count > 0

    @property
    def count_deviation(self) -> float:
        """Return the standard deviation of the noise of the count."""
        return self.deviation / (self.weights[0] if self.weights else 1)

    def noise_of(self, gradient: Numbers) -> float:
        """Return the variance that noise gives to an estimate with this gradient."""
        parts = gradient / np.array(self.weights) if self.weights else gradient
        return self.deviation**2 * float(parts @ parts)

    def estimated_count(self) -> Estimate:
        """Return the number of rows."""
        half = self.ratio * self.count_deviation
        ends = self.count - half, self.count + half
        return Estimate("n", self.count, *ends, self.count_deviation)

    def estimated(
        self, name: str, value: float, gradient: Numbers, sampled: float, scale: float = 1
    ) -> Estimate:
        """Return an estimate in units of ``scale``, from its gradient in the released numbers.

        ``sampled`` is the variance that sampling adds for units of one row each.
        """
        variance = self.noise_of(gradient)
        if self.sampling:
            # The rows of one unit may be all alike: then there are that many fewer of them.
            variance += max(sampled, 0.0) * self.rows_per_unit
        deviation = math.sqrt(variance) * scale
        half = self.ratio * deviation
        center = value * scale
        return Estimate(name, center, center - half, center + half, deviation)

    def estimated_sum(self, column: int, scale: Scale) -> Estimate:
        """Return the sum of a column, which is linear: no count is too small for it.

        No sampling changes what the rows in the data add up to.
        """
        gradient = self.gradient()
        gradient[0, 0], gradient[0, column + 1] = scale.middle, scale.half_width
        value = scale.middle * self.count + scale.half_width * float(self.numbers[column + 1])
        return self.estimated(f"sum:{scale.name}", value, self.flat(gradient), 0.0)

    def gradient(self) -> Numbers:
        """Return a gradient of zeros, by the places of the two factors; its upper half is used."""
        return np.zeros((self.factors + 1, self.factors + 1))

    def flat(self, gradient: Numbers) -> Numbers:
        """Return a gradient in the order of the released numbers."""
        return np.array([gradient[pair] for pair in pairs(self.factors, self.order)])


def moved(estimate: Estimate, by: float) -> Estimate:
    """Return an estimate with its interval, moved along."""
    value, lower, upper = (
        None if end is None else end + by
        for end in (estimate.value, estimate.lower, estimate.upper)
    )
    return replace(estimate, value=value, lower=lower, upper=upper)


def limited(estimate: Estimate, least: float, most: float) -> Estimate:
    """Return an estimate with its value and its interval cut to what is possible."""
    value, lower, upper = (
        None if end is None else min(max(end, least), most)
        for end in (estimate.value, estimate.lower, estimate.upper)
    )
    return replace(estimate, value=value, lower=lower, upper=upper)


def unclear(name: str) -> Estimate:
    """Return that there is no number, because noise or sampling leaves too little for it."""
    return Estimate(name, None, None, None, None)
