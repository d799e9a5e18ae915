"""Compute means from the pair of numbers that is drawn, stored and charged for each key.

Noise cannot be added to a mean, whose sensitivity depends on how many rows there are.  A
query for means releases for each key the sum of how far its values lie from the middle of
their bounds, and a weighted count; everything in this module is computed from the released pair
alone, and so costs nothing beyond it.  ``S`` and ``n`` are the noisy sum and count.

- The mean is ``middle + S / max(n, 1)``, clamped to the bounds.
- The interval is Fieller's (1954).  If ``r`` is the exact ratio, ``S - r n`` is a known sum of two
  independent noises, whatever the count; the ratios at which it lies within its quantile at
  confidence ``p`` hold the exact one with probability ``p``.  The quantile is that of the
  mechanism's own law (``noise_difference``), at some ratios; between them it is taken from the
  straight line, which lies above it by 1 part in 2,000 at most.  So for noise of many lattice
  steps the interval holds the mean as often as it says, and for noise of few steps more often.
- Fieller's set may be unbounded or consist of two parts.  The interval is the smallest that holds
  all of it between the bounds, and the mean itself.  It is the whole range, so that nothing is
  known, if no ratio between the bounds is in the set, and if the count is below what one row
  gives except with probability ``1 - p``.
- The standard deviation is that of the first-order expansion of ``S / n``, at most half
  of the range, which no variable between the bounds passes (Popoviciu 1935).

The interval is about the mean of the rows that count, with their values clamped.
"""

import json
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from penstock.persistence.tables.queries import Query
from penstock.services.noise.process import CONFIDENCE, Process
from penstock.services.schemas.views import ErrorView, MeanPartsView
from penstock.structures.noise_difference import reaches

Numbers = NDArray[np.float64]

RATIOS = 16
"""The number of positive ratios at which the quantile of the noise is computed."""


@dataclass(frozen=True)
class Bounds:
    """Hold the bounds that the values of a mean are clamped to, rounded to steps."""

    lower: float
    upper: float

    @property
    def middle(self) -> float:
        """Return the middle of the bounds, from which sums are counted."""
        return (self.lower + self.upper) / 2

    @property
    def weight(self) -> float:
        """Return what one row adds to the weighted count: as much as it can add to the sum."""
        return (self.upper - self.lower) / 2


@dataclass(frozen=True)
class Means:
    """Hold the means of all keys, the margin of error of the worst one, and what they come from."""

    values: Numbers
    error: ErrorView
    details: MeanPartsView


def bounds_of(query: Query) -> Bounds | None:
    """Return the bounds of a query for means; ``None`` for any other query."""
    return _bounds_in(query.spec)


@lru_cache(maxsize=1024)
def _bounds_in(spec: str) -> Bounds | None:
    aggregate = json.loads(spec).get("aggregate", {})
    if aggregate.get("type") == "uncategorized":
        return Bounds(0.0, 1.0)
    if aggregate.get("type") != "mean":
        return None
    return Bounds(float(aggregate["lower"]), float(aggregate["upper"]))


def means(process: Process, rung: int, pairs: Numbers, bounds: Bounds) -> Means:
    """Read ``pairs``, a release's values: the sums of all keys, then the weighted counts."""
    sums, weighted = np.split(pairs, 2)
    counts = weighted / bounds.weight
    bars = process.error(rung)
    rows = np.maximum(counts, 1)
    values = np.clip(bounds.middle + sums / rows, bounds.lower, bounds.upper)
    lower, upper = _interval(process, rung, sums, counts, bounds)
    lower, upper = np.minimum(lower, values), np.maximum(upper, values)
    slopes = np.hypot(1, (values - bounds.middle) / bounds.weight)
    deviations = np.minimum(bars.standard_deviation * slopes / rows, bounds.weight)
    return Means(
        values=values,
        error=ErrorView(
            standard_deviation=float(deviations.max()),
            confidence=CONFIDENCE,
            half_width=float(np.maximum(values - lower, upper - values).max()),
        ),
        details=MeanPartsView(
            lower=lower,
            upper=upper,
            middle=bounds.middle,
            centered_sums=sums,
            sum_error=bars,
            counts=counts,
            count_error=ErrorView(
                bars.standard_deviation / bounds.weight,
                CONFIDENCE,
                bars.half_width / bounds.weight,
            ),
        ),
    )


def _interval(
    process: Process, rung: int, sums: Numbers, counts: Numbers, bounds: Bounds
) -> tuple[Numbers, Numbers]:
    """Return the least and the largest ratio of each pair, in means between the bounds."""
    ratios, reaches = _reaches(process, rung)
    weighted = counts * bounds.weight
    low, high = np.full(len(sums), np.inf), np.full(len(sums), -np.inf)
    for place in range(len(ratios) - 1):
        ends = slice(place, place + 2)
        first, last = _part(sums, weighted, ratios[ends], reaches[ends])
        some = first <= last
        np.minimum(low, first, out=low, where=some)
        np.maximum(high, last, out=high, where=some)
    known = (low <= high) & (counts + process.error(rung).half_width / bounds.weight > 1)
    return (
        np.where(
            known, np.maximum(bounds.middle + low * bounds.weight, bounds.lower), bounds.lower
        ),
        np.where(
            known, np.minimum(bounds.middle + high * bounds.weight, bounds.upper), bounds.upper
        ),
    )


def _part(
    sums: Numbers, weighted: Numbers, ratios: Numbers, reaches: Numbers
) -> tuple[Numbers, Numbers]:
    """Return the least and the largest ratio of a set between two ratios; out of order if empty.

    Between ``ratios`` the reach is ``level + slope r``, and the set is where ``S - r W`` is at most
    that, and at least its opposite: two inequalities that are linear in ``r``.
    """
    slope = float((reaches[1] - reaches[0]) / (ratios[1] - ratios[0]))
    level = float(reaches[0]) - slope * float(ratios[0])
    first, last = np.full(len(sums), ratios[0]), np.full(len(sums), ratios[1])
    # Each is: factor * r <= most.
    for factor, most in (
        (-(weighted + slope), level - sums),
        (weighted - slope, level + sums),
    ):
        with np.errstate(divide="ignore", invalid="ignore"):
            ends = most / factor
        np.minimum(last, ends, out=last, where=factor > 0)
        np.maximum(first, ends, out=first, where=factor < 0)
        last[(factor == 0) & (most < 0)] = -np.inf
    return first, last


@lru_cache(maxsize=1024)
def _reaches(process: Process, rung: int) -> tuple[Numbers, Numbers]:
    """Return ratios, and how far the noise of a sum less that of a count times each reaches."""
    mechanism = process.mechanism
    ratios = np.linspace(-1, 1, 2 * RATIOS + 1)
    noise = mechanism.distribution(process.ladder.value(rung))
    return ratios, reaches(noise, float(mechanism.granularity), ratios, CONFIDENCE)
