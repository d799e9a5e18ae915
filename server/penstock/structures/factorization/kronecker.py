"""Answer products of matrices over several columns from one vector of noise, without the product.

====================  ==========================================================================
``W_i``, ``A_i``      the queries and the strategy over the keys of column ``i``
``W``, ``A``          their Kronecker products, over the cells of all columns
``x``                 the number of rows of each cell
``u = A x``           what is protected, in whole numbers
====================  ==========================================================================

The answers are ``W A^+ (u + z)``, the best linear unbiased ones (Li, Miklau, Hay, McGregor, Rastogi
2015; for products McKenna, Miklau, Hay, Machanavajjhala 2018).  The pseudoinverse of a product is
the product of pseudoinverses, so that everything is computed along one column after another: no
table has more numbers than there are cells, nodes or answers.  With noise of variance ``v`` on each
node the covariance of the answers is ``v`` times the product of ``W_i (A_i^T A_i)^+ W_i^T``.

A row of the cell ``x`` gives ``v(x)``, the product of the columns ``A_i[:, x_i]``.  Its norms are
products, and so are inner products: ``v(x) . v(y)`` is the product of ``(A_i^T A_i)[x_i, y_i]``.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.privacy.neighboring import NeighboringRelation
from penstock.structures.factorization.rows import IDENTITY, MARGINALS, TOTAL, Given, Rows, Spans
from penstock.structures.factorization.span import outside, rank

_INT64 = 2**62

LARGEST_RESIDUAL = 1e-9
"""The largest error of ``W A^+ A`` allowed, over the largest number of ``W``."""

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Inner:
    """Hold the extreme inner products of the columns of a strategy.

    ``same`` are the squares of columns, ``apart`` the products of two of them: least and largest.
    A single column has none of the latter.
    """

    same: tuple[int, ...]
    apart: tuple[int, ...]


@dataclass(frozen=True)
class Factor:
    """Represent what is asked over the keys of one column, and what is protected there."""

    queries: Given | Spans
    strategy: Given | Spans

    @property
    def outside(self) -> int | None:
        """Return the first query that is no combination of the strategy's rows; None for none."""
        return outside(self.queries, self.strategy)

    @property
    def is_computed(self) -> bool:
        """Return True if doubles are enough for ``A^+``: the answers to ``A`` are near to ``W``."""
        if not isinstance(self.strategy, Given):
            return True
        back = _inverse(self.strategy) @ self.strategy.matrix
        exact = self.queries.times(np.eye(self.queries.size), 0)
        error = np.abs(self.queries.times(back, 0) - exact).max()
        return bool(error <= LARGEST_RESIDUAL * np.abs(exact).max())

    @property
    def inner(self) -> Inner:
        """Return the extreme inner products of the strategy's columns."""
        return _inner(self.strategy)

    def estimated(self, table: Numbers, axis: int) -> Numbers:
        """Return ``A^+`` applied along an axis of nodes, which then has the keys."""
        own, size = self.strategy, self.strategy.size
        if own == Spans(IDENTITY, size):
            return table
        if own == Spans(TOTAL, size):
            return np.repeat(table / size, size, axis=axis)
        if own == Spans(MARGINALS, size):
            # (I + J)^-1 is I - J / (n + 1).
            turned = np.moveaxis(table, axis, 0)
            rest = (turned[-1] - turned[:-1].sum(axis=0)) / (size + 1)
            return np.moveaxis(turned[:-1] + rest, 0, axis)
        turned = np.moveaxis(table, axis, 0)
        flat = turned.reshape(turned.shape[0], -1)
        solved = _inverse(own) @ flat if isinstance(own, Given) else _solved(own, flat)
        return np.moveaxis(solved.reshape(size, *turned.shape[1:]), 0, axis)

    @cached_property
    def variances(self) -> Numbers:
        """Return the diagonal of ``W (A^T A)^+ W^T``: shape ``(queries,)``."""
        own, size = self.strategy, self.strategy.size
        squares, sums = self.queries.lengths()
        if own == Spans(IDENTITY, size):
            return squares
        if own == Spans(TOTAL, size):
            return (sums / size) ** 2
        if own == Spans(MARGINALS, size):
            return squares - sums**2 / (size + 1)
        if isinstance(own, Given):
            inverse = _inverse(own)
            return self.queries.squares(inverse @ inverse.T)
        return self.queries.squares(_gram_inverse(own))

    @property
    def shares_noise(self) -> bool:
        """Return False if no two answers along this column have noise in common."""
        own = Spans(IDENTITY, self.strategy.size)
        return self.queries.count > 1 and not self.queries == self.strategy == own

    @cached_property
    def covariance(self) -> Numbers:
        """Return ``W (A^T A)^+ W^T``: shape ``(queries, queries)``; for few queries alone."""
        own, count = self.strategy, self.queries.count
        if count == 1:
            return self.variances.reshape(1, 1)
        by_key = self.queries.transposed(np.eye(count), 0)
        sums = by_key.sum(axis=0)
        if own == Spans(IDENTITY, own.size):
            return np.asarray(by_key.T @ by_key)
        if own == Spans(TOTAL, own.size):
            return np.outer(sums, sums) / own.size**2
        if own == Spans(MARGINALS, own.size):
            return np.asarray(by_key.T @ by_key - np.outer(sums, sums) / (own.size + 1))
        if isinstance(own, Given):
            by_node = _inverse(own).T @ by_key
            return np.asarray(by_node.T @ by_node)
        return np.asarray(by_key.T @ _gram_inverse(own) @ by_key)


@dataclass(frozen=True)
class Workload:
    """Represent the products of the ``factors`` of several columns, the last varying fastest."""

    factors: tuple[Factor, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of keys of each column."""
        return tuple(each.strategy.size for each in self.factors)

    @property
    def dimension(self) -> int:
        """Return the number of nodes: of integers that are protected."""
        return math.prod(each.strategy.count for each in self.factors)

    @property
    def count(self) -> int:
        """Return the number of answers."""
        return math.prod(each.queries.count for each in self.factors)

    def nodes(self, places: Sequence[Counts], counts: Counts) -> Counts:
        """Return ``A x``: shape ``(dimension,)``; integers beyond 2^62 saturate.

        ``counts`` are the rows of the cells whose keys have ``places``; other cells have none.
        """
        table: NDArray[Any] = np.zeros(self.sizes, dtype=np.int64)
        # Each cell is listed once.
        table[tuple(places)] = counts
        largest = math.prod(each.strategy.largest for each in self.factors)
        if int(counts.astype(object).sum()) * largest > _INT64:
            table = table.astype(object)
        table = self._along(table, [each.strategy.times for each in self.factors], _protected)
        return np.asarray(np.clip(table.ravel(), -_INT64, _INT64), dtype=np.int64)

    def answers(self, released: Numbers) -> Numbers:
        """Return ``W A^+ u`` for released nodes: shape ``(count,)``."""
        table: NDArray[Any] = released.reshape([each.strategy.count for each in self.factors])
        table = self._along(table, [each.estimated for each in self.factors], _solved_sizes)
        table = self._along(table, [each.queries.times for each in self.factors], _answered)
        return np.ascontiguousarray(table, dtype=np.float64).ravel()

    def _along(
        self,
        table: NDArray[Any],
        steps: Sequence[Callable[[NDArray[Any], int], NDArray[Any]]],
        growth: Callable[[Factor], float],
    ) -> NDArray[Any]:
        """Return ``table`` after one step for each axis, those first that leave the fewest."""
        for axis in sorted(range(len(steps)), key=lambda place: growth(self.factors[place])):
            table = steps[axis](table, axis)
        return table

    @cached_property
    def variances(self) -> Numbers:
        """Return the variance of each answer, that of a node being 1: shape ``(count,)``."""
        whole = np.ones(1)
        for each in self.factors:
            whole = np.multiply.outer(whole, each.variances).ravel()
        return whole

    @property
    def largest_variance(self) -> float:
        """Return the variance of the least accurate answer, that of a node being 1."""
        return math.prod(float(each.variances.max()) for each in self.factors)

    @property
    def mean_variance(self) -> float:
        """Return the mean of the variances of all answers, that of a node being 1."""
        return math.prod(float(each.variances.mean()) for each in self.factors)

    def moved(
        self, relation: NeighboringRelation, max_cells: int, max_rows: int
    ) -> tuple[int, int, int]:
        """Return how far one unit moves the nodes: l1, the square of l2, and linf.

        A unit counts in at most ``G = max_cells`` cells with at most ``c = max_rows`` rows in each,
        and so gives ``sum of m_g v(x_g)`` with ``m_g`` of 0 to ``c``.  Norms are convex in each
        ``m_g``, so that 0 and ``c`` are the worst.  ``N`` is the largest l1 norm of ``v(x)``, ``V``
        the largest square of its l2 norm, ``K`` the largest inner product of two cells that are not
        the same, and ``L`` the least.

        Added or removed: l1 is at most ``c G N``, the square of l2 at most ``c^2 (G V + G (G - 1)
        max(K, 0))``.  Both are attained with one cell.  A node moves by at most ``c`` times the
        smaller of ``G`` times its largest number and the sum of its numbers.
        Replaced: the cells that gain rows and those that lose some are not the same, so that the
        square of l2 is at most twice that less ``2 c^2 G^2 L``, or that alone if it is more, where
        the one unit has no rows; in between, with fewer cells, it is convex.  l1 is at most twice
        that; a node moves at most twice as far, and no further where no number is negative.
        """
        once = math.prod(int(each.strategy.column_sums.max()) for each in self.factors)
        largest = math.prod(each.strategy.largest for each in self.factors)
        whole = math.prod(each.strategy.row_sum for each in self.factors)
        l1, linf = max_cells * max_rows * once, max_rows * min(max_cells * largest, whole)
        same, nearest, least = self._products
        pairs = max_cells * (max_cells - 1)
        squares = max_cells * same + pairs * max(nearest, 0)
        if relation is NeighboringRelation.ADD_REMOVE:
            l2_squared = max_rows**2 * squares
            return l1, l2_squared, min(linf, math.isqrt(l2_squared))
        if any(each.strategy.is_signed for each in self.factors):
            linf *= 2
        l2_squared = max_rows**2 * max(squares, 2 * (squares - max_cells**2 * least))
        return 2 * l1, l2_squared, min(linf, math.isqrt(l2_squared))

    @cached_property
    def _products(self) -> tuple[int, int, int]:
        """Return the largest square of a cell, and the largest and least product of two cells."""
        same, apart = [1, 1], list[int]()
        for each in self.factors:
            inner = each.inner
            beyond = [x * y for x, y in product(apart, (*inner.same, *inner.apart))]
            beyond += [x * y for x, y in product(same, inner.apart)]
            same, apart = _ends([x * y for x, y in product(same, inner.same)]), _ends(beyond)
        return max(same), max(apart, default=0), min(apart, default=max(same))


def _ends(numbers: Sequence[int]) -> list[int]:
    return [min(numbers), max(numbers)] if numbers else []


def _protected(factor: Factor) -> float:
    return factor.strategy.count / factor.strategy.size


def _solved_sizes(factor: Factor) -> float:
    return factor.strategy.size / factor.strategy.count


def _answered(factor: Factor) -> float:
    return factor.queries.count / factor.queries.size


@lru_cache(maxsize=64)
def _inner(strategy: Rows) -> Inner:
    size = strategy.size
    if size == 1:
        return Inner((int(strategy.gram()[0, 0]),), ())
    known = {IDENTITY: Inner((1, 1), (0, 0)), TOTAL: Inner((1, 1), (1, 1))}
    known[MARGINALS] = Inner((2, 2), (1, 1))
    if isinstance(strategy, Spans) and strategy.name in known:
        return known[strategy.name]
    gram = strategy.gram()
    own, others = gram.diagonal(), gram[~np.eye(size, dtype=bool)]
    return Inner((int(own.min()), int(own.max())), (int(others.min()), int(others.max())))


@lru_cache(maxsize=64)
def _inverse(strategy: Given) -> Numbers:
    """Return ``A^+`` of given rows, by as many singular values as their rank: (size, count)."""
    left, values, right = np.linalg.svd(strategy.matrix.astype(np.float64), full_matrices=False)
    kept = rank(strategy.matrix)
    return np.asarray((right[:kept].T / values[:kept]) @ left[:, :kept].T)


def _solved(strategy: Spans, nodes: Numbers) -> Numbers:
    return np.asarray(_gram_inverse(strategy) @ strategy.transposed(nodes, 0))


@lru_cache(maxsize=4)
def _gram_inverse(strategy: Spans) -> Numbers:
    return np.asarray(np.linalg.inv(strategy.gram().astype(np.float64)))
