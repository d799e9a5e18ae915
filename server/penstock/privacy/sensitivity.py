"""Represent exactly how much one privacy unit can move a vector."""

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property

from penstock.errors import InvalidInput


@dataclass(frozen=True)
class Sensitivity:
    """Hold the largest change between neighboring datasets, in units of the values.

    The Euclidean norm is kept squared, since it is rational only then.  Raises
    ``InvalidInput`` if the three contradict each other
    (``linf <= l2 <= l1`` holds for every vector).
    """

    l1: Fraction
    l2_squared: Fraction
    linf: Fraction

    def __post_init__(self) -> None:
        if min(self.l1, self.l2_squared, self.linf) <= 0:
            raise InvalidInput("A sensitivity must be above 0.", pointer="/sensitivity")
        if self.l2_squared > self.l1 * self.l1:
            raise InvalidInput(
                f"l2 ({self.l2:g}) is above l1 ({float(self.l1):g}), which no vector allows.",
                pointer="/sensitivity/l2",
            )
        if self.linf * self.linf > self.l2_squared:
            raise InvalidInput(
                f"linf ({float(self.linf):g}) is above l2 ({self.l2:g}), which no vector allows.",
                pointer="/sensitivity/linf",
            )

    def __hash__(self) -> int:
        return self._hash

    @cached_property
    def _hash(self) -> int:
        # Whatever is kept of a query's levels is looked up by it, and fractions take long to hash.
        return hash((self.l1, self.l2_squared, self.linf))

    @property
    def l2(self) -> float:
        """Return the Euclidean norm, rounded up."""
        root = math.sqrt(self.l2_squared)
        while Fraction(root) ** 2 < self.l2_squared:
            root = math.nextafter(root, math.inf)
        return root
