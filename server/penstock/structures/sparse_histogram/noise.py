"""Define the Gaussian mechanism of histograms: its lattice, and charges for keys of count 0 too."""

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from typing import ClassVar, Self

from penstock.mechanisms.families import Families
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.process import NumericalCharge
from penstock.privacy.level import Ladder
from penstock.structures.sparse_histogram.charges import ceiling_error, false_key_failure
from penstock.structures.sparse_histogram.plan import plan


class HistogramNoise(Gaussian):
    """Represent the noise of histograms over ``size`` keys, of which a tier expects ``most_false``.

    It is like ``Gaussian`` except for lattice, ladder and numerical charges, in which ``dimension``
    is how many keys differ between neighbors.  No release may be more accurate than the ceiling it
    was planned for.
    """

    size: ClassVar[int]
    most_false: ClassVar[float]

    @staticmethod
    def of(size: int, most_false: float) -> "type[HistogramNoise]":
        """Return the family of one domain and of the most false keys that any tier expects."""
        return _FAMILIES.of((size, most_false))

    @classmethod
    def plan(cls, ceiling: Fraction, step: Fraction, bound: Fraction) -> tuple[Self, Ladder]:
        """Return the lattice and the ladder; see ``penstock.structures.sparse_histogram.plan``."""
        planned, ladder = plan(ceiling, step, bound)
        return cls(planned.granularity), ladder

    def numerical_charges(
        self, ladder: Ladder, dimension: int, level_count: int, order: float, epsilon: float
    ) -> Sequence[NumericalCharge]:
        """Return the charges of Gaussian noise, each with the failures of all keys of count 0."""
        own = false_key_failure(
            self.most_false, self.size, level_count, epsilon, ceiling_error(ladder)
        )
        ways = super().numerical_charges(ladder, dimension, level_count, order, epsilon)
        return tuple(replace(way, failure=way.failure + own) for way in ways)


def _family(domain: tuple[int, float]) -> type[HistogramNoise]:
    size, most_false = domain
    return type("HistogramNoise", (HistogramNoise,), {"size": size, "most_false": most_false})


_FAMILIES = Families(_family)
