"""Compute epsilon at a delta of shifted Skellam noise, exactly.

The law is log-concave on all integers, so the likelihood ratio of ``X + s`` to ``X``
increases: the best test is a threshold, and the privacy curve a ratio of tail
probabilities.  It is symmetric as well, so that both directions and both signs of a shift
give the same curve.  No outcome has an infinite loss.
"""

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from penstock.mechanisms.loss_sums import (
    ROUGH_GRID,
    SAFETY,
    Losses,
    best_ratios,
    bounding_epsilon,
    epsilon_of_sum,
    largest_within,
)
from penstock.mechanisms.poisson.tails import stride
from penstock.mechanisms.shifts import Shape
from penstock.mechanisms.skellam.tails import OUTSIDE, Progression, reach
from penstock.randomness.bessel.law import log_skellam

_ATOMS = 1 << 14
"""The number of points that represent one value's losses."""

_ROUGH_ATOMS = 1 << 10


def epsilon_of_worst(variance: float, shapes: Sequence[Shape], delta: float) -> float:
    """Return the largest ``epsilon_of_shape`` of several shapes."""
    if len(shapes) == 1:
        return epsilon_of_shape(variance, shapes[0], delta)
    bounds = [_bound(variance, shape, delta) for shape in shapes]
    return largest_within(bounds, lambda place: epsilon_of_shape(variance, shapes[place], delta))


# Previews compute the same levels again whenever a user changes a field.
@lru_cache(maxsize=1024)
def epsilon_of_shape(variance: float, shape: Shape, delta: float) -> float:
    """Return the least epsilon at ``delta`` for noise shifted by ``shape``, in both directions.

    It is infinite if the noise would hide next to nothing.
    """
    if max(shift for shift, _ in shape) > 2 * reach(variance):
        return math.inf
    if sum(count for _, count in shape) == 1:
        return _single(variance, shape[0][0], delta)
    losses = [_losses(variance, shift) for shift, _ in shape]
    return epsilon_of_sum(losses, [count for _, count in shape], delta)


def rough_epsilon(variance: float, shape: Shape, delta: float) -> float:
    """Return about ``epsilon_of_shape``, for a first guess: on a coarse grid."""
    if sum(count for _, count in shape) == 1 or shape[0][0] > 2 * reach(variance):
        return epsilon_of_shape(variance, shape, delta)
    losses = [_losses(variance, shift, _ROUGH_ATOMS) for shift, _ in shape]
    return epsilon_of_sum(losses, [count for _, count in shape], delta, ROUGH_GRID)


def _bound(variance: float, shape: Shape, delta: float) -> float:
    """Return what ``epsilon_of_shape`` is not above; infinite if that is as quick."""
    counts = [count for _, count in shape]
    if sum(counts) == 1 or max(shift for shift, _ in shape) > 2 * reach(variance):
        return math.inf
    return bounding_epsilon([_losses(variance, shift) for shift, _ in shape], counts, delta)


def _single(variance: float, shift: int, delta: float) -> float:
    """Return the largest ``ln((P(X + s >= y) - delta) / P(X >= y))`` over thresholds ``y``."""
    step, far = stride(variance), reach(variance)
    plain = Progression.between(variance, -far, far + shift, step)
    moved = Progression.between(variance, -far - shift, far, step)
    unlikely, likely = plain.at_least(), moved.at_least()
    bounds = best_ratios(likely, unlikely, delta)
    if step > 1 and bounds.max() > -math.inf:
        # The points represent runs of integers: try all of those around the best.
        best = min(max(int(np.argmax(bounds)), 1), len(bounds) - 2)
        first, last = (int(plain.values[place]) for place in (best - 1, best + 1))
        small, large = (
            Progression.between(variance, first - by, last - 1 - by, 1).at_least(
                beyond=float(tails[best + 1])
            )
            for by, tails in ((0, unlikely), (shift, likely))
        )
        bounds = best_ratios(large, small, delta)
    return max(float(bounds.max()), 0.0) + SAFETY


# Shapes share their sizes.
@lru_cache(maxsize=32)
def _losses(variance: float, shift: int, atoms: int = _ATOMS) -> Losses:
    far = reach(variance)
    step = max(1, 2 * far // atoms)
    values = np.arange(-far, far + 1, step, dtype=np.float64)
    own = log_skellam(values, variance)
    lost = 2 * OUTSIDE
    mass = np.exp(own)
    # If atoms represent several integers, their sum is 1 up to the trapezoid's error.
    return Losses(
        own - log_skellam(values + shift, variance), mass * ((1 - lost) / mass.sum()), lost
    )
