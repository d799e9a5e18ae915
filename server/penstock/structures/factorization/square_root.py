"""Compute the square-root factorization of running sums.

By Henzinger, Upadhyay, Upadhyay 2023, the all-ones lower triangle is ``M M`` with the Toeplitz
matrix ``M`` of the coefficients of ``(1 - x)^(-1/2)``.  Its error is about a fifth of the trees',
for Gaussian noise, and it is lossless, but every node is needed forever: state and time of a step
grow with the stream.
"""

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from penstock.structures.factorization.matrices import DIGITS, Factorization, factorization
from penstock.structures.streams.forest import check_length


def coefficients(length: int) -> NDArray[np.float64]:
    """Return ``f_j = f_(j-1) (1 - 1/(2j))``, the first column of ``M``: shape ``(length,)``."""
    check_length(length)
    places = np.arange(1, length)
    return np.concatenate([[1.0], np.cumprod(1 - 1 / (2 * places))])


def column_square(length: int) -> float:
    """Return ``s_T``, the sum of the squares of the first ``length`` coefficients.

    It is the squared ``l2`` sensitivity of all nodes; that of output ``t``'s row of ``L`` is
    ``s_t``.
    """
    return float(np.square(coefficients(length)).sum())


def square_root(length: int, digits: int = DIGITS) -> Factorization:
    """Return the factorization for ``length`` steps, ``R`` rounded to ``digits`` binary digits.

    It needs memory for ``length`` squared numbers.  Raises ``InvalidInput`` for a length below 1.
    """
    strategy = linalg.toeplitz(coefficients(length), np.zeros(length))
    return factorization(np.tril(np.ones((length, length))), strategy, digits)


def mean_variance(length: int) -> float:
    """Return the mean variance of outputs times ``rho``, of exact coefficients (Gaussian noise)."""
    squares = np.cumsum(np.square(coefficients(length)))
    return float(squares[-1] * squares.mean() / 2)


def largest_variance(length: int) -> float:
    """Return the variance of the last output times ``rho``, which is the largest."""
    return column_square(length) ** 2 / 2


def published_bound(length: int) -> float:
    """Return ``(1 + ln(4T/5)/pi)^2``, which bounds twice ``mean_variance`` from 7 steps on.

    It bounds neither the largest variance, nor the mean below 7 steps.
    """
    check_length(length)
    return float((1 + np.log(4 * length / 5) / np.pi) ** 2)
