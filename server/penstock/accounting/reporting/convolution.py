"""Convolve masses of privacy losses, with every rounding error bounded and added.

The rule this module keeps: each mass that is returned is at least that of the exact convolution, so
that no divergence computed from it is too small.

*Fourier transforms.*  The error of a convolution of ``a`` and ``b`` by transforms of length
``2^n`` in floating point is at most ``E(n) |a|_2 |b|_2`` in every place, with
``E(n) = (1 + u)^(3n) (1 + sqrt(5) u)^(3n + 1) (1 + r)^(3n) - 1`` (Percival 2003, "Rapid
multiplication modulo the sum and difference of highly composite numbers", Theorem 5.1), where
``u = 2^-53`` and ``r`` bounds the error of the roots of unity.  Lengths are powers of 2: for
others the theorem does not hold.  numpy's transforms (pocketfft) go through such lengths by
radix 4, which does no more operations than two steps of radix 2, and take each root as a product
of two tabulated ones, each rounded: ``r <= (sqrt(5) + sqrt(2)) u < 4u``.

*Tilting.*  That error is just as large where masses are small, and would exceed a tail of 1e-11.
Masses are therefore convolved a second time with each multiplied by ``exp(tilt * place)``, which
puts the precision into the upper tail (Keich 2005; Wilson, Keich 2016, "Accurate pairwise
convolution of non-negative vectors via FFT").  Both results are upper bounds; the smaller one is
kept.  Far below, Chernoff's inequality bounds each mass without a transform.

Transforms are as long as the whole convolution: nothing wraps around, so the aliasing errors that
accountants with Fourier transforms have to bound (Koskela, Jälkö, Honkela 2020; Gopi, Lee,
Wutschitz 2021) do not arise. ``composition`` decides what is cut off.
"""

import math
from typing import Final

import numpy as np

from penstock.mechanisms.loss_table import FloatVector

_UNIT: Final = 2.0**-53
"""The relative error of one operation."""

_ROOTS: Final = 4 * _UNIT
"""The error of a root of unity."""

_EXPONENTIAL: Final = 8 * _UNIT
"""The relative error of an exponential, at 4 units in the last place."""

_SMALLEST: Final = 2.0**-960
"""What is added to each mass for underflow: 2^30 masses together lose less than that."""

_PART: Final = 0.6
"""The tilt's place, as a part of the exponent at which the tail is cut off."""


def convolved(left: FloatVector, right: FloatVector, tail: float) -> FloatVector:
    """Return upper bounds of the convolution of ``left`` and ``right``, non-negative masses.

    ``tail``, at least 0 and below 1, is the mass down to which the upper tail should be precise.
    """
    if not (left.any() and right.any()):
        return np.zeros(len(left) + len(right) - 1)
    nats = -math.log(max(tail, 1e-300))
    variance = _variance(left) + _variance(right)
    tilt = min(math.sqrt(2 * _PART * nats / max(variance, 1e-9)), nats)
    # If the law has far, rare losses, a tilt by its standard deviation would weigh only these.
    while _exponent(left, tilt) + _exponent(right, tilt) > nats:
        tilt /= 2
    bounds = np.minimum(_at_tilt(left, right, 0.0), _at_tilt(left, right, tilt))
    return np.minimum(bounds, _chernoff(left, right, -tilt)) + _SMALLEST


def transform_error(size: int) -> float:
    """Return Percival's ``E`` for transforms of length ``size``, a power of 2.

    It bounds the error at every place, in units of the product of both 2-norms.
    """
    steps = 3 * (size.bit_length() - 1)
    return math.expm1(steps * (_UNIT + _ROOTS) + (steps + 1) * math.sqrt(5) * _UNIT)


def rounded_up(total: float, terms: int) -> float:
    """Return an upper bound of a sum of ``terms`` non-negative floats, computed as ``total``."""
    return total * (1 + 2 * (terms + 2) * _UNIT)


def _at_tilt(left: FloatVector, right: FloatVector, tilt: float) -> FloatVector:
    """Return bounds from one pair of transforms of masses times ``exp(tilt * place)``."""
    length = len(left) + len(right) - 1
    size = 1 << (length - 1).bit_length()
    first, shift_first = _tilted(left, tilt)
    second, shift_second = _tilted(right, tilt)
    product = np.fft.irfft(np.fft.rfft(first, size) * np.fft.rfft(second, size), size)[:length]
    error = transform_error(size) * _norm(first) * _norm(second) + _SMALLEST
    exponents = (shift_first + shift_second) - tilt * np.arange(length)
    # Exponents of both factors and of the result, each rounded up to four times; five
    # exponentials and their products.
    reach = np.abs(exponents) + abs(shift_first) + abs(shift_second) + 2 * abs(tilt) * length
    relative = 4 * _UNIT * reach + 5 * _EXPONENTIAL + 12 * _UNIT
    with np.errstate(over="ignore"):
        bounds: FloatVector = (np.maximum(product, 0.0) + error) * np.exp(exponents)
    bounds *= 1 + 2 * relative
    return bounds


def _tilted(masses: FloatVector, tilt: float) -> tuple[FloatVector, float]:
    """Return masses times ``exp(tilt * place - shift)``, and the shift: the largest is near 1."""
    exponents = tilt * np.arange(len(masses))
    with np.errstate(divide="ignore"):
        shift = float(np.max(exponents + np.log(masses)))
    # In two steps, since a factor may overflow although its product with a small mass does not.
    half = np.exp(np.where(masses > 0, exponents - shift, -math.inf) / 2)
    return masses * half * half, shift


def _norm(masses: FloatVector) -> float:
    """Return an upper bound of the 2-norm."""
    return rounded_up(math.sqrt(float(masses @ masses) + _SMALLEST), len(masses))


def _chernoff(left: FloatVector, right: FloatVector, tilt: float) -> FloatVector:
    """Return bounds by ``mass(k) exp(tilt * k) <= M_left(tilt) M_right(tilt)``, for each ``k``."""
    logarithm = _cumulant(left, tilt) + _cumulant(right, tilt)
    length = len(left) + len(right) - 1
    exponents = logarithm - tilt * np.arange(length)
    slack = 1e-9 + 1e-12 * (abs(logarithm) + abs(tilt) * length)
    with np.errstate(over="ignore"):
        bounds: FloatVector = np.exp(exponents + slack)
    return bounds


def _cumulant(masses: FloatVector, tilt: float) -> float:
    """Return ``ln sum(masses * exp(tilt * place))``."""
    tilted, shift = _tilted(masses, tilt)
    return math.log(float(tilted.sum())) + shift


def _exponent(masses: FloatVector, tilt: float) -> float:
    """Return how far the tilted law is from the given one: ``t K'(t) - K(t)`` nats, K(0) = 0."""
    tilted, shift = _tilted(masses, tilt)
    total, whole = float(tilted.sum()), float(masses.sum())
    mean = float(tilted @ np.arange(len(masses))) / total
    return tilt * mean - (math.log(total) + shift - math.log(whole))


def _variance(masses: FloatVector) -> float:
    """Return the variance of the place."""
    total = float(masses.sum())
    places = np.arange(len(masses))
    offsets = places - float(masses @ places) / total
    return float(masses @ (offsets * offsets)) / total
