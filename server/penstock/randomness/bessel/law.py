"""Compute logarithms of Skellam probabilities (scaled Bessel functions), exact to 1e-13.

``P(A - B = k) = exp(-m) I_k(m)`` for independent Poisson ``A`` and ``B`` of mean ``m/2``
each.  From a variance ``m`` of 128 on, it uses the uniform expansion for large orders (Debye 1909;
DLMF 10.41(ii)), which in powers of ``1/sqrt(k^2 + m^2)`` holds for all ``k``; below, it uses ratios
of neighbors by the recurrence run downwards, where it is stable (Miller, in British Association
1952), normalized by their sum.
"""

import math
from fractions import Fraction
from functools import lru_cache

import numpy as np

from penstock.randomness.saddle_point import Floats

EXPANDED = 128.0
"""The variance from which eight terms of the expansion are exact to a float."""

_TERMS = 8
_NEGLIGIBLE = 2.0**-70
"""A part of a probability that is lost in the rounding of its logarithm, even of one near 1."""

_BEYOND = 80
"""How far above the largest requested order the recurrence begins."""


def log_skellam(values: Floats, variance: float) -> Floats:
    """Return ``ln P(k)`` at the integers ``values``, for a ``variance`` above 0."""
    order = np.abs(values)
    return _expanded(order, variance) if variance >= EXPANDED else _recurred(order, variance)


def _expanded(order: Floats, variance: float) -> Floats:
    root = np.hypot(order, variance)
    square = (order / root) ** 2
    series = np.zeros_like(order)
    term = np.empty_like(order)
    for coefficients in reversed(_coefficients()[: _terms(variance)]):
        term.fill(coefficients[-1])
        for coefficient in reversed(coefficients[:-1]):
            term *= square
            term += coefficient
        series += term
        series /= root
    body = order * (order / (root + variance)) - order * np.arcsinh(order / variance)
    return np.asarray(body - 0.5 * np.log(2 * math.pi * root) + np.log1p(series))


def _terms(variance: float) -> int:
    """Return how many terms matter to a float; the others are below ``_NEGLIGIBLE`` together."""
    count = _TERMS
    while count and _TERMS * sum(map(abs, _coefficients()[count - 1])) < (
        _NEGLIGIBLE * variance**count
    ):
        count -= 1
    return count


@lru_cache
def _coefficients() -> tuple[tuple[float, ...], ...]:
    """Return ``u_1, u_2, ...`` over their powers of ``p``, in ``p^2`` (DLMF 10.41.9)."""
    terms: list[tuple[Fraction, ...]] = [(Fraction(1),)]
    for power in range(_TERMS):
        # u = p^power sum(c_i p^(2i)); the recurrence raises the power by one.
        following = [Fraction(0)] * (power + 2)
        for i, coefficient in enumerate(terms[-1]):
            degree = power + 2 * i
            following[i] += coefficient * (Fraction(degree, 2) + Fraction(1, 8 * (degree + 1)))
            following[i + 1] -= coefficient * (Fraction(degree, 2) + Fraction(5, 8 * (degree + 3)))
        terms.append(tuple(following))
    return tuple(tuple(map(float, coefficients)) for coefficients in terms[1:])


def _recurred(order: Floats, variance: float) -> Floats:
    last = int(order.max(initial=0)) + _BEYOND
    ratio, logs = 0.0, np.zeros(last + 1)
    for index in range(last, 0, -1):
        # I_index / I_(index - 1)
        ratio = 1 / (2 * index / variance + ratio)
        logs[index] = math.log(ratio)
    logs = np.cumsum(logs)
    logs -= math.log1p(2 * float(np.exp(logs[1:]).sum()))
    return np.asarray(logs[order.astype(np.int64)])
