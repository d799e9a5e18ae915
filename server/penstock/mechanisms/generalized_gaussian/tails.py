"""Compute chances of outcomes below a value and between values, exact in the lower tail.

An outcome is below ``z <= 0`` with half the chance that a gamma variable of shape ``1/p`` exceeds
``|z|^p``.  Up to an argument of ``_SMALL`` that chance is summed here: scipy computes the gamma
function of the shape again for every argument, which takes fifty times as long.
"""

import math
from functools import lru_cache
from typing import Final

import numpy as np

from penstock.randomness.saddle_point import Floats

_SMALL: Final = 1.1
_TERMS: Final = 22
"""The terms of the series that matter to a float at ``_SMALL``."""


def between(falling: Floats, power: float) -> Floats:
    """Return the chances of outcomes between each two of ``falling`` values."""
    chances = below(falling, power)
    return chances[:-1] - chances[1:]


def below(z: Floats, power: float) -> Floats:
    """Return the chance of an outcome below ``z``, exact in the lower tail."""
    from scipy.special import gammainc  # imported late: slow to import

    size = np.abs(z) ** power
    chances = np.empty_like(size)
    left = z <= 0
    chances[left] = beyond(size[left], power) / 2
    chances[~left] = 0.5 + gammainc(1 / power, size[~left]) / 2
    return chances


def beyond(size: Floats, power: float) -> Floats:
    """Return ``P(|Z|^p > size)``: the regularized upper incomplete gamma function of ``1/p``."""
    from scipy.special import gammaincc  # imported late: slow to import

    small = size <= _SMALL
    chances = np.empty_like(size)
    chances[~small] = gammaincc(1 / power, size[~small])
    chances[small] = _summed(size[small], 1 / power)
    return chances


def _summed(x: Floats, shape: float) -> Floats:
    """Return the function at ``x`` by its power series (DLMF 8.7.1).

    It is ``1 - x^a / Gamma(a) * sum((-x)^k / (k! (a + k)))``, of which the first term,
    ``x^a / Gamma(1 + a)``, is taken together with the 1, since they may nearly cancel.
    """
    from scipy.special import loggamma  # imported late; and near 1 Python's own has fewer digits

    series = np.zeros_like(x)
    for coefficient in _coefficients(shape):
        series += coefficient
        series *= x
    with np.errstate(divide="ignore"):
        logs = shape * np.log(x) - float(loggamma(1 + shape))
    return np.asarray(-np.expm1(logs) - shape * np.exp(logs) * series)


@lru_cache(maxsize=64)
def _coefficients(shape: float) -> tuple[float, ...]:
    """Return ``(-1)^k / (k! (a + k))``, the last one first."""
    return tuple((-1) ** k / (math.factorial(k) * (shape + k)) for k in range(_TERMS, 0, -1))
