"""Compute the integer vectors that separate neighbors, and the worst among them.

Values are multiples of a step before noise is added (others are refused, or rounded first with
wider norms), so neighbors differ by whole steps.  Signs are left out: one shape stands for all
vectors whose coordinates have these absolute values, in any order.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import combinations, islice, pairwise
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.privacy.sensitivity import Sensitivity

Shape = tuple[tuple[int, int], ...]
"""A vector of shifts, up to order: pairs of a shift and its number of coordinates."""

MOST_SHAPES: Final = 16
"""The most shapes that are tried one by one; if more could be the worst, two replace them."""

_MOST_FULL: Final = 1 << 12
"""The most full shapes that are listed."""

_MOST_SIZES: Final = 32
"""The largest shift up to which the loss of every shift is computed."""

_NEAREST: Final = 1 + Fraction(1, 1 << 51)
"""Raises the square of the float nearest to a root to the square of the root, or above."""

_ROUNDING = 1e-7
"""The relative fall of slopes up to which a function still counts as convex."""

_SUMMED = 1e-12
"""A bound on the relative error of a few operations."""

_NOISE = 1e-12
"""The largest error of the values themselves, always upwards."""


@dataclass(frozen=True)
class Shifts:
    """Hold bounds on the norms of an integer vector, in lattice steps."""

    l1: int
    l2_squared: int
    linf: int

    @classmethod
    def of(cls, sensitivity: Sensitivity, step: Fraction) -> Self:
        """Return the bounds as ``within`` does.

        Raises ``InvalidInput`` if not even one step is admitted.
        """
        shifts = cls.within(sensitivity, step)
        if not shifts.largest:
            raise InvalidInput(
                f"A sensitivity of {float(sensitivity.linf):g} is below one step of"
                f" {step}, so that no two vectors on the lattice would be neighbors; choose"
                " a finer step or a larger sensitivity.",
                pointer="/sensitivity",
            )
        return shifts

    @classmethod
    def within(cls, sensitivity: Sensitivity, step: Fraction) -> Self:
        """Return the bounds of vectors on multiples of ``step``: norms of integers, rounded down.

        An l2 that was declared as the float nearest to a root admits the root itself.
        """
        return cls(
            l1=sensitivity.l1 // step,
            l2_squared=sensitivity.l2_squared * _NEAREST // (step * step),
            linf=sensitivity.linf // step,
        )

    @property
    def largest(self) -> int:
        """Return the largest single shift that all three norms admit."""
        return min(self.linf, self.l1, math.isqrt(self.l2_squared))

    @property
    def worst(self) -> Sequence[Shape]:
        """Return shapes, one of which reveals at least as much as any admitted vector.

        For log-concave noise, equal and independent in all coordinates, with shifts of one sign
        (all shifts, if the noise is symmetric), at every epsilon and so for every divergence:

        1. *A larger shift reveals more.* The best test of one coordinate is a threshold, whose
           power grows with the shift; what one coordinate reveals more, all of them do.
        2. *Moving a step from a smaller shift ``b`` to another ``a >= b`` reveals more.* With the
           law ``p`` and ``c = exp(epsilon)``, the divergences of ``(a, b)`` and ``(a + 1, b - 1)``
           are the sums of ``max(u - U, 0)`` and of ``max(v - U, 0)`` over integers ``x`` and ``y``,
           ``u = p(x) p(y-1)``, ``v = p(x-1) p(y)``, ``U = c p(x+a) p(y+b-1)``.  Let ``x < y``.
           Exchanging them exchanges ``u`` and ``v`` and makes of ``U`` a ``V``; ``u >= v`` and
           ``U >= V``, as ``p`` is log-concave.  So ``v - U`` is the least and ``u - V`` the
           greatest of four numbers with ``(u - U) + (v - V) = (v - U) + (u - V)``, and by
           convexity ``max(u-U, 0) + max(v-V, 0) <= max(v-U, 0) + max(u-V, 0)``.  The other
           direction is this one for ``p`` mirrored.

        So only shapes to which neither can be done within the norms need be tried.  By l1 alone
        that is one: as many of the largest shifts as fit, and one with the rest.  If l2 excludes
        it, all of them are returned, up to ``MOST_SHAPES``.

        If there are more, two replace them, which reach their norms, rounded up: the most
        concentrated one, and one as even as both norms allow.  (If losses grow with the squares of
        shifts or faster, squares are concentrated as steps are by l1.  If they grow more slowly,
        what a shift reveals per step is concave in it, and by Jensen's inequality even shifts are
        the worst.)  That one of these two is the worst is an engineering bound.
        """
        top, proved = self.largest, self.proved
        if all(_squares(shape) <= self.l2_squared for shape in proved):
            return proved
        (by_l1,) = proved
        whole, rest = divmod(self.l2_squared, top * top)
        by_l2 = _filled(top, whole, math.isqrt(rest - 1) + 1 if rest else 0)
        even = _even(min(self.l1, self.l2_squared), self.l2_squared)
        if _squares(by_l1) <= max(_squares(by_l2), _squares(even)):
            return (by_l1,)
        return (by_l2, even) if by_l2 != even else (even,)

    @property
    def proved(self) -> Sequence[Shape]:
        """Return the same, but if they are more than ``MOST_SHAPES`` the worst by l1 alone."""
        if not self.largest:
            return ()
        by_l1 = self._concentrated
        if _squares(by_l1) <= self.l2_squared:
            return (by_l1,)
        return _stable_shapes(self.l1, self.l2_squared, self.largest) or (by_l1,)

    def largest_sum(self, part: Callable[[int], float]) -> float:
        """Return an upper bound on ``sum(part(s_i))`` over all admitted vectors.

        For a ``part`` that is 0 at 0 and convex in ``s``, by l1 the sum is at most that of the
        concentrated vector.  Where l2 excludes that one, ``part`` is taken at every shift up to
        ``_MOST_SIZES``, and need not be convex (``_largest_of_sizes``).  For larger shifts, if it
        is convex in ``s^2``, l2 bounds it as l1 does, the remainder of the squares being taken
        between its neighboring squares.  Both conditions are tested at the powers of two; if the
        first fails, the bound is infinite.
        """
        top = self.largest
        places = [0, *(1 << power for power in range(top.bit_length())), top]
        known = {place: part(place) if place else 0.0 for place in places}
        within = _squares(self._concentrated) <= self.l2_squared
        if not within and top <= _MOST_SIZES:
            return self._largest_of_sizes([part(size) for size in range(1, top + 1)])
        if not _convex(known):
            return math.inf
        by_l1 = sum(count * part(shift) for shift, count in self._concentrated)
        if within or not _convex({place * place: value for place, value in known.items()}):
            return by_l1
        count, rest = divmod(self.l2_squared, top * top)
        root = math.isqrt(rest)
        low, high = part(root) if root else 0.0, part(root + 1)
        weight = (rest - root * root) / (2 * root + 1)
        return min(by_l1, count * known[top] + low + weight * (high - low))

    @property
    def _concentrated(self) -> Shape:
        """Return as many of the largest shifts as l1 admits, and one with the rest."""
        return _filled(self.largest, *divmod(self.l1, self.largest))

    def _largest_of_sizes(self, values: Sequence[float]) -> float:
        """Return the largest sum of ``values``, of which the shift ``s`` has ``values[s - 1]``.

        It is exact if the full shapes are few.  Otherwise it is that of the linear program with
        any real number of shifts of each size, which admits more.  It is taken at one size that
        reaches one norm, or at two that reach both, as every vertex is.
        """
        counts = _full_counts(self.l1, self.l2_squared, self.largest)
        if counts is not None:
            return float((counts @ np.array(values)).max())
        sizes = list(enumerate(values, 1))
        sums = [v * min(self.l1 / s, self.l2_squared / s**2) for s, v in sizes]
        for (low, small), (high, large) in combinations(sizes, 2):
            highs = (self.l2_squared - low * self.l1) / (high * (high - low))
            lows = (high * self.l1 - self.l2_squared) / (low * (high - low))
            if min(highs, lows) >= 0:
                sums.append(highs * large + lows * small)
        return max(sums) * (1 + _SUMMED)


def _full_shapes(l1: int, l2_squared: int, top: int) -> Iterator[tuple[Shape, int]]:
    """Yield the shapes with as many shifts of 1 as fit beside the others, and what l2 has left.

    Of any admitted vector, one of them has all shifts, and perhaps more of 1.
    """
    if top <= 1:
        ones = min(l1, l2_squared)
        yield ((1, ones),) if ones else (), l2_squared - ones
        return
    for count in range(min(l1 // top, l2_squared // top**2), -1, -1):
        left = l1 - count * top, l2_squared - count * top**2
        for shape, rest in _full_shapes(*left, top - 1):
            yield ((top, count), *shape) if count else shape, rest


@lru_cache(maxsize=256)
def _listed(l1: int, l2_squared: int, top: int) -> Sequence[tuple[Shape, int]] | None:
    """Return all full shapes, or None if they are too many."""
    if top > _MOST_SIZES:
        return None
    shapes = list(islice(_full_shapes(l1, l2_squared, top), _MOST_FULL + 1))
    return shapes if len(shapes) <= _MOST_FULL else None


@lru_cache(maxsize=256)
def _stable_shapes(l1: int, l2_squared: int, top: int) -> Sequence[Shape]:
    """Return the full shapes that no step can be added to, or moved in to a larger shift.

    Where l1 has steps left, l2 has none.  There are none if they are more than ``MOST_SHAPES``.
    """
    shapes = []
    for shape, rest in _listed(l1, l2_squared, top) or ():
        sizes = [size for size, count in shape for _ in range(min(count, 2))]
        moves = (2 * (a - b + 1) for a, b in pairwise(sizes) if a < top)
        if l1 > sum(size * count for size, count in shape) or rest < min(moves, default=rest + 1):
            shapes.append(shape)
    return tuple(shapes) if len(shapes) <= MOST_SHAPES else ()


@lru_cache(maxsize=256)
def _full_counts(l1: int, l2_squared: int, top: int) -> NDArray[np.float64] | None:
    """Return how often each full shape has each size, a shape a row; None if they are too many."""
    listed = _listed(l1, l2_squared, top)
    if listed is None:
        return None
    counts = np.zeros((len(listed), top))
    for row, (shape, _) in zip(counts, listed, strict=True):
        for size, count in shape:
            row[size - 1] = count
    return counts


def _filled(top: int, whole: int, rest: int) -> Shape:
    if rest == top:
        whole, rest = whole + 1, 0
    return tuple(pair for pair in ((top, whole), (rest, 1)) if min(pair) > 0)


def _even(l1: int, l2_squared: int) -> Shape:
    """Return shifts of two adjacent sizes that reach both norms; ``l1 <= l2_squared``."""
    low = l2_squared // l1
    high = low + 1
    larger = -(-(l2_squared - low * l1) // high)
    smaller = max(-(-(l1 - larger * high) // low), 0)
    return tuple(pair for pair in ((high, larger), (low, smaller)) if pair[1])


def _convex(values: dict[int, float]) -> bool:
    if not all(map(math.isfinite, values.values())):
        return False
    gaps = pairwise(sorted(values))
    slopes = [((values[b] - values[a]) / (b - a), _NOISE / (b - a)) for a, b in gaps]
    return all(
        after + either + noise >= before * (1 - _ROUNDING)
        for (before, either), (after, noise) in pairwise(slopes)
    )


def _squares(shape: Shape) -> int:
    return sum(count * shift * shift for shift, count in shape)
