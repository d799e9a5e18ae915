"""The correlated Gaussian mechanism: many counts over one population, and its size for free.

Lebeda 2024 (*Better Gaussian Mechanism using Correlated Noise*), Algorithms 1 and 2, Lemma 3.6,
with the signs and variances corrected that the text has wrong.  A record is a vector in
``[0, 1]^d``; wanted are the sums ``f_1 ... f_d`` and the number of records ``n``.  Protected are
``2 f_i - n``, which a record moves by at most 1 each, and ``C n``: a vector of ``l2`` sensitivity
``sqrt(d + C^2)`` where the sums alone have ``sqrt(d)`` but twice as large values.  Decoding gives
``n = M_(d+1) / C`` and ``f_i = (M_i + n) / 2``; it is invertible, so tiers are lossless.

``C`` trades the sums' error for the size's; the best for the sums is the fourth root of ``d``.
It is a multiple of ``2^-digits``, so that everything stays on the lattice.
"""

import math
from fractions import Fraction

import numpy as np

from penstock.errors import InvalidInput
from penstock.privacy import NeighboringRelation, Sensitivity
from penstock.structures.factorization import Factorization, FloatMatrix, IntMatrix

DIGITS = 12
"""Binary digits of ``C``, and of the entries for sparse records."""


def correlated(columns: int, *, trade_off: float | None = None) -> Factorization:
    """Algorithm 1 under add/remove: inputs ``f_1 ... f_d, n``, outputs the same.

    ``trade_off`` is ``C``; left out it is the fourth root of ``columns``.  Raises
    ``InvalidInput`` without a column and for a ``C`` that is not positive.
    """
    return disjoint(columns, 1, NeighboringRelation.ADD_REMOVE, trade_off=trade_off)


def disjoint(
    columns: int,
    groups: int,
    neighboring: NeighboringRelation,
    *,
    trade_off: float | None = None,
) -> Factorization:
    """Algorithm 2: ``groups`` disjoint groups of records, ``columns`` sums and a size in each.

    Inputs and outputs are group by group ``f_1 ... f_d, n``.  Under replacement a record may
    leave one group for another, and the best ``C`` is the root of ``columns``.
    """
    if columns < 1 or groups < 1:
        raise InvalidInput(f"There are at least one column and group, not {columns}, {groups}.")
    replacing = neighboring is NeighboringRelation.REPLACE
    weight = _weight(trade_off, columns ** (0.5 if replacing else 0.25))
    return Factorization(
        strategy=np.kron(np.eye(groups, dtype=np.int64), _lift(columns, weight)),
        digits=DIGITS,
        decoder=np.asarray(np.kron(np.eye(groups), _decoder(columns, weight)), dtype=np.float64),
        sensitivity=_sensitivity(columns, groups, weight, replacing=replacing),
    )


def known_size(columns: int) -> Factorization:
    """Lemma 3.6 for a size that is public, or paid for on its own: inputs ``f_1 ... f_d, n``.

    Protected are ``2 f_i - n`` alone; outputs are ``f_i - n/2``, to which the reader adds half
    of the size.
    """
    if columns < 1:
        raise InvalidInput(f"There is at least one column, not {columns}.")
    strategy = np.hstack(
        [2 * np.eye(columns, dtype=np.int64), -np.ones((columns, 1), dtype=np.int64)]
    )
    return Factorization(
        strategy=strategy,
        digits=0,
        decoder=np.eye(columns) / 2,
        sensitivity=Sensitivity(Fraction(columns), Fraction(columns), Fraction(1)),
    )


def sparse(columns: int, non_zero: int) -> Factorization:
    """Records with at most ``non_zero`` entries above 0, up to half of ``columns``.

    The ellipse of Joseph, Yu 2024: noise is larger along ``(1, ..., 1)`` and smaller across,
    as their proportion makes best.  Inputs and outputs are ``f_1 ... f_d``; the size is not
    released.  From half on ``correlated`` is within 0.866 of the best possible.  Raises
    ``InvalidInput`` for a number outside of 1 to half of the columns.
    """
    if not 1 <= non_zero <= columns / 2:
        raise InvalidInput(
            f"Sparse records have 1 to {columns // 2} of {columns} entries above 0, not"
            f" {non_zero}; from half on use the correlated mechanism for any records."
        )
    along = non_zero**2 / columns
    across = (non_zero - along) / (columns - 1)
    # Variances in both directions, up to a factor: the roots, by Lagrange's multipliers.
    narrow, wide = 1 / across**0.25, 1 / along**0.25
    # The second part is small by a factor of the columns, and there are as many to add.
    digits = DIGITS + columns.bit_length()
    scale = 1 << digits
    diagonal, everywhere = (round(part * scale) for part in (narrow, (wide - narrow) / columns))
    strategy: IntMatrix = np.full((columns, columns), everywhere, dtype=np.int64)
    strategy[np.diag_indices(columns)] += diagonal
    # The inverse of a I + b J is I / a - J b / (a (a + d b)).
    a, b = diagonal / scale, everywhere / scale
    decoder: FloatMatrix = np.eye(columns) / a - b / (a * (a + columns * b))
    return Factorization(
        strategy, digits, decoder, _sparse_sensitivity(columns, non_zero, strategy, scale)
    )


def _weight(trade_off: float | None, best: float) -> int:
    """``C`` in units of ``2^-DIGITS``."""
    wanted = best if trade_off is None else trade_off
    if not (math.isfinite(wanted) and round(wanted * (1 << DIGITS)) > 0):
        raise InvalidInput(f"The trade-off C is a positive number, not {wanted:g}.")
    return round(wanted * (1 << DIGITS))


def _lift(columns: int, weight: int) -> IntMatrix:
    """``R`` of one group: ``2 f_i - n`` and ``C n``."""
    lift = np.zeros((columns + 1, columns + 1), dtype=np.int64)
    lift[np.arange(columns), np.arange(columns)] = 2 << DIGITS
    lift[:columns, columns] = -1 << DIGITS
    lift[columns, columns] = weight
    return lift


def _decoder(columns: int, weight: int) -> FloatMatrix:
    """``L`` of one group: ``f_i = (M_i + M_(d+1)/C) / 2``, and ``n = M_(d+1)/C``."""
    inverse = (1 << DIGITS) / weight
    decoder = np.zeros((columns + 1, columns + 1))
    decoder[np.arange(columns), np.arange(columns)] = 0.5
    decoder[:columns, columns] = inverse / 2
    decoder[columns, columns] = inverse
    return decoder


def _sensitivity(columns: int, groups: int, weight: int, *, replacing: bool) -> Sensitivity:
    """One record moves ``2 f_i - n`` by up to 1 each, and ``C n`` by ``C``.

    Replacing one within its group moves ``2 f_i`` by up to 2 each, replacing across groups
    is one record less here and one more there.
    """
    trade_off = Fraction(weight, 1 << DIGITS)
    l1, square, largest = columns + trade_off, columns + trade_off**2, max(Fraction(1), trade_off)
    if not replacing:
        return Sensitivity(l1, square, largest)
    within = Sensitivity(Fraction(2 * columns), Fraction(4 * columns), Fraction(2))
    if groups == 1:
        return within
    return Sensitivity(
        max(within.l1, 2 * l1), max(within.l2_squared, 2 * square), max(within.linf, largest)
    )


def _sparse_sensitivity(
    columns: int, non_zero: int, strategy: IntMatrix, scale: int
) -> Sensitivity:
    """The norms of ``a x + b sum(x)`` over 0/1 vectors with up to ``non_zero`` ones.

    Norms are convex, so that records with parts of ones are no worse.
    """
    everywhere = int(strategy[0, 1])
    diagonal = int(strategy[0, 0]) - everywhere
    norms = []
    for ones in range(1, non_zero + 1):
        inside, outside = abs(diagonal + ones * everywhere), abs(ones * everywhere)
        rest = columns - ones
        norms.append(
            (
                ones * inside + rest * outside,
                ones * inside**2 + rest * outside**2,
                max(inside, outside),
            )
        )
    l1, square, largest = (max(part) for part in zip(*norms, strict=True))
    return Sensitivity(
        Fraction(l1, scale), Fraction(square, scale * scale), Fraction(largest, scale)
    )
