"""Choose the tables that are protected for marginals, and bound how far one unit moves them.

=========  ==========================================================================
``n_i``    the number of keys of column ``i``, at least 2
``n_A``    the product of ``n_i`` over the columns of a set ``A``
``M_A``    the marginal of ``A``: the number of rows of each cell
``R_A``    its residual: along each column of ``A``, less the mean over that column
``w_A``    the weight of ``A``, a positive integer
=========  ==========================================================================

``M_B`` is the sum of ``R_A / n_(B - A)`` over all ``A`` within ``B``, because along each column the
identity is taking the mean and leaving the mean out.  So the residuals of all subsets of the wanted
sets are protected (Xiao, He, Zhang, Kifer 2023), each as the integers ``w_A n_A R_A``.  A row of
the cell ``x`` gives ``w_A`` times the product of ``n_i [x_i = j_i] - 1`` to them, whose square is

    w_A^2 n_A^2 times the product of (1 - 1 / n_i) over A

for every ``x``.  With noise of variance ``v`` on each of these integers, ``M_A`` has noise of
variance ``s_A^2 = v / (w_A n_A)^2`` of which the residual is kept, and the cost is the product of
``1 - 1 / n_i`` over ``s_A^2``, as it is there.  The noise is independent on whole tables of
integers, so that all that is known of vectors holds; the part of it that is no residual is
left out only when the tables are read.

A cell of ``M_B`` has the variance ``sum over A of p_A v / (w_A n_B)^2``, ``p_A`` being the product
of ``1 - 1 / n_i``.  The sum of all variances at a given cost is least where ``s_A^4`` is
proportional to the cost over the gain, so that ``w_A^4`` is to ``sum over B of 1 / n_B / n_A^2``,
over the wanted sets ``B`` that contain ``A``.  Weights are such roots in whole numbers, of at
least 64, which makes the sum larger by less than a thousandth part.
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.privacy.neighboring import NeighboringRelation

Set = tuple[int, ...]
"""A set of columns, by their places, rising."""

_LEAST_WEIGHT = 64


def up_to(columns: int, order: int) -> tuple[Set, ...]:
    """Return all sets of 1 to ``order`` of so many columns."""
    return tuple(
        each
        for size in range(1, order + 1)
        for each in itertools.combinations(range(columns), size)
    )


def subsets_of(columns: Set) -> Iterable[Set]:
    """Return all subsets of a set, the empty one first and itself last."""
    return (
        each for size in range(len(columns) + 1) for each in itertools.combinations(columns, size)
    )


@dataclass(frozen=True)
class Marginals:
    """Represent marginals of the ``sets`` of columns that have ``sizes`` keys each.

    The vector that is protected has the tables of ``protected``, one after another, the last column
    of each varying fastest.
    """

    sizes: tuple[int, ...]
    sets: tuple[Set, ...]

    @cached_property
    def protected(self) -> tuple[Set, ...]:
        """Return all subsets of wanted sets, the smaller ones first."""
        closed = {each for larger in self.sets for each in subsets_of(larger)}
        return tuple(sorted(closed, key=lambda each: (len(each), each)))

    def cells(self, columns: Set) -> int:
        """Return the number of cells of the marginal of a set."""
        return math.prod(self.sizes[column] for column in columns)

    def shape(self, columns: Set) -> tuple[int, ...]:
        """Return the shape of the marginal of a set."""
        return tuple(self.sizes[column] for column in columns)

    @cached_property
    def dimension(self) -> int:
        """Return how many integers are protected."""
        return sum(map(self.cells, self.protected))

    @cached_property
    def weights(self) -> tuple[int, ...]:
        """Return ``w_A`` for each protected set."""
        gains = dict.fromkeys(self.protected, Fraction(0))
        for larger in self.sets:
            for each in subsets_of(larger):
                gains[each] += Fraction(1, self.cells(larger))
        fourth = [gain / self.cells(each) ** 2 for each, gain in gains.items()]
        scale = _LEAST_WEIGHT**4 / min(fourth)
        return tuple(math.isqrt(math.isqrt(math.floor(each * scale))) for each in fourth)

    def variance(self, columns: Set) -> Fraction:
        """Return the variance of a cell of a wanted marginal, that of a protected integer being 1.

        Source: the sum above, of independent residuals.
        """
        weights = dict(zip(self.protected, self.weights, strict=True))
        parts = (self._kept(each) / weights[each] ** 2 for each in subsets_of(columns))
        return sum(parts, Fraction(0)) / self.cells(columns) ** 2

    @cached_property
    def largest_variance(self) -> Fraction:
        """Return the variance of a cell of the least accurate wanted marginal."""
        return max(map(self.variance, self.sets))

    def _kept(self, columns: Set) -> Fraction:
        return math.prod((1 - Fraction(1, self.sizes[each]) for each in columns), start=Fraction(1))

    @cached_property
    def widest(self) -> int:
        """Return the largest absolute value that one row gives to one of the integers."""
        return max(
            weight * math.prod(self.sizes[column] - 1 for column in each)
            for each, weight in zip(self.protected, self.weights, strict=True)
        )

    def moved(
        self, relation: NeighboringRelation, max_cells: int, max_rows: int
    ) -> tuple[int, int, int]:
        """Return how far one unit moves the integers: l1, the square of l2, and linf.

        A unit counts in at most ``G = max_cells`` cells of all columns together, with at most ``c =
        max_rows`` rows in each, and so gives ``sum of m_g v(x_g)`` with ``m_g`` of 0 to ``c``.  The
        norms are convex in each ``m_g``, so that 0 and ``c`` are the worst.  The inner product of
        ``v(x)`` and ``v(y)`` depends on the columns in which the cells agree alone (``_products``):
        ``V`` where they are one cell, at most ``K`` and at least ``L`` for two.

        Added or removed: at most ``c^2 (G V + G (G - 1) max(K, 0))``, attained with one cell, and
        with more if ``K`` is that of cells which differ in one column with enough keys.
        Replaced: the cells that gain rows and those that lose some are not the same, so that it is
        at most twice that less ``2 c^2 G^2 L``, or that alone if it is more; in between, with fewer
        cells, it is convex.  Attained with one cell, and with more if such a column has keys for
        both units and ``L`` is that of cells which agree in no column.  The other norms are
        attained when added or removed with one cell, and else sums of these.
        """
        pairs = list(zip(self.protected, self.weights, strict=True))
        once = sum(
            weight * math.prod(2 * (self.sizes[column] - 1) for column in each)
            for each, weight in pairs
        )
        l1, linf = max_cells * max_rows * once, max_cells * max_rows * self.widest
        products = self._products
        same, nearest = products[-1], max(max(products[:-1]), 0)
        squares = max_cells * same + max_cells * (max_cells - 1) * nearest
        if relation is NeighboringRelation.ADD_REMOVE:
            return l1, max_rows**2 * squares, linf
        apart = 2 * (squares - max_cells**2 * min(products))
        return 2 * l1, max_rows**2 * max(squares, apart), 2 * linf

    @cached_property
    def _products(self) -> Sequence[int]:
        """Return the inner products of what a row gives in two cells, the last for equal ones.

        There is one for each set of columns in which they agree: for those in ``A`` the factor is
        ``n_i (n_i - 1)``, for the others ``-n_i``.
        """
        total: NDArray[Any] = np.zeros((2,) * len(self.sizes), dtype=object)
        for each, weight in zip(self.protected, self.weights, strict=True):
            term: NDArray[Any] = np.array(weight**2, dtype=object).reshape((1,) * total.ndim)
            for column in each:
                size = self.sizes[column]
                factors = np.array([-size, size * (size - 1)], dtype=object)
                shape = [2 if at == column else 1 for at in range(total.ndim)]
                term = term * factors.reshape(shape)
            total = total + term
        products: list[int] = total.ravel().tolist()
        return products
