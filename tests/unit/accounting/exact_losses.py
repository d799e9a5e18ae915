"""Provide privacy losses by enumeration: slow, short and independent of what they are held against.

A law is a pair of vectors: the probabilities of each outcome under both hypotheses.
"""

from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy.stats import poisson

Vector = NDArray[np.float64]
Pair = tuple[Vector, Vector]


def laplace(decay: float, shift: int) -> Pair:
    """Return discrete Laplace noise and its shift.

    Outcomes of one loss beyond either end are joined.
    """
    inner = np.arange(1, shift)
    middle = (1 - np.exp(-decay)) / (1 + np.exp(-decay))
    end = 1 / (1 + np.exp(-decay))
    one = np.concatenate(([end], middle * np.exp(-decay * inner), [end * np.exp(-decay * shift)]))
    return one, one[::-1].copy()


def poisson_noise(mean: float, shift: int, reach: int) -> Pair:
    """Return Poisson noise and its shift, on the outcomes below ``reach`` and all others as two."""
    outcomes = np.arange(reach)
    first, second = poisson.pmf(outcomes, mean), poisson.pmf(outcomes - shift, mean)
    beyond = poisson.sf(reach - 1, mean), poisson.sf(reach - 1 - shift, mean)
    return np.append(first, [beyond[0], 0.0]), np.append(second, [0.0, beyond[1]])


def turned(pair: Pair) -> Pair:
    """Return the same law with the hypotheses the other way round."""
    return pair[1], pair[0]


def joint(pairs: list[Pair]) -> Pair:
    """Return the joint law of independent outcomes of all ``pairs``."""
    return reduce(lambda a, b: (np.outer(a[0], b[0]).ravel(), np.outer(a[1], b[1]).ravel()), pairs)


def delta_at(pair: Pair, epsilon: float) -> float:
    """Return the hockey-stick divergence of the first from the second hypothesis."""
    return float(np.maximum(pair[0] - np.exp(epsilon) * pair[1], 0).sum())


def epsilon_at(pair: Pair, delta: float) -> float:
    """Return the least epsilon whose hockey-stick divergence is at most ``delta``, by halving."""
    low, high = 0.0, 200.0
    if delta_at(pair, 0.0) <= delta:
        return 0.0
    for _ in range(100):
        middle = (low + high) / 2
        low, high = (low, middle) if delta_at(pair, middle) <= delta else (middle, high)
    return high
