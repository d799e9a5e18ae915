"""Compute what a tier that joins midway has in its buffers and total, given its neighbors'.

Buffers and total are linear in the noise so far, ``M z``, for every tier with the same ``M``.  So
between two tiers they are a Brownian bridge as the noise is: if the levels are ``a < t < b`` and
the two differ by ``s``, the new tier differs from the first by ``w s + sqrt(v) C N``, with
``w = (t - a) / (b - a)``, ``v = w (b - t)``, standard normals ``N`` and ``C C^T = M M^T``.  The
latter depends on the number of steps alone, and is computed in ``BITS`` binary digits.
"""

from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from penstock.mechanisms.process import IntVector
from penstock.randomness.normal import rounded_normal
from penstock.randomness.stream import Stream
from penstock.structures.streams.buffered.encoder import Encoder
from penstock.structures.streams.buffered.fixed_point import DIGITS

BITS: Final = 400
"""Binary digits of covariances: products are cut, and errors grow by less than 2^100."""

_NONE: Final = 1 << (BITS - 200)
"""A rest below it is 0: what is left out has a deviation of ``2^-100`` of a level's."""

_COARSE: Final = 40
_DEVIATION: Final = 84
"""Binary logarithms of the steps between coarse normals, and of the deviation of all."""

_GUARD: Final = 20

Integers = NDArray[Any]
"""An array of Python's integers."""


def transition(matrix: Encoder) -> tuple[Integers, Integers]:
    """Return ``F`` and ``h`` in units of ``2^-BITS``: the state is ``F state + h z`` a step later.

    The state is the buffers, in their order, and the total.
    """
    unit, size = 1 << BITS, len(matrix.exponents)
    weights = [int(weight * unit) for weight in matrix.weights]
    step = np.zeros((size + 1, size + 1), dtype=object)
    step[:, :size] = [[-weight for weight in weights] for _ in range(size + 1)]
    for place, kept in enumerate(matrix.kept):
        step[place, place] += int(kept * unit)
    step[size, size] = unit
    return step, np.full(size + 1, unit, dtype=object)


@lru_cache(maxsize=16)
def factor(matrix: Encoder, steps: int) -> Integers:
    """Return ``C`` after ``steps`` steps, in units of ``2^-BITS``: shape (buffers + 1) squared.

    The covariance doubles its steps by ``S(2 t) = S(t) + F^t S(t) (F^t)^T``.
    """
    single, entry = transition(matrix)
    size = len(entry)
    covariance = np.zeros((size, size), dtype=object)
    power = np.zeros((size, size), dtype=object)
    np.fill_diagonal(power, 1 << BITS)
    for bit in format(steps, "b"):
        covariance = covariance + _product(_product(power, covariance), power.T)
        power = _product(power, power)
        if bit == "1":
            covariance = _product(_product(single, covariance), single.T)
            covariance = covariance + (np.outer(entry, entry) >> BITS)
            power = _product(single, power)
    return _root(covariance)


def part(
    difference: Integers, weight: Fraction, variance: Fraction, root: Integers, stream: Stream
) -> Integers:
    """Draw a tier's buffers and total less those of its accurate neighbor, in digits.

    ``difference`` is that of both neighbors, shape (buffers + 1, dimension); ``variance`` is in
    squared steps of the lattice.  The result is off by less than ``2^-36`` of a step from that of
    real normals, for deviations up to ``2^42`` steps and normals up to ``2^5``.
    """
    deviation = isqrt(int(variance * (1 << 2 * BITS)))
    entries = (root * deviation) >> (2 * BITS - DIGITS - _GUARD)
    drawn = entries.dot(_normals(difference.shape, stream)) >> (_DEVIATION + _GUARD)
    own: Integers = drawn + difference * weight.numerator // weight.denominator
    return own


def _normals(shape: tuple[int, ...], stream: Stream) -> Integers:
    """Draw normals in units of ``2^-_DEVIATION``: coarse ones and, between them, fine ones.

    Both have a deviation of ``2^44``, in their own units; sums of discrete Gaussians whose finer
    one is ``2^4`` units of the coarser wide are discrete Gaussians, up to ``e^-(2^12)``.
    """
    size = int(np.prod(shape))
    variance = Fraction(1 << 2 * (_DEVIATION - _COARSE))
    coarse, fine = (_as_integers(rounded_normal(variance, size, stream)) for _ in range(2))
    return ((coarse << _COARSE) + fine).reshape(shape)


def _as_integers(values: IntVector) -> Integers:
    return values.astype(object)


def _product(left: Integers, right: Integers) -> Integers:
    product: Integers = left.dot(right) >> BITS
    return product


def _root(covariance: Integers) -> Integers:
    """Return a matrix whose product with its transpose is ``covariance``.

    It is that of Cholesky, the row with the largest rest first, so that digits which were cut
    do not grow; it ends where all rests are 0.
    """
    left, size = covariance.copy(), len(covariance)
    root = np.zeros((size, size), dtype=object)
    for column in range(size):
        rests = left.diagonal()
        place = max(range(size), key=rests.__getitem__)
        if rests[place] < _NONE:
            break
        divisor = isqrt(rests[place] << BITS)
        root[:, column] = [(entry << BITS) // divisor for entry in left[:, place]]
        left = left - (np.outer(root[:, column], root[:, column]) >> BITS)
    return root
