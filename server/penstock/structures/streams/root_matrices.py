"""The square-root factorization in integers: ``R`` on the lattice, ``L`` to any number of digits.

Henzinger, Upadhyay, Upadhyay 2023: the all-ones lower triangle is ``M M`` with the Toeplitz
matrix ``M`` of the coefficients ``f`` of ``(1 - x)^(-1/2)``.  Here ``R`` is ``M`` rounded to
multiples of ``2^-DIGITS`` and ``L`` what makes ``L R`` the triangle again, exactly: the
coefficients of ``1 / ((1 - x) R(x))``.  They are real numbers of more and more digits; whoever
rounds a sum of them can ask for as many as the rounding takes.

How far off digits may be: with ``R = M + E``, entries of ``E`` at most ``2^-DIGITS`` and those of
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
from penstock.privacy import Sensitivity
from penstock.structures.streams.forest import check_length

DIGITS: Final = 20
"""Binary digits of the entries of ``R``."""

LONGEST: Final = 1 << 14
"""Every noise is needed for ever: a state of so many numbers for each level and dimension."""

OFF: Final = 4
"""By less than as many units of its last digit an entry of ``L`` is off."""

_BITS: Final = 128
"""More than floats have, so that the nearest float is known but for ties."""

_LIMB: Final = 16
"""Bits of a part of an entry: parts times entries of ``R`` add up exactly in floats."""


def check_root_length(length: int) -> None:
    """Raises ``InvalidInput`` for a length below 1 and above ``LONGEST``."""
    check_length(length)
    if length > LONGEST:
        raise InvalidInput(
            f"The square root keeps the noise of every step for ever, and is offered for up to"
            f" {LONGEST} steps, not {length}; take a tree, which keeps few.",
            pointer="/length",
        )


@lru_cache(maxsize=8)
def strategy(length: int) -> IntVector:
    """The first column of ``R`` in units of ``2^-DIGITS``, shape ``(length,)``: never rising.

    Raises ``InvalidInput`` as ``check_root_length`` does.
    """
    check_root_length(length)
    # Imported late: scipy is slow to import.
    from penstock.structures.factorization.square_root import coefficients

    return np.rint(np.ldexp(coefficients(length), DIGITS)).astype(np.int64)


def columns(length: int, count: int) -> Sensitivity:
    """The largest norms of a sum of so many columns of ``R``, each times -1, 0 or 1.

    Those of the first ones, adjacent.  Entries are not negative and do not rise downward, so
    that the product of two columns is the larger the nearer they are and the earlier they
    stand; of any set, two have at least the distance of their places in it.  So they bound
    as well what vectors move, each column times one of norm 1 at most.
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
    """The first column of ``L`` in units of ``2^-bits``, each off by less than ``OFF``.

    Those up to place ``exact_up_to(bits)`` are exact.  Raises ``InvalidInput`` as
    ``check_root_length`` does.
    """
    return _decoder(_values_kept(length), bits)[:length]


def exact_up_to(bits: int) -> int:
    """The last place at which ``bits`` are all digits that an entry of ``L`` has."""
    return bits // DIGITS


def float_decoder(length: int) -> NDArray[np.float64]:
    """The first column of ``L``, shape ``(length,)``, each the nearest float."""
    return _float_decoder(_values_kept(length))[:length]


def _values_kept(length: int) -> int:
    """Entries do not depend on the length, so that those of few lengths are worked out."""
    check_root_length(length)
    return 1 << (length - 1).bit_length()


@lru_cache(maxsize=8)
def _float_decoder(length: int) -> NDArray[np.float64]:
    return np.array([entry / (1 << _BITS) for entry in _decoder(length, _BITS)])


@lru_cache(maxsize=8)
def _decoder(length: int, bits: int) -> list[int]:
    """By ``l_j = 1 - sum over i from 1 to j of r_i l_(j-i)``, cut to ``bits`` at each step."""
    entries = strategy(length).astype(np.float64)
    parts = (bits + _LIMB) // _LIMB
    # The newest first, so that what a step adds up lies in one piece.
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
