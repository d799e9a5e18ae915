"""Compute means from the pair of numbers that is drawn, stored and charged for each key.

Noise cannot be added to a mean, whose sensitivity depends on how many rows there are.  A
query for means releases for each key the sum of how far its values lie from the middle of
their bounds, and a weighted count; everything in this module is computed from the released pair
alone, and so costs nothing beyond it.  ``S`` and ``n`` are the noisy sum and count.

- The mean is ``middle + S / max(n, 1)``, clamped to the bounds.
- The interval: at confidence ``p``, ``S`` and ``n`` are each taken to be within their own
  error bars at ``1 - (1 - p) / 2``, which both are with probability ``p`` at least,
  whatever the law of the noise (Bonferroni's inequality).  Its ends are the smallest and
  the largest mean of such a pair with a count of at least 1, clamped to the bounds.  If no such
  pair has a mean between the bounds, as when there are no rows, the interval is the whole range:
  nothing is known.
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

Numbers = NDArray[np.float64]


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
    bars, wide_bars = _bars(process, rung, CONFIDENCE), _bars(process, rung, (1 + CONFIDENCE) / 2)
    rows = np.maximum(counts, 1)
    values = np.clip(bounds.middle + sums / rows, bounds.lower, bounds.upper)
    lower, upper = _interval(sums, counts, wide_bars.half_width, bounds)
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
    sums: Numbers, counts: Numbers, half_width: float, bounds: Bounds
) -> tuple[Numbers, Numbers]:
    fewest = np.maximum(counts - half_width / bounds.weight, 1)
    most = np.maximum(counts + half_width / bounds.weight, 1)
    lower = bounds.middle + np.minimum(*((sums - half_width) / rows for rows in (fewest, most)))
    upper = bounds.middle + np.maximum(*((sums + half_width) / rows for rows in (fewest, most)))
    known = (most > 1) & (lower < bounds.upper) & (upper > bounds.lower)
    return (
        np.where(known, np.maximum(lower, bounds.lower), bounds.lower),
        np.where(known, np.minimum(upper, bounds.upper), bounds.upper),
    )


def _bars(process: Process, rung: int, confidence: float) -> ErrorView:
    bars = process.mechanism.error(process.ladder.value(rung), confidence)
    return ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
