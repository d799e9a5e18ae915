"""The integer vectors that separate neighbors, and the worst among them."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

Shape = tuple[tuple[int, int], ...]
"""A vector of shifts, up to order: pairs of a shift and its number of coordinates."""

_ROUNDING = 1e-7
"""Relative: what slopes may fall by where a function counts as convex."""

_NOISE = 1e-12
"""What the values themselves may be off by, all upwards."""


@dataclass(frozen=True)
class Shifts:
    """Bounds on the norms of an integer vector, in lattice steps."""

    l1: int
    l2_squared: int
    linf: int

    @property
    def largest(self) -> int:
        """The largest single shift that all three norms admit."""
        return min(self.linf, self.l1, math.isqrt(self.l2_squared))

    def concentrated(self, largest: int) -> Shape:
        """As many shifts of ``largest`` as fit, then as large ones as still fit, to the end."""
        shape: list[tuple[int, int]] = []
        l1, l2_squared = self.l1, self.l2_squared
        while (shift := min(largest, l1, math.isqrt(l2_squared))) > 0:
            count = min(l1 // shift, l2_squared // (shift * shift))
            shape.append((shift, count))
            l1 -= count * shift
            l2_squared -= count * shift * shift
        return tuple(shape)

    def extreme(self) -> tuple[Shape, ...]:
        """The concentrated shapes that may be the worst for epsilon.

        Where l2 does not bind it is the one with the largest shifts.  Where it does, some
        shapes of smaller shifts use more of it up and are candidates too.  That no other
        shape is worse is an engineering bound (convexity in the squares of the shifts).
        """
        worst = self.concentrated(self.largest)
        if self.l2_squared >= self.l1 * self.largest:
            return (worst,)
        starts = {self.largest - 1, self.largest - 2, self.largest // 2, 1} - {0, -1}
        shapes = {worst, *(self.concentrated(start) for start in starts)}
        most = max(_squares(shape) for shape in shapes)
        return tuple(shape for shape in shapes if 10 * _squares(shape) >= 9 * most)

    def largest_sum(self, part: Callable[[int], float]) -> float:
        """An upper bound on ``sum(part(s_i))`` over all admitted vectors.

        For a ``part`` that is 0 at 0 and convex in ``s``, by l1 the sum is at most that
        of the concentrated vector.  Where it is convex in ``s^2``, l2 bounds it likewise,
        the remainder of the squares being taken between its neighboring squares.  Both
        are tried at the powers of two; without the first the bound is infinite.
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
