"""Compute the Rényi divergence of Poisson noise from itself, shifted."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from penstock.mechanisms.poisson import tails
from penstock.randomness.saddle_point import Floats, log_poisson

POINTS_A_DEVIATION = 128
"""Sums of smooth terms over every n-th integer are exact at far fewer points."""

SAFETY = 1e-10
"""A bound on the relative rounding error; an absolute floor is below."""

FLOOR = 1e-14


# The tiers of a query and the steps of a search are often charged at the same levels.
@lru_cache(maxsize=4096)
def renyi_divergence(mean: float, shift: int, order: float) -> float:
    """Return the divergence of the noise, given it is at least ``shift``, from itself shifted.

    It is the larger of both directions, rounded up; infinite if it would be too large to be useful
    (``order * shift`` more than a fifth of a mean above 2^14).
    """
    over = window(mean, math.sqrt(mean), shift, order)
    outside = tails.below(mean, shift)
    if over is None or outside >= 1:
        return math.inf
    y = np.arange(over.first, over.last, over.step, dtype=np.float64)
    plain = log_poisson(y, mean, y - mean)
    moved = log_poisson(y - shift, mean, y - shift - mean)
    return restricted_divergence(plain, moved, over.step, outside, order)


@dataclass(frozen=True)
class Window:
    """Hold the integers that a moment sums over: ``first`` to below ``last``, every ``step``-th."""

    first: int
    last: float
    step: int


def window(mean: float, deviation: float, shift: int, order: float) -> Window | None:
    """Return the window in which noise of ``mean`` contributes to a moment of ``order``.

    It begins at ``shift`` or above.  None if the divergence would be too large to be useful.
    """
    step = max(1, math.floor(deviation / POINTS_A_DEVIATION))
    tilt = order * shift
    if step > 1 and tilt > mean / 5:
        return None
    high = mean + 2 * tilt if tilt < mean else 4 * tilt
    low = mean - 2 * tilt if 5 * tilt < mean else 0
    first = max(math.floor(low - 16 * deviation), shift)
    return Window(first, high + 16 * math.sqrt(high) + 60, step)


def restricted_divergence(
    plain: Floats, moved: Floats, step: int, outside: float, order: float
) -> float:
    """Return the larger divergence of two laws from each other, rounded up.

    ``plain`` and ``moved`` are logarithms of their masses at every ``step``-th integer of a
    window.  ``plain`` has ``outside`` of its mass below all that ``moved`` reaches, and is
    conditioned on not being there.
    """
    inside = -math.log1p(-outside)
    up = log_moment(moved, (order - 1) * (moved - plain), step, 0.0)
    down = log_moment(plain, (order - 1) * (plain - moved), step, outside)
    loss = max(up / (order - 1) - inside, (down + order * inside) / (order - 1))
    return max(loss, 0.0) * (1 + SAFETY) + FLOOR


def log_moment(log_mass: Floats, exponent: Floats, step: int, missing: float) -> float:
    """Return ``ln(sum(mass * exp(exponent)))`` for masses that add up to ``1 - missing``."""
    joint = log_mass + exponent
    peak = float(joint.max())
    moment = peak + math.log(float(np.exp(joint - peak).sum()) * step)
    if abs(moment) > 0.5 or float(exponent[log_mass > -80].max(initial=0.0)) > 30:
        return moment
    # A moment near 1 is 1 plus the rest after subtracting the masses.
    excess = np.exp(joint) - np.exp(log_mass)
    small = np.abs(exponent) < 1
    excess[small] = np.exp(log_mass[small]) * np.expm1(exponent[small])
    return math.log1p(float(excess.sum()) * step - missing)
