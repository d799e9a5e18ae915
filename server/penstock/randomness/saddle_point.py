"""Compute logarithms of Poisson and binomial probabilities, exact to 1e-13.

Catherine Loader (2000), "Fast and accurate computation of binomial probabilities": the
saddle-point form has no large terms that cancel.  The deviation ``x - mean`` is taken
from a mean in two floats, since for large means the mean's rounding is the only remaining
error that matters.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

_STIRLING_TABLE = np.array(
    [
        0.0,
        0.08106146679532725822,
        0.041340695955409294094,
        0.027677925684998339149,
        0.020790672103765093112,
        0.016644691189821192163,
        0.013876128823070747999,
        0.011896709945891770095,
        0.010411265261972096497,
        0.0092554621827127329177,
        0.0083305634333628712565,
        0.007573675487951840795,
        0.0069428401072095298657,
        0.0064089941880042070684,
        0.0059513701127588477356,
        0.005554733551962801371,
    ]
)
"""``ln n! - (n + 1/2) ln n + n - ln(2 pi)/2``; the entry for 0 is not used."""

_STIRLING_SERIES = (1 / 12, 1 / 360, 1 / 1260, 1 / 1680, 1 / 1188)
_DEVIANCE_TERMS = 14
_DEVIANCE_RANGE = 0.25
"""Where the series has converged to a float with that many terms: ``0.25^28 < 2^-53``."""


def split(value: Fraction) -> tuple[float, float]:
    """Return ``value`` as the sum of two floats, to 2^-106 of itself."""
    high = float(value)
    return high, float(value - Fraction(high))


def product(n: Floats, high: float, low: float) -> tuple[Floats, Floats]:
    """Return ``n * (high + low)`` as the sum of two floats (Dekker 1971), for ``n`` up to 2^53."""
    factor = float((1 << 27) + 1)
    n_top = factor * n
    n_top = n_top - (n_top - n)
    n_rest = n - n_top
    h_top = factor * high
    h_top = h_top - (h_top - high)
    h_rest = high - h_top
    result = n * high
    error = ((n_top * h_top - result) + n_top * h_rest + n_rest * h_top) + n_rest * h_rest
    return result, error + n * low


def log_poisson(x: Floats, mean: Floats | float, deviation: Floats) -> Floats:
    """Return ``ln(mean^x exp(-mean) / x!)``, given ``deviation = x - mean`` exactly; ``x >= 0``.

    ``x`` and ``deviation`` have one shape, and ``mean`` (above 0) that shape or none.
    """
    positive = np.maximum(x, 1.0)
    body = -_stirling_error(positive) - _deviance(positive, mean, deviation)
    body -= 0.5 * np.log(positive) + 0.5 * math.log(2 * math.pi)
    return np.where(x == 0, -np.asarray(mean), body)


def log_self(n: Floats) -> Floats:
    """Return ``ln(n^n exp(-n) / n!)`` for ``n >= 1``: the Poisson probability of its own mean."""
    return -_stirling_error(n) - 0.5 * np.log(n) - 0.5 * math.log(2 * math.pi)


def _stirling_error(n: Floats) -> Floats:
    last = len(_STIRLING_TABLE) - 1
    series = np.zeros_like(n)
    inverse = 1.0 / n
    square = inverse * inverse
    for coefficient in reversed(_STIRLING_SERIES):
        series *= -square
        series += coefficient
    series *= inverse
    small = np.minimum(n, last).astype(np.int64)
    return np.where(n <= last, _STIRLING_TABLE[small], series)


def _deviance(x: Floats, mean: Floats | float, deviation: Floats) -> Floats:
    """Return ``x ln(x / mean) + mean - x``, by a series in ``v`` wherever that would cancel."""
    v = deviation / (x + mean)
    square = v * v
    series = np.zeros_like(v)
    for j in range(_DEVIANCE_TERMS, 0, -1):
        series += 1 / (2 * j + 1)
        series *= square
    near = v * (deviation + 2 * x * series)
    return np.where(np.abs(v) < _DEVIANCE_RANGE, near, x * np.log(x / mean) - deviation)
