"""Estimate quantiles and distribution functions from released sums over a tree of bins.

Let ``F`` be the estimated number of rows below an edge and ``n`` that of all rows
(``structures.bin_tree``), with the variances and the covariance ``A``, ``V`` and ``C``.  A share
``r`` of the rows may be below the edge if

    (F - r n)^2 <= z^2 (A - 2 r C + r^2 V),

which is Fieller's interval for ``F / n`` (1954), as exact as the noise is normal.  About a
population, sampling adds ``n r (1 - r)`` to the variance: without noise this is the interval of
Wilson (1927).  The rows of one unit may be all alike, so that it is taken ``rows_per_unit`` times.

The band of all edges is pointwise.  Where it falls it is widened to one that does not, and a
quantile's interval is what the band leaves (Woodruff 1952): up from the last edge below which there
are surely fewer rows, to the first one below which there are surely enough.  Each end fails only
where the test of one edge fails, the nearest to the quantile, so that no more quantiles are missed
than the band says; fewer, where a bin has many rows for the noise.  Values were cut to the bounds,
so that an interval that ends at a bound says nothing of what is beyond it.

The minimum and the maximum have one such end each.  Noise hides a few rows, so that none can be
excluded beyond any edge, and the other end is a bound.  But some row is below an edge, and the
minimum with it, where ``F`` is above ``z A^(1/2)`` there and at all later edges, with the ``z`` of
one side.  That is wrong only where it is at the last edge below which there is no row.  What is
true of the rows is true of whatever they are a sample of: its least value is no larger.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from penstock.services.noise.estimates.products import Estimate, unclear
from penstock.structures.bin_tree import BinTree, Running

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Band:
    """Hold the ends of a band around shares, both of the shape ``(groups, bins)``."""

    lower: Numbers
    upper: Numbers


@dataclass(frozen=True)
class Distributions:
    """Hold the released sums over bins of all groups, and what is estimated from them.

    ``released`` has the shape ``(groups, nodes)``.  ``deviation`` is the standard deviation of the
    noise of each, ``ratio`` that of the half width of its interval to it, at ``confidence``;
    ``lone_ratio`` is that of an end that alone is to have this confidence.  With ``sampling`` the
    intervals are about the population that the units are a sample of.
    """

    released: Numbers
    edges: Numbers
    upper: float
    whole: bool
    deviation: float
    ratio: float
    lone_ratio: float
    confidence: float
    rows_per_unit: int
    sampling: bool

    @property
    def _tree(self) -> BinTree:
        return BinTree(len(self.edges) - 1)

    @cached_property
    def _running(self) -> Running:
        return self._tree.running(self.released)

    @cached_property
    def is_clear(self) -> NDArray[np.bool_]:
        """Return, by group, False if noise may have made the count of no rows."""
        half = self.ratio * self.deviation * math.sqrt(self._tree.spread.total)
        clear: NDArray[np.bool_] = self._running.totals > half
        return clear

    @cached_property
    def shares(self) -> Numbers:
        """Return the shares of rows below the upper edge of each bin, which never fall.

        It is the mean of the largest one up to there and of the least one from there on; groups
        that are not clear have 0.
        """
        totals = np.where(self.is_clear, self._running.totals, 1)[:, None]
        raw = np.where(self.is_clear[:, None], self._running.sums / totals, 0)
        shares = np.clip((_rising(raw) + _rising_to(raw)) / 2, 0, 1)
        shares[:, -1] = 1
        return shares

    @cached_property
    def band(self) -> Band:
        """Return the pointwise band around the shares."""
        return self._band(self.ratio)

    def estimates(self, probabilities: Sequence[float]) -> list[list[Estimate]]:
        """Return, by group, the count, the quantiles, and the statistics that need no probability.

        These are the median, the interquartile range, the minimum and the maximum.
        """
        named = [(f"quantile:{probability!r}", probability) for probability in probabilities]
        columns = [self._counts()]
        columns += [self._quantiles(*each) for each in [*named, ("median", 0.5)]]
        columns += [self._ranges(), *self._extremes()]
        return [list(group) for group in zip(*columns, strict=True)]

    def _counts(self) -> list[Estimate]:
        deviation = self.deviation * math.sqrt(self._tree.spread.total)
        half = self.ratio * deviation
        return [
            Estimate("n", count, count - half, count + half, deviation)
            for count in self._running.totals.tolist()
        ]

    def _quantiles(self, name: str, probability: float) -> list[Estimate]:
        lower, upper = self._ends(self.band, probability)
        columns = (self._values(probability), lower, upper, self._deviations(probability))
        return self._listed(name, *columns)

    def _ranges(self) -> list[Estimate]:
        """Return the interquartile range; each quartile's interval is missed half as often."""
        normal = NormalDist()
        own, half = ((1 + each) / 2 for each in (self.confidence, (1 + self.confidence) / 2))
        wider = normal.inv_cdf(half) / normal.inv_cdf(own)
        if self.ratio > 1.01 * normal.inv_cdf(own):
            # The tails of other noise are at most those of Laplace noise.
            wider = math.log(2 * (1 - half)) / math.log(2 * (1 - own))
        band = self._band(self.ratio * wider)
        (least, most), (low, high) = (self._ends(band, quarter) for quarter in (0.25, 0.75))
        first, third = (self._values(quarter) for quarter in (0.25, 0.75))
        # Of two deviations that may depend on each other the sum is the most there can be.
        deviation = self._deviations(0.25) + self._deviations(0.75)
        return self._listed(
            "interquartile_range", third - first, np.maximum(low - most, 0), high - least, deviation
        )

    def _extremes(self) -> tuple[list[Estimate], list[Estimate]]:
        """Return the minimum and the maximum; an interval with one end has no deviation.

        Their values are the quantiles of half a row.
        """
        spread, reach = self._tree.spread, self.lone_ratio * self.deviation
        sums, totals = self._running.sums, self._running.totals[:, None]
        below = _rising_to(sums - reach * np.sqrt(spread.sums))
        above = _falling(totals - sums - reach * np.sqrt(spread.around(1)))
        ends = np.minimum((below <= 0).sum(axis=1) + 1, self._tree.bins)
        highest = np.minimum(self.edges[ends] - (1.0 if self.whole else 0.0), self.upper)
        lowest = self.edges[(above > 0).sum(axis=1)]
        half_row = 0.5 / np.where(self.is_clear, self._running.totals, 1)
        least, most = self._values(half_row), self._values(1 - half_row)
        bounds = np.full(len(sums), self.edges[0]), np.full(len(sums), self.upper)
        minimum = self._listed("minimum", np.minimum(least, highest), bounds[0], highest)
        maximum = self._listed("maximum", np.maximum(most, lowest), lowest, bounds[1])
        return minimum, maximum

    def _listed(self, name: str, *columns: Numbers) -> list[Estimate]:
        """Return estimates from their columns; that of the deviation may be left out."""
        rows = zip(self.is_clear.tolist(), *(column.tolist() for column in columns), strict=True)
        none = (None,) * (4 - len(columns))
        return [Estimate(name, *row, *none) if clear else unclear(name) for clear, *row in rows]

    def _band(self, ratio: float) -> Band:
        """Return the pointwise band at a ratio, widened where it would fall.

        At a larger ratio than that of ``is_clear`` noise may have made the count of no rows, so
        that any share may be below an edge.
        """
        spread, reach = self._tree.spread, (ratio * self.deviation) ** 2
        counts = np.where(self.is_clear, self._running.totals, 1)[:, None]
        sampled = ratio**2 * self.rows_per_unit * counts if self.sampling else np.zeros((1, 1))
        sums = self._running.sums
        square = counts**2 - reach * spread.total + sampled
        mixed = sums * counts - reach * spread.mixed + sampled / 2
        rest = sums**2 - reach * spread.sums
        root = np.sqrt(np.maximum(mixed**2 - square * rest, 0))
        known = square > 0
        square = np.where(known, square, 1)
        lower, upper = (np.clip((mixed + sign * root) / square, 0, 1) for sign in (-1, 1))
        lower, upper = np.where(known, lower, 0), np.where(known, upper, 1)
        for end in (lower, upper):
            end[~self.is_clear] = 0
            end[:, -1] = 1
        return Band(_rising_to(lower), _rising(upper))

    def _ends(self, band: Band, probability: float) -> tuple[Numbers, Numbers]:
        """Return, by group, the edges between which a quantile is."""
        low = (band.upper < probability).sum(axis=1)
        high = (band.lower < probability).sum(axis=1) + 1
        last = 1.0 if self.whole else 0.0
        return self.edges[low], np.minimum(self.edges[high] - last, self.upper)

    def _values(self, probability: float | Numbers) -> Numbers:
        values = self._inverse(self.shares, probability)
        return values if not self.whole else np.maximum(np.ceil(values) - 1, self.edges[0])

    def _deviations(self, probability: float) -> Numbers:
        """Return half of what a band of one standard deviation leaves."""
        band = self._band(1)
        ends = (self._inverse(shares, probability) for shares in (band.upper, band.lower))
        low, high = ends
        return (high - low) / 2

    def _inverse(self, shares: Numbers, probability: float | Numbers) -> Numbers:
        """Return where shares reach a probability, those of one bin being spread evenly."""
        places = (shares < np.reshape(probability, (-1, 1))).sum(axis=1)
        groups = np.arange(len(shares))
        before = np.where(places > 0, shares[groups, places - 1], 0)
        width = self.edges[places + 1] - self.edges[places]
        part = (probability - before) / (shares[groups, places] - before)
        values: Numbers = np.minimum(self.edges[places] + part * width, self.edges[places + 1])
        return values


def _rising(shares: Numbers) -> Numbers:
    """Return the largest of the shares up to each."""
    return np.asarray(np.maximum.accumulate(shares, axis=1), dtype=np.float64)


def _rising_to(shares: Numbers) -> Numbers:
    """Return the least of the shares from each on."""
    falling = np.minimum.accumulate(shares[:, ::-1], axis=1)[:, ::-1]
    return np.ascontiguousarray(falling, dtype=np.float64)


def _falling(numbers: Numbers) -> Numbers:
    """Return the least of the numbers up to each."""
    return np.asarray(np.minimum.accumulate(numbers, axis=1), dtype=np.float64)
