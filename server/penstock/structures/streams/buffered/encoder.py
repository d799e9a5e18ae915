"""Define the encoder of buffered linear Toeplitz noise, and bound the norms of its columns.

By Dvijotham, McMahan, Pillutla, Steinke, Thakurta 2024 the square root of the all-ones lower
triangle is close to ``R(x) = 1 + x sum over i of w_i / (1 - theta_i x)``: its entries decay as a
sum of few exponentials, each of which is a buffer.  Here ``1 - theta_i`` is ``2^-1, 2^-4, 2^-7``
and so on, so that a step of the recursion is a shift; the ``w_i`` are whole numbers over powers of
two.  They were found by non-negative least squares on the coefficients of ``(1 - x)^(-1/2)``,
relative to themselves, and are a table: a stream must not depend on the version of a solver.

The entries of ``R`` are not negative, do not rise downward, and are log-convex: ``r_j`` from 1 on
by the inequality of Cauchy and Schwarz, and ``r_0 r_2 >= r_1^2`` for every row of the table.  So
(Kaluza 1928) those of ``1/R`` are not positive from 1 on, and add up to less than 1 there; and
``L = 1 / ((1 - x) R)`` has positive entries that decrease.
"""

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final

from penstock.errors import InvalidInput
from penstock.privacy.sensitivity import Sensitivity
from penstock.structures.streams.forest import check_length

LONGEST: Final = 1 << 40
"""The most steps, and those of a stream without an end."""

_SHORTEST: Final = 10
"""Binary logarithm of the most steps for the first row of the table; each row has 8 times more."""

_WEIGHTS: Final = (
    ((955, 12), (792, 12), (630, 14), (665, 14)),
    ((564, 11), (639, 12), (516, 13), (1013, 16), (929, 16)),
    ((542, 11), (680, 12), (920, 14), (732, 15), (717, 17), (657, 17)),
    ((551, 11), (663, 12), (963, 14), (659, 15), (516, 16), (1015, 19), (930, 19)),
    ((550, 11), (666, 12), (952, 14), (683, 15), (932, 17), (731, 18), (717, 20), (657, 20)),
    (
        *((552, 11), (662, 12), (959, 14), (674, 15), (968, 17), (659, 18), (517, 19), (1014, 22)),
        (930, 22),
    ),
    (
        *((552, 11), (661, 12), (960, 14), (677, 15), (956, 17), (684, 18), (932, 20), (731, 21)),
        *((716, 23), (658, 23)),
    ),
    (
        *((553, 11), (660, 12), (962, 14), (675, 15), (960, 17), (675, 18), (968, 20), (659, 21)),
        *((517, 22), (1013, 25), (930, 25)),
    ),
    (
        *((554, 11), (659, 12), (964, 14), (675, 15), (959, 17), (678, 18), (955, 20), (684, 21)),
        *((932, 23), (731, 24), (716, 26), (658, 26)),
    ),
    (
        *((555, 11), (658, 12), (965, 14), (675, 15), (959, 17), (677, 18), (960, 20), (675, 21)),
        *((968, 23), (659, 24), (517, 25), (1012, 28), (931, 28)),
    ),
    (
        *((555, 11), (657, 12), (966, 14), (675, 15), (959, 17), (677, 18), (958, 20), (678, 21)),
        *((955, 23), (684, 24), (932, 26), (731, 27), (715, 29), (658, 29)),
    ),
)
"""The weight of each buffer, as a numerator and the exponent of its denominator."""

_BITS: Final = 512
"""Binary digits of powers: a power of up to ``LONGEST`` is off by less than ``2^-460``."""

_MARGIN: Final = Fraction(1, 1 << 256)
"""More than all digits that are cut in a norm, whose terms have factors of less than 2^120."""


@dataclass(frozen=True)
class Encoder:
    """Hold ``R`` for a length: buffer ``i`` keeps ``theta_i = 1 - 2^-exponents[i]`` of itself.

    Its weight is ``numerators[i] / 2^shifts[i]``.
    """

    length: int
    exponents: tuple[int, ...]
    numerators: tuple[int, ...]
    shifts: tuple[int, ...]

    @property
    def weights(self) -> list[Fraction]:
        """Return the weight of each buffer."""
        return [Fraction(n, 1 << s) for n, s in zip(self.numerators, self.shifts, strict=True)]

    @property
    def kept(self) -> list[Fraction]:
        """Return ``theta``: how much each buffer keeps of itself in a step."""
        return [1 - Fraction(1, 1 << exponent) for exponent in self.exponents]

    @property
    def sums(self) -> list[Fraction]:
        """Return what each buffer adds to a column without an end: its weight over what it loses.

        They are ``w_i / (1 - theta_i)``.
        """
        return [w * (1 << e) for w, e in zip(self.weights, self.exponents, strict=True)]


def encoder(length: int | None) -> Encoder:
    """Return the encoder for up to ``length`` steps, or for ``LONGEST`` without an end.

    Raises ``InvalidInput`` for a length below 1 or above ``LONGEST``.
    """
    steps = LONGEST if length is None else length
    check_length(steps)
    if steps > LONGEST:
        raise InvalidInput(
            f"A buffered stream has at most {LONGEST} steps, not {steps}.", pointer="/length"
        )
    row = max(0, -(-((steps - 1).bit_length() - _SHORTEST) // 3))
    numerators, shifts = zip(*_WEIGHTS[row], strict=True)
    return Encoder(steps, tuple(3 * i + 1 for i in range(len(shifts))), numerators, shifts)


@lru_cache(maxsize=64)
def columns(matrix: Encoder, count: int) -> Sensitivity:
    """Return bounds on the norms of a sum of ``count`` columns of ``R``, each times -1, 0 or 1.

    The first columns, adjacent, have the largest, as entries are not negative and do not rise
    downward (see ``root_matrices.columns``); a distance between a unit's steps makes it less.  So
    these also bound what vectors move, each column times one of norm 1 at most.

    The row ``j`` of that sum is ``A - sum a_i theta_i^j`` in the first ``count`` rows, with
    ``a_i = w_i / (1 - theta_i)`` and ``A = 1 + sum a_i``, and ``sum c_i theta_i^(j - count)``
    after them, with ``c_i = a_i (1 - theta_i^count)``.  Rows and their squares are added up as
    geometric sums, in fractions except for the powers, whose digits are cut.
    """
    count = min(count, matrix.length)
    rest = matrix.length - count
    kept, sums = matrix.kept, matrix.sums
    whole = 1 + sum(sums, Fraction(0))
    early, late = ([_power(theta, n) for theta in kept] for n in (count, rest))
    tails = [a * (1 - power) for a, power in zip(sums, early, strict=True)]
    missing = sum(map(_geometric, sums, kept, early), Fraction(0))
    plain = count * whole - missing + sum(map(_geometric, tails, kept, late), Fraction(0))
    squares = count * whole**2 - 2 * whole * missing
    for i, theta in enumerate(kept):
        for k, other in enumerate(kept):
            squares += _geometric(sums[i] * sums[k], theta * other, early[i] * early[k])
            squares += _geometric(tails[i] * tails[k], theta * other, late[i] * late[k])
    last = whole - sum(a * _power(theta, count - 1) for a, theta in zip(sums, kept, strict=True))
    largest = _above(last)
    return Sensitivity(l1=_above(plain), l2_squared=max(_above(squares), largest**2), linf=largest)


def last_entry(matrix: Encoder) -> Fraction:
    """Return a number below the last entry of the first column of ``R``, and above 0."""
    if matrix.length == 1:
        return Fraction(1)
    terms = zip(matrix.weights, matrix.kept, strict=True)
    return sum(w * _power(theta, matrix.length - 2) for w, theta in terms) - _MARGIN


def _power(theta: Fraction, exponent: int) -> Fraction:
    """Return ``theta^exponent``, cut to ``_BITS`` digits at each multiplication."""
    result, square = 1 << _BITS, int(theta * (1 << _BITS))
    while exponent:
        if exponent & 1:
            result = result * square >> _BITS
        square = square * square >> _BITS
        exponent >>= 1
    return Fraction(result, 1 << _BITS)


def _geometric(factor: Fraction, ratio: Fraction, power: Fraction) -> Fraction:
    """Return ``factor (1 - power) / (1 - ratio)``, cut to ``_BITS`` digits."""
    return Fraction(int(factor * (1 - power) / (1 - ratio) * (1 << _BITS)), 1 << _BITS)


def _above(value: Fraction) -> Fraction:
    """Return a short fraction above a number that digits were cut of."""
    scaled = (value + _MARGIN) * (1 << 256)
    return Fraction(-(-scaled.numerator // scaled.denominator), 1 << 256)
