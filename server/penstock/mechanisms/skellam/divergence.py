"""Compute exact Rényi divergences of Skellam noise from itself shifted, of any order.

It also computes the divergence of a more accurate release given a known noisier one: with noise
``v`` in the noisier one, the noise of the more accurate one is ``x`` with a probability
proportional to ``P_t(x) P_(b-t)(v - x)``; if the data differ by ``s``, with that of ``x - s`` and
``v - s``.
"""

import math
from functools import lru_cache

import numpy as np

from penstock.mechanisms.poisson.divergence import FLOOR, POINTS_A_DEVIATION, SAFETY, log_moment
from penstock.randomness.bessel.law import log_skellam
from penstock.randomness.saddle_point import Floats

MOST_POINTS = 1 << 22
KNOWN = 17
_BETWEEN = 2.0**-9
"""A relative margin for values between those tried."""


# The tiers of a query and the steps of a search are often charged at the same levels.
@lru_cache(maxsize=4096)
def renyi_divergence(variance: float, shift: int, order: float) -> float:
    """Return the divergence of the noise from itself shifted, rounded up; the same both ways.

    It is infinite if it would be too large to be useful (``order * shift`` more than a fifth of a
    variance above 2^14).
    """
    values, step = _points(variance, shift, order)
    if not len(values):
        return math.inf
    plain, moved = log_skellam(values, variance), log_skellam(values - shift, variance)
    moment = log_moment(moved, (order - 1) * (moved - plain), step, 0.0)
    return max(moment / (order - 1), 0.0) * (1 + SAFETY) + FLOOR


def refinement_divergence(old: float, new: float, shift: int, order: float, tail: float) -> float:
    """Return the divergence of a release of variance ``new`` given one of variance ``old``.

    It holds whatever the old one's noise was, except for the probability ``tail``; it is rounded
    up, and infinite if it would be too large to be useful.  It is the largest at ``KNOWN`` values
    spread over that range, which the tests compare with all of them: an engineering bound.
    """
    return _worst_known(old, new, shift, order, farthest(old, tail))


@lru_cache(maxsize=256)
def _worst_known(old: float, new: float, shift: int, order: float, far: int) -> float:
    values, step = _points(new * (old - new) / old, shift, order)
    if not len(values):
        return math.inf
    tried = np.unique(np.rint(np.linspace(-far, far + shift, KNOWN)))
    shifted = values + np.rint(tried * (new / old))[:, None]
    worst = max(
        _given(old, new, shift, int(known), order, around, step)
        for known, around in zip(tried, shifted, strict=True)
    )
    return worst * (1 + _BETWEEN)


def farthest(variance: float, probability: float) -> int:
    """Return a distance that the noise exceeds with at most ``probability`` (Chernoff).

    It is a multiple of four deviations, so that similar probabilities give the same distance.
    """
    nats = math.log(2 / probability)
    near, far = 0.0, 2 * nats + math.sqrt(2 * nats * variance)
    while far - near > 0.5:
        middle = (near + far) / 2
        rate = middle * math.asinh(middle / variance) - middle * (
            middle / (math.hypot(middle, variance) + variance)
        )
        near, far = (near, middle) if rate >= nats else (middle, far)
    four = math.ceil(4 * math.sqrt(variance))
    return four * math.ceil(far / four)


def _given(
    old: float, new: float, shift: int, known: int, order: float, values: Floats, step: int
) -> float:
    """Return the divergence given the old release's noise: ``known``, or ``known - shift``."""
    rest = log_skellam(known - values, old - new)
    plain = log_skellam(values, new) + rest
    moved = log_skellam(values - shift, new) + rest
    ends = np.array([known, known - shift], dtype=np.float64)
    plain_total, moved_total = log_skellam(ends, old)
    plain -= plain_total
    moved -= moved_total
    moments = (
        log_moment(moved, (order - 1) * (moved - plain), step, 0.0),
        log_moment(plain, (order - 1) * (plain - moved), step, 0.0),
    )
    return max(max(moments) / (order - 1), 0.0) * (1 + SAFETY) + FLOOR


def _points(variance: float, shift: int, order: float) -> tuple[Floats, int]:
    """Return the points at which moments of ``order`` have their weight, in steps; may be empty."""
    deviation = math.sqrt(variance)
    step = max(1, math.floor(deviation / POINTS_A_DEVIATION))
    tilt = order * shift
    if step > 1 and tilt > variance / 5:
        return np.empty(0), step
    far = math.ceil(2 * tilt + 16 * math.sqrt(variance + 2 * tilt) + 60)
    if far / step > MOST_POINTS:
        return np.empty(0), step
    return np.arange(-far, far + 1, step, dtype=np.float64), step
