"""Provide the correlated Gaussian mechanism.

Many counts over one population, and its size for free.

Lebeda 2024 (*Better Gaussian Mechanism using Correlated Noise*), Algorithms 1 and 2, Lemma 3.6,
with the signs and variances corrected that the text has wrong.  A record is a vector in
``[0, 1]^d``; wanted are the sums ``f_1 ... f_d`` and the number of records ``n``.  Protected are
``2 f_i - n``, which a record moves by at most 1 each, and ``C n``: a vector of ``l2`` sensitivity
``sqrt(d + C^2)`` where the sums alone have ``sqrt(d)`` but twice as large values.  Decoding gives
``n = M_(d+1) / C`` and ``f_i = (M_i + n) / 2``; it is invertible, so tiers are lossless.

``C`` trades the sums' error for the size's; the best for the sums is the fourth root of ``d``.
It is a multiple of ``2^-digits``, so that everything stays on the lattice.
"""

from fractions import Fraction

import numpy as np

from penstock.privacy import NeighboringRelation, Sensitivity
from penstock.structures.counts import (
    DIGITS,
    Centered,
    Change,
    Lift,
    best_weight,
    weight_of,
)
from penstock.structures.ellipse import Ellipse
from penstock.structures.factorization.matrices import Factorization, FloatMatrix, IntMatrix


def correlated(columns: int, *, trade_off: float | None = None) -> Factorization:
    """Return Algorithm 1 under add/remove: inputs ``f_1 ... f_d, n``, outputs the same.

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
    """Return Algorithm 2: ``groups`` disjoint groups of records, ``columns`` sums and a size each.

    Inputs and outputs are group by group ``f_1 ... f_d, n``.  Under replacement a record may
    leave one group for another, and the best ``C`` is the root of ``columns``.
    """
    replacing = neighboring is NeighboringRelation.REPLACE
    if trade_off is None:
        weight = best_weight(max(columns, 1), replacing=replacing)
    else:
        weight = weight_of(trade_off)
    lift = Lift(columns, groups, weight)
    return Factorization(
        strategy=np.kron(np.eye(groups, dtype=np.int64), _lift(columns, weight)),
        digits=DIGITS,
        decoder=np.asarray(np.kron(np.eye(groups), _decoder(columns, weight)), dtype=np.float64),
        sensitivity=_sensitivity(lift, replacing=replacing),
    )


def known_size(columns: int) -> Factorization:
    """Return Lemma 3.6's for a public size, or one paid for on its own: inputs ``f_1 ... f_d, n``.

    Protected are ``2 f_i - n`` alone; outputs are ``f_i - n/2``, to which the reader adds half
    of the size.
    """
    strategy = np.hstack(
        [2 * np.eye(columns, dtype=np.int64), -np.ones((columns, 1), dtype=np.int64)]
    )
    return Factorization(
        strategy=strategy,
        digits=0,
        decoder=np.eye(columns) / 2,
        sensitivity=_in_values(Centered(columns, Fraction(0)).change(1, 1), Fraction(1)),
    )


def sparse(columns: int, non_zero: int) -> Factorization:
    """Return the one for at most ``non_zero`` entries above 0 a record.

    The ellipse of Joseph, Yu 2024, and beyond half of the columns the best one too: noise is larger
    along ``(1, ..., 1)`` and smaller across.  Inputs and outputs are ``f_1 ... f_d``; the size is
    not released.  Raises ``InvalidInput`` for a number outside of 1 to all columns.
    """
    ellipse = Ellipse(columns, non_zero)
    diagonal, everywhere = ellipse.diagonal, ellipse.everywhere
    strategy: IntMatrix = np.full((columns, columns), everywhere, dtype=np.int64)
    strategy[np.diag_indices(columns)] += diagonal
    # The inverse of a I + b J is I / a - J b / (a (a + d b)).
    a, b = np.ldexp([float(diagonal), float(everywhere)], -ellipse.digits)
    decoder: FloatMatrix = np.eye(columns) / a - b / (a * (a + columns * b))
    return Factorization(
        strategy, ellipse.digits, decoder, _in_values(ellipse.change(1), ellipse.step)
    )


def _lift(columns: int, weight: int) -> IntMatrix:
    """Return ``R`` of one group: ``2 f_i - n`` and ``C n``."""
    lift = np.zeros((columns + 1, columns + 1), dtype=np.int64)
    lift[np.arange(columns), np.arange(columns)] = 2 << DIGITS
    lift[:columns, columns] = -1 << DIGITS
    lift[columns, columns] = weight
    return lift


def _decoder(columns: int, weight: int) -> FloatMatrix:
    """Return ``L`` of one group: ``f_i = (M_i + M_(d+1)/C) / 2``, and ``n = M_(d+1)/C``."""
    inverse = (1 << DIGITS) / weight
    decoder = np.zeros((columns + 1, columns + 1))
    decoder[np.arange(columns), np.arange(columns)] = 0.5
    decoder[:columns, columns] = inverse / 2
    decoder[columns, columns] = inverse
    return decoder


def _sensitivity(lift: Lift, *, replacing: bool) -> Sensitivity:
    """Return ``R``: one record moves ``2 f_i - n`` by up to 1 each, and ``C n`` by ``C``.

    Replacing one within its group moves ``2 f_i`` by up to 2 each, replacing across groups
    is one record less here and one more there, and replacing by one that belongs to none
    is one record less.
    """
    single = lift.change(1, 1)
    if not replacing:
        return _in_values(single, lift.step)
    across = 1 if lift.groups == 1 else 2
    moved = Change(across * single.l1, across * single.l2_squared, single.linf)
    return _in_values(Change(*map(max, moved, lift.change(2, 0))), lift.step)


def _in_values(change: Change, step: Fraction) -> Sensitivity:
    return Sensitivity(change.l1 * step, change.l2_squared * step**2, change.linf * step)
