"""Keep buffers in fixed point, and take a step of their recursion in integers.

A buffer is ``high + low / 2^DIGITS`` steps of the noise's lattice, in two ``int64``, ``low`` being
at least 0 and below ``2^DIGITS``.  Keeping ``1 - 2^-e`` of it takes a shift, rounded to the nearest
digit, which is off by at most half of one; the error stays below ``2^(e - 1)`` digits forever.  So
the weighted sum of the buffers is off from that of exact ones, which had the same inputs, by at
most ``off``.
"""

from fractions import Fraction
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from penstock.mechanisms.process import IntVector
from penstock.structures.streams.buffered.encoder import Encoder

DIGITS: Final = 50
"""Binary digits of a buffer below one step of the lattice."""

LARGEST: Final = 1 << 52
"""Buffers stay below this many steps: a numerator of 10 bits times one of them fits 63 bits."""

_MASK: Final = (1 << DIGITS) - 1
_FIRST_LOST: Final = 30
_FIRST_WEIGHED: Final = 20
"""Bits that are shifted first: exponents are 40 at most and shifts 29, so that the rest, times
``2^DIGITS`` over as many bits, fits 63 bits."""


class Recursion:
    """Take steps of the buffers of an encoder, of shape (buffers, tiers, dimension)."""

    def __init__(self, matrix: Encoder) -> None:
        self.matrix = matrix
        self._exponents, self._shifts = _column(matrix.exponents), _column(matrix.shifts)
        self._numerators = _column(matrix.numerators)
        self._halves = np.int64(1) << (self._exponents - 1)
        self._losing = self._exponents, np.minimum(self._exponents, _FIRST_LOST)
        self._weighing = self._shifts, np.minimum(self._shifts, _FIRST_WEIGHED)

    def weighted(self, high: IntVector, low: IntVector) -> tuple[IntVector, IntVector]:
        """Return the weighted sum of the buffers: whole steps, and digits from 0 up to a step."""
        shifts, numerators = self._shifts, self._numerators
        product = numerators * high
        whole = product >> shifts
        rest = product - (whole << shifts)
        digits = _shifted(rest, numerators * low, *self._weighing).sum(axis=0)
        return whole.sum(axis=0) + (digits >> DIGITS), digits & _MASK

    def step(
        self, high: IntVector, low: IntVector, added: IntVector
    ) -> tuple[IntVector, IntVector]:
        """Return the buffers of the next step, to each of which ``added`` whole steps are added."""
        exponents = self._exponents
        whole = high >> exponents
        rest = high - (whole << exponents)
        digits = low - _shifted(rest, low + self._halves, *self._losing)
        return high - whole + (digits >> DIGITS) + added, digits & _MASK


def off(matrix: Encoder) -> Fraction:
    """Return how far a weighted sum is off at most, in steps of the lattice.

    It is half a digit a step over what a buffer loses, times its weight; and a digit a buffer
    where products are cut.
    """
    return (sum(matrix.sums, Fraction(0)) / 2 + len(matrix.exponents)) / (1 << DIGITS)


def joined(high: IntVector, low: IntVector) -> NDArray[Any]:
    """Return buffers in digits, as an array of Python's integers."""
    digits: NDArray[Any] = (high.astype(object) << DIGITS) + low.astype(object)
    return digits


def parted(digits: NDArray[Any]) -> tuple[IntVector, IntVector]:
    """Return the two integers of buffers that are given in digits."""
    return (digits >> DIGITS).astype(np.int64), (digits & _MASK).astype(np.int64)


def _shifted(rest: IntVector, digits: IntVector, shifts: IntVector, first: IntVector) -> IntVector:
    """Return ``(rest 2^DIGITS + digits) / 2^shifts``, rounded down, by way of ``first`` of them."""
    quotient: IntVector = ((rest << (DIGITS - first)) + (digits >> first)) >> (shifts - first)
    return quotient


def _column(values: tuple[int, ...]) -> IntVector:
    return np.array(values, dtype=np.int64)[:, None, None]
