"""Compute the square-root factorization in integers: ``R`` on the lattice, ``L`` to any digits.

By Henzinger, Upadhyay, Upadhyay 2023, the all-ones lower triangle is ``M M`` with the Toeplitz
matrix ``M`` of the coefficients ``f`` of ``(1 - x)^(-1/2)``.  Here ``R`` is ``M`` rounded to
multiples of ``2^-DIGITS`` and ``L`` the matrix with which ``L R`` is the triangle again, exactly:
the coefficients of ``1 / ((1 - x) R(x))``.  Their number of digits grows with each step; a caller
that rounds a sum of them can request as many as the rounding needs.

The error of digits: with ``R = M + E``, entries of ``E`` at most ``2^-DIGITS`` and those of
``M``'s inverse adding up to less than 2, the inverse of ``R`` has a sum of less than 4 over up to
``LONGEST`` steps; so cutting a digit in every step of the recursion moves no coefficient by 4
units of the last one.
"""

from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.mechanisms.process import IntVector
from penstock.privacy.sensitivity import Sensitivity
from penstock.structures.streams.forest import check_length

DIGITS: Final = 20
"""Binary digits of the entries of ``R``."""

LONGEST: Final = 1 << 14
"""The most steps: every noise is kept forever, for each level and dimension."""

OFF: Final = 4
"""The error of an entry of ``L`` is below this many units of its last digit."""

_BITS: Final = 128
"""More binary digits than floats have, so that the nearest float is known except for ties."""

_LIMB: Final = 16
"""Bits of a part of an entry: parts times entries of ``R`` add up exactly in floats."""


def check_root_length(length: int) -> None:
    """Raise ``InvalidInput`` for a length below 1 or above ``LONGEST``."""
    check_length(length)
    if length > LONGEST:
        raise InvalidInput(
            f"The square root keeps the noise of every step forever, so it takes at most {LONGEST}"
            f" steps, not {length}. Use a tree, which keeps few.",
            pointer="/length",
        )


@lru_cache(maxsize=8)
def strategy(length: int) -> IntVector:
    """Return the first column of ``R`` in units of ``2^-DIGITS``; it never increases.

    Its shape is ``(length,)``.  Raises ``InvalidInput`` as ``check_root_length`` does.
    """
    check_root_length(length)
    # Imported late: scipy is slow to import.
    from penstock.structures.factorization.square_root import coefficients

    return np.rint(np.ldexp(coefficients(length), DIGITS)).astype(np.int64)


def columns(length: int, count: int) -> Sensitivity:
    """Return the largest norms of a sum of ``count`` columns of ``R``, each times -1, 0 or 1.

    The first columns, adjacent, have the largest.  Entries are not negative and do not increase
    downward, so the product of two columns is larger the nearer they are to each other and the
    earlier they are; of any set, two have at least the distance of their places in it.  So these
    norms also bound what vectors move, each column times one of norm 1 at most.
    """
    entries = strategy(length)
    total = np.zeros(length, dtype=np.int64)
    for first in range(min(count, length)):
        total[first:] += entries[: length - first]
    values = [int(value) for value in total]
    return Sensitivity(
        l1=Fraction(sum(values), 1 << DIGITS),
        l2_squared=Fraction(sum(value**2 for value in values), 1 << 2 * DIGITS),
        linf=Fraction(max(values), 1 << DIGITS),
    )


def decoder(length: int, bits: int) -> list[int]:
    """Return the first column of ``L`` in units of ``2^-bits``, each off by less than ``OFF``.

    Those up to place ``exact_up_to(bits)`` are exact.  Raises ``InvalidInput`` as
    ``check_root_length`` does.
    """
    return _decoder(_values_kept(length), bits)[:length]


def exact_up_to(bits: int) -> int:
    """Return the last place at which ``bits`` hold all digits of an entry of ``L``."""
    return bits // DIGITS


def float_decoder(length: int) -> NDArray[np.float64]:
    """Return the first column of ``L``, shape ``(length,)``, each the nearest float."""
    return _float_decoder(_values_kept(length))[:length]


def _values_kept(length: int) -> int:
    """Return the length to compute: a power of two, so that the cache keeps few lengths."""
    check_root_length(length)
    return 1 << (length - 1).bit_length()


@lru_cache(maxsize=8)
def _float_decoder(length: int) -> NDArray[np.float64]:
    return np.array([entry / (1 << _BITS) for entry in _decoder(length, _BITS)])


@lru_cache(maxsize=8)
def _decoder(length: int, bits: int) -> list[int]:
    """Compute ``l_j = 1 - sum over i from 1 to j of r_i l_(j-i)``, cut to ``bits`` at each step."""
    entries = strategy(length).astype(np.float64)
    parts = (bits + _LIMB) // _LIMB
    # The newest first, so that the terms of a step are contiguous.
    coefficients = np.zeros((length, parts))
    rows: list[int] = []
    for place in range(length):
        sums = entries[1 : place + 1] @ coefficients[length - place :]
        total = sum(int(part) << _LIMB * number for number, part in enumerate(sums))
        entry = (1 << bits) - (total >> DIGITS)
        if not 0 < entry <= 1 << bits:
            raise RuntimeError("an entry of L is not between 0 and 1")
        rows.append(entry)
        limbs = np.frombuffer(entry.to_bytes(2 * parts, "little"), dtype="<u2")
        coefficients[length - 1 - place] = limbs
    return rows
