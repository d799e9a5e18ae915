"""Compute the integer vectors that separate neighbors, and the worst among them."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Self

from penstock.errors import InvalidInput
from penstock.privacy.sensitivity import Sensitivity

Shape = tuple[tuple[int, int], ...]
"""A vector of shifts, up to order: pairs of a shift and its number of coordinates."""

_ROUNDING = 1e-7
"""The relative fall of slopes up to which a function still counts as convex."""

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
        """Return the bounds of vectors on multiples of ``step``.

        Raises ``InvalidInput`` if not even one step is admitted.
        """
        shifts = cls(
            l1=sensitivity.l1 // step,
            l2_squared=sensitivity.l2_squared // (step * step),
            linf=sensitivity.linf // step,
        )
        if not shifts.largest:
            raise InvalidInput(
                f"A sensitivity of {float(sensitivity.linf):g} is below one step of"
                f" {step}, so that no two vectors on the lattice would be neighbors; choose"
                " a finer step or a larger sensitivity.",
                pointer="/sensitivity",
            )
        return shifts

    @property
    def largest(self) -> int:
        """Return the largest single shift that all three norms admit."""
        return min(self.linf, self.l1, math.isqrt(self.l2_squared))

    @property
    def worst(self) -> Sequence[Shape]:
        """Return one or two shapes, one of which reveals at least as much as any admitted vector.

        By l1 the most concentrated one has as many of the largest shifts as fit, and one with
        the rest; it suffices alone, and is taken unless l2 excludes it by more than
        rounding.  Otherwise there are two.  If losses grow with the squares of shifts or faster, as
        at the end of a support, squares are concentrated in the same way.  If they grow more slowly
        (noise of few steps, or far out in its tails), what one shift reveals per step is concave in
        it, so that by Jensen's inequality shifts are as even as both norms allow.  Both shapes
        reach their norms, rounded up.  That one of the two is the worst is an engineering bound.
        """
        top = self.largest
        if not top:
            return ()
        by_l1 = _filled(top, *divmod(self.l1, top))
        whole, rest = divmod(self.l2_squared, top * top)
        by_l2 = _filled(top, whole, math.isqrt(rest - 1) + 1 if rest else 0)
        even = _even(min(self.l1, self.l2_squared), self.l2_squared)
        if _squares(by_l1) <= max(_squares(by_l2), _squares(even)):
            return (by_l1,)
        return (by_l2, even) if by_l2 != even else (even,)

    def largest_sum(self, part: Callable[[int], float]) -> float:
        """Return an upper bound on ``sum(part(s_i))`` over all admitted vectors.

        For a ``part`` that is 0 at 0 and convex in ``s``, by l1 the sum is at most that
        of the concentrated vector.  If it is convex in ``s^2``, l2 bounds it likewise, the
        remainder of the squares being taken between its neighboring squares.  Both conditions are
        tested at the powers of two; if the first fails, the bound is infinite.
        """
        top = self.largest
        places = [0, *(1 << power for power in range(top.bit_length())), top]
        known = {place: part(place) if place else 0.0 for place in places}
        if not _convex(known):
            return math.inf
        count, rest = divmod(self.l1, top)
        by_l1 = count * known[top] + (part(rest) if rest else 0.0)
        if self.l2_squared >= self.l1 * top or not _convex(
            {place * place: value for place, value in known.items()}
        ):
            return by_l1
        count, rest = divmod(self.l2_squared, top * top)
        root = math.isqrt(rest)
        low, high = part(root) if root else 0.0, part(root + 1)
        weight = (rest - root * root) / (2 * root + 1)
        return min(by_l1, count * known[top] + low + weight * (high - low))


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
