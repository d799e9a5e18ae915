"""Compute privacy losses by the formulas of textbooks, apart from the product's accounting.

* Rényi divergences: Mironov 2017, Proposition 6 (Laplace) and 7 (Gaussian); Skellam and Poisson
  noise by summing the definition over their laws.
* From Rényi divergences to (epsilon, delta): Canonne, Kamath, Steinke 2020, Proposition 12.
* Gaussian noise alone, exactly: Balle, Wang 2018, Theorem 8.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from scipy.special import ive, logsumexp, ndtr
from scipy.stats import poisson

ORDERS = np.array([*(1 + tenth / 10 for tenth in range(1, 100)), *range(11, 64), 128, 256])


@dataclass(frozen=True)
class Noise:
    """Hold the noise of one query at one level, and by how much one person moves one value.

    ``level`` is the variance of Gaussian and of Skellam noise, the scale of Laplace noise, and the
    mean of Poisson noise.
    """

    mechanism: str
    level: float
    shift: int


@cache
def divergence(noise: Noise, order: float) -> float:
    """Return the Rényi divergence of an order between neighbors, the larger of both directions."""
    if noise.mechanism == "gaussian":
        return order * noise.shift**2 / (2 * noise.level)
    if noise.mechanism == "laplace":
        epsilon = noise.shift / noise.level
        terms = [(order - 1) * epsilon, -order * epsilon]
        weights = [order / (2 * order - 1), (order - 1) / (2 * order - 1)]
        return float(logsumexp(terms, b=weights)) / (order - 1)
    logs, shift = _logs(noise.mechanism, noise.level), noise.shift
    near, far = logs[shift:], logs[:-shift]
    both = [(near, far), (far, near)]
    sums = [float(logsumexp(order * one + (1 - order) * other)) for one, other in both]
    return max(sums) / (order - 1)


@cache
def _curve(noise: Noise) -> NDArray[np.float64]:
    return np.array([divergence(noise, order) for order in ORDERS])


@cache
def _logs(mechanism: str, level: float) -> NDArray[np.float64]:
    """Return the logarithms of a law's probabilities around its mean, to 15 deviations."""
    reach = int(15 * math.sqrt(level)) + 30
    if mechanism == "skellam":
        return np.log(ive(np.abs(np.arange(-reach, reach + 1)), level))
    if mechanism == "poisson":
        least = max(0, int(level) - reach)
        return np.asarray(poisson.logpmf(np.arange(least, int(level) + reach), level))
    raise ValueError(f"no formula for {mechanism}")


def converted(order: float, loss: float, delta: float) -> float:
    """Return the epsilon at ``delta`` of a Rényi divergence."""
    less = (math.log(delta) + math.log(order)) / (order - 1) - math.log1p(-1 / order)
    return max(loss - less, 0.0)


def epsilon(noises: Iterable[Noise], delta: float, order: float) -> float:
    """Return an epsilon of all ``noises`` together, at the best of the orders and ``order``."""
    every = list(noises)
    if not every:
        return 0.0
    losses = np.sum([_curve(noise) for noise in every], axis=0)
    best = min(converted(one, loss, delta) for one, loss in zip(ORDERS, losses, strict=True))
    return min(best, converted(order, sum(divergence(noise, order) for noise in every), delta))


def gaussian_epsilon(noises: Iterable[Noise], delta: float) -> float:
    """Return the exact epsilon of the Gaussian ones of ``noises`` together."""
    spread = sum(noise.shift**2 / noise.level for noise in noises if noise.mechanism == "gaussian")
    if not spread:
        return 0.0
    mu, low, high = math.sqrt(spread), 0.0, 100.0
    for _ in range(60):
        middle = (low + high) / 2
        above = ndtr(mu / 2 - middle / mu) - math.exp(middle) * ndtr(-mu / 2 - middle / mu) > delta
        low, high = (middle, high) if above else (low, middle)
    return high
