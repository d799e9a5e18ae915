"""Compute what a more accurate Poisson release reveals beyond a known noisier one.

Given the noisier noise ``n``, the more accurate one is binomial with ``n`` trials.  If the data
differ by ``shift``, so do both: ``B(n, p)`` is compared with ``shift + B(n - shift, p)``.  More
trials act as independent noise on both, so the divergence falls as ``n`` grows, and a lower bound
on ``n`` bounds it.
"""

import math

import numpy as np

from penstock.mechanisms.poisson.divergence import restricted_divergence, window
from penstock.randomness.saddle_point import Floats, log_poisson, log_self

MOST_POINTS = 1 << 22


def fewest(mean: float, probability: float) -> int:
    """Return a number that Poisson noise of ``mean`` is below with at most ``probability``.

    It follows from Chernoff's inequality, ``P(X <= mean - t) <= exp(-t^2 / (2 mean))``.
    """
    return math.floor(mean - math.sqrt(2 * mean * math.log(1 / probability)))


def refinement_divergence(trials: int, chance: float, shift: int, order: float) -> float:
    """Return the divergence of ``B(trials, chance)``, at least ``shift``, from the shifted law.

    It is the larger of both directions, rounded up; infinite if it would be too large to be useful.
    """
    if trials <= shift:
        return math.inf
    mean, deviation = trials * chance, math.sqrt(trials * chance * (1 - chance))
    over = window(mean, deviation, shift, order)
    if over is None:
        return math.inf
    last = min(math.ceil(over.last), trials)
    if (last - over.first) / over.step > MOST_POINTS or shift > MOST_POINTS:
        return math.inf
    without = np.exp(_log_binomial(np.arange(shift, dtype=np.float64), trials, chance))
    outside = float(without.sum())
    if outside >= 1:
        return math.inf
    values = np.arange(over.first, last + 1, over.step, dtype=np.float64)
    plain = _log_binomial(values, trials, chance)
    moved = _log_binomial(values - shift, trials - shift, chance)
    return restricted_divergence(plain, moved, over.step, outside, order)


def _log_binomial(values: Floats, trials: int, chance: float) -> Floats:
    """Return ``ln P(B(trials, chance) = value)``, from three Poisson probabilities."""
    hits, misses = trials * chance, trials * (1 - chance)
    others = trials - values
    joint = log_poisson(values, hits, values - hits) + log_poisson(others, misses, others - misses)
    return np.asarray(joint - log_self(np.array([float(trials)])))
