"""Bound how far one privacy unit moves the sums of moments, each times its weight.

Weights are positive whole numbers, one for each number of a group, in the order of ``plan.pairs``;
none stand for equal ones.  Noise is the same for all of the weighted numbers.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from penstock.connectors.planning.sensitivity import Norms


@dataclass(frozen=True)
class Products:
    """Represent what one unit gives to the products of ``factors`` columns in one group.

    A row gives ``w m(z)``, the numbers ``w_ij z_i z_j`` for ``i <= j``, where ``z_0 = W`` and the
    others are between ``-W`` and ``W``; a unit with ``n`` rows gives ``min(n, c)`` times the mean
    of its rows.  In the following ``W = 1``.

    Given (``B``): each number is at most ``c w_ij``, and all are where every ``|z_i| = 1``.

    Exchanged (``W``): norms are convex, so that the worst of two units is ``n m(z)`` and
    ``n' m(z')`` with ``n, n'`` of 1 and ``c``.  Let ``t_i = z_i z'_i`` be fixed.  What a number
    gives to the square of the Euclidean norm, ``w^2 (n y - n' y')^2``, has a product ``y y'`` that
    depends on ``t`` alone, and squares ``y^2`` that are products of ``x_i = z_i^2``.  With these in
    ``log x_i`` and ``x'_i = t_i^2 / x_i`` it is convex, so that the worst has ``|z_i| = 1`` or
    ``|z'_i| = 1`` for each ``i``; say ``z_i = 1`` and ``z'_i = t_i``.

    - ``n = n' = c``: in ``t_i`` the square is ``c^2`` times ``a t_i^2 - 2 b t_i + w_ii^2 (1 -
      t_i^2)^2`` and a constant, with ``a >= w_0i^2``.  Where ``w_ii <= w_0i`` it is at one of the
      ends at least what it is at any ``t_i``: with ``s = |t_i|`` the better end is more by ``(1 -
      s) (1 + s) (a - w_ii^2 (1 - s^2))`` at least.  So the worst has opposite ends in some columns
      and equal ends in the others, and is ``4 c^2`` times the sum of ``w_ij^2`` over the numbers
      with exactly one of those: the largest cut of the complete graph of the constant and the
      columns with these weights.  It is reached.  A weight ``w_ii > w_0i`` is bounded as though
      ``w_0i`` were as large.
    - ``n = c``, ``n' = 1``: a number whose ``y y'`` is negative moves by ``c + 1`` at most, and
      those are a cut; the count by ``c - 1``, and any other number by ``c``.

    With equal weights the first is the larger, ``c^2 d^2`` for an even ``d``, the columns and one,
    and ``c^2 (d^2 - 1)`` for an odd one.  The test enumerates small cases.  The sum of the numbers
    is at most what each can reach, and by Cauchy and Schwarz the root of their number times the
    Euclidean norm; which is not reached.

    A unit with more than ``c`` rows is ``scaled`` to whole numbers before they are weighted, each
    by at most 1/2, which moves two units by at most the root of the sum of the squared weights.
    """

    factors: int
    max_rows: int
    grid: int
    scaled: bool
    weights: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Return how many numbers a group has."""
        return (self.factors + 1) * (self.factors + 2) // 2

    @property
    def largest(self) -> int:
        """Return the largest absolute value of one number in steps, without its weight."""
        return self.max_rows * self.grid**2

    @property
    def given(self) -> Norms:
        """Return ``B``: the norms of what a unit gives to one group."""
        return _at_most(self.largest, self.weights or (1,) * self.count)

    @property
    def exchanged(self) -> Norms:
        """Return ``W``: the norms by which two units that are both in one group differ."""
        most, step = self.max_rows, self.grid**2
        constant, edges, squares = self._by_place
        loops = sum(weight**2 for weight in squares)
        raised = {
            (i, j): max(weight, squares[j - 1] if i == 0 else 0) ** 2
            for (i, j), weight in edges.items()
        }
        cut = _largest_cut(self.factors + 1, tuple(sorted(raised.items())))
        square = 4 * most**2 * cut
        if most > 1:
            whole = loops + sum(raised.values())
            uneven = constant**2 * (most - 1) ** 2 + most**2 * whole + (2 * most + 1) * cut
            square = max(square, uneven)
        l2_squared = square * step**2
        if self.scaled:
            every = constant**2 + loops + sum(weight**2 for weight in edges.values())
            l2_squared = (_root(l2_squared) + _root(every)) ** 2
        doubled, alone = 2 * most, (most - 1) * constant
        each = doubled * sum(edges.values()) + most * sum(squares) + alone
        return Norms(
            min(each * step, _root(self.count * l2_squared)),
            l2_squared,
            step * max(doubled * max(edges.values()), most * max(squares), alone),
        )

    @property
    def _by_place(self) -> tuple[int, Mapping[tuple[int, int], int], Sequence[int]]:
        """Return the weights of the count, of products of two factors, and of squares."""
        ends = range(1, self.factors + 1)
        places = [(0, 0), *((0, j) for j in ends)]
        places += [(i, j) for i in ends for j in range(i, self.factors + 1)]
        own = dict(zip(places, self.weights or (1,) * self.count, strict=True))
        edges = {place: weight for place, weight in own.items() if place[0] < place[1]}
        return own[0, 0], edges, [own[i, i] for i in ends]


@dataclass(frozen=True)
class Sums:
    """Represent what one unit gives to the count and the sums of ``factors`` columns in one group.

    A row gives ``W`` and the numbers ``z_1 ... z_k``, each between ``-W`` and ``W`` and times its
    weight; a unit with ``n`` rows gives ``b = min(n, c)`` times the mean of its rows, rounded.  In
    the following ``W = 1``; it is a whole number, so that rounding leaves ``-b`` and ``b`` where
    they are.

    Given (``B``): each number is at most ``c w_i``, and all are where every ``|z_i| = 1``.

    Exchanged (``W``): two units with ``b`` and ``b'`` differ in the count by ``b - b'`` and in each
    sum by up to ``b + b'``, which rows of opposite ends reach.  All norms are convex in both
    numbers, so that they are largest where these are ``c`` and ``c``, or ``c`` and 1.
    """

    factors: int
    max_rows: int
    grid: int
    weights: tuple[int, ...] = ()

    @property
    def count(self) -> int:
        """Return how many numbers a group has."""
        return self.factors + 1

    @property
    def largest(self) -> int:
        """Return the largest absolute value of one number in steps, without its weight."""
        return self.max_rows * self.grid

    @property
    def given(self) -> Norms:
        """Return ``B``: the norms of what a unit gives to one group."""
        return _at_most(self.largest, self.weights or (1,) * self.count)

    @property
    def exchanged(self) -> Norms:
        """Return ``W``: the norms by which two units that are both in one group differ."""
        constant, *sums = self.weights or (1,) * self.count
        return Norms.of(
            *(
                (
                    (self.max_rows - least) * constant * self.grid,
                    *((self.max_rows + least) * weight * self.grid for weight in sums),
                )
                for least in (1, self.max_rows)
            )
        )


def _at_most(largest: int, weights: Sequence[int]) -> Norms:
    """Return the norms of numbers of which each reaches ``largest`` times its weight."""
    return Norms.of(tuple(largest * weight for weight in weights))


@lru_cache(maxsize=256)
def _largest_cut(size: int, edges: tuple[tuple[tuple[int, int], int], ...]) -> int:
    """Return the largest sum of edges between a set of the nodes ``0 ... size - 1`` and the others.

    The node 0 is in the other set, so that each set of the others is tried once.
    """
    rows = [[0] * size for _ in range(size)]
    for (first, second), weight in edges:
        rows[first][second] = rows[second][first] = weight
    cuts = [0] * 2 ** (size - 1)
    for chosen in range(1, len(cuts)):
        # One node more than a smaller set: its edges are cut, but for those into that set.
        place = (chosen & -chosen).bit_length()
        rest, row = chosen & (chosen - 1), rows[place]
        inside = sum(row[node] for node in range(1, size) if rest >> (node - 1) & 1)
        cuts[chosen] = cuts[rest] + sum(row) - 2 * inside
    return max(cuts)


def _root(square: int) -> int:
    """Return the smallest integer that is at least the root."""
    root = math.isqrt(square)
    return root + (root**2 < square)
