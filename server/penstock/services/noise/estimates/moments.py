"""Estimate sums, means, variances, covariances and correlations from released products.

Variances have the divisor ``n``.  Their intervals are by the delta method (``products``); those of
standard deviations are the roots of the variances' ends.  About a population, sampling adds to the
variance of

- a mean ``v / n``, ``v`` being the variance of the values;
- a variance at most ``v (M - v) / n``, where ``M`` is the square of the largest distance from the
  mean to a bound: no variable between 0 and ``M`` with the mean ``v`` varies more (Bhatia, Davis
  2000);
- a covariance at most ``M v' / n``, by either column;
- a correlation ``(1 - r^2)^2 / n``, which holds for normal values.
"""

import math
from collections.abc import Iterator, Sequence

import numpy as np

from penstock.services.noise.estimates.products import (
    Estimate,
    Numbers,
    Products,
    Scale,
    limited,
    moved,
    unclear,
)

_CLEAR_VARIANCE = 4.0
"""The least variance, in its standard deviations, that correlations are divided by."""


def moments(products: Products, scales: Sequence[Scale]) -> list[Estimate]:
    """Return the estimates of one group, the count first; the columns are those of ``scales``."""
    names = [scale.name for scale in scales]
    sums = [products.estimated_sum(column, scale) for column, scale in enumerate(scales)]
    if not products.is_clear:
        return [products.estimated_count(), *sums, *map(unclear, _names(names))]
    own = _Moments(products, scales)
    columns = range(len(scales))
    variances = [own.variance(column) for column in columns]
    return [
        products.estimated_count(),
        *sums,
        *(own.mean(column) for column in columns),
        *variances,
        *(_root(each) for each in variances),
        *(own.covariance(*pair) for pair in _pairs(len(names))),
        *(own.correlation(*pair) for pair in _pairs(len(names))),
    ]


def _names(names: Sequence[str]) -> Iterator[str]:
    for kind in ("mean", "variance", "standard_deviation"):
        yield from (f"{kind}:{name}" for name in names)
    for kind in ("covariance", "correlation"):
        yield from (
            f"{kind}:{names[first]},{names[second]}" for first, second in _pairs(len(names))
        )


def _pairs(columns: int) -> Iterator[tuple[int, int]]:
    return ((first, second) for first in range(columns) for second in range(first + 1, columns))


class _Moments:
    """Compute moments of values between -1 and 1, and scale them to the columns' own units."""

    def __init__(self, products: Products, scales: Sequence[Scale]) -> None:
        self._products, self._scales = products, scales
        matrix, self._count = products.matrix, products.count
        self._means = matrix[0, 1:] / self._count
        self._spread = matrix[1:, 1:] / self._count - np.outer(self._means, self._means)

    def mean(self, column: int) -> Estimate:
        """Return the mean of a column, cut to its bounds."""
        gradient = self._products.gradient()
        gradient[0, 0] = -self._means[column] / self._count
        gradient[0, column + 1] = 1 / self._count
        scale = self._scales[column]
        sampled = self._spread[column, column] / self._count
        mean = self._products.estimated(
            f"mean:{scale.name}",
            self._means[column],
            self._products.flat(gradient),
            sampled,
            scale.half_width,
        )
        least, most = scale.middle - scale.half_width, scale.middle + scale.half_width
        return limited(moved(mean, scale.middle), least, most)

    def variance(self, column: int) -> Estimate:
        """Return the variance of a column, at least 0."""
        spread = self._spread[column, column]
        sampled = spread * (self._furthest(column) - spread) / self._count
        scale = self._scales[column]
        variance = self._estimated(
            f"variance:{scale.name}", column, column, sampled, scale.half_width**2
        )
        return limited(variance, 0.0, math.inf)

    def covariance(self, first: int, second: int) -> Estimate:
        """Return the covariance of two columns."""
        bounds = (
            self._furthest(bounded) * max(self._spread[spread, spread], 0)
            for bounded, spread in ((first, second), (second, first))
        )
        scales = self._scales[first], self._scales[second]
        return self._estimated(
            f"covariance:{scales[0].name},{scales[1].name}",
            first,
            second,
            min(bounds) / self._count,
            scales[0].half_width * scales[1].half_width,
        )

    def correlation(self, first: int, second: int) -> Estimate:
        """Return the correlation of two columns, if the noise leaves both variances above 0."""
        name = f"correlation:{self._scales[first].name},{self._scales[second].name}"
        for place in (first, second):
            if self._deviation(place) * _CLEAR_VARIANCE >= self._spread[place, place]:
                return unclear(name)
        spreads = self._spread[first, first], self._spread[second, second]
        root = math.sqrt(spreads[0] * spreads[1])
        value = self._spread[first, second] / root
        gradient = self._gradient(first, second) / root
        for place, spread in zip((first, second), spreads, strict=True):
            gradient -= value / (2 * spread) * self._gradient(place, place)
        sampled = (1 - value**2) ** 2 / self._count
        return limited(self._products.estimated(name, value, gradient, sampled), -1.0, 1.0)

    def _estimated(
        self, name: str, first: int, second: int, sampled: float, scale: float
    ) -> Estimate:
        value, gradient = self._spread[first, second], self._gradient(first, second)
        return self._products.estimated(name, value, gradient, sampled, scale)

    def _gradient(self, first: int, second: int) -> Numbers:
        """Return the gradient of ``S_ij / n - S_i S_j / n^2`` in the released numbers."""
        means, gradient = self._means, self._products.gradient()
        gradient[0, 0] = means[first] * means[second] - self._spread[first, second]
        gradient[0, first + 1] -= means[second]
        gradient[0, second + 1] -= means[first]
        gradient[first + 1, second + 1] = 1
        return self._products.flat(gradient) / self._count

    def _deviation(self, column: int) -> float:
        """Return the standard deviation that noise gives to the variance of a column."""
        return math.sqrt(self._products.noise_of(self._gradient(column, column)))

    def _furthest(self, column: int) -> float:
        return (1 + abs(float(self._means[column]))) ** 2


def _root(variance: Estimate) -> Estimate:
    """Return a standard deviation, whose interval has the roots of the variance's ends."""
    value, lower, upper = (
        None if end is None else math.sqrt(end)
        for end in (variance.value, variance.lower, variance.upper)
    )
    name = variance.name.replace("variance:", "standard_deviation:", 1)
    half = variance.standard_deviation
    if value is None or half is None:
        return Estimate(name, value, lower, upper, None)
    # Near 0 the root is not smooth, and its deviation is at most the root of the variance's.
    deviation = min(half / (2 * value), math.sqrt(half)) if value else math.sqrt(half)
    return Estimate(name, value, lower, upper, deviation)
