"""How far one privacy unit can move an answer: derived, never taken on anybody's word.

All of it under add_remove: a neighbor has one whole unit more or less.  A unit reaches at
most ``G`` keys, and moves each by at most ``B`` lattice steps, so that

=====  ==========
Linf   B
L1     G B
L2     sqrt(G) B
=====  ==========

and a unit that gives ``B`` to each of ``G`` keys attains all three.  ``B`` is 1 for
``count_units``, ``c`` for ``count`` and ``c max(|lo|, |hi|)`` for ``sum``: a unit's sum in
one group is clamped to ``[c min(lo, 0), c max(hi, 0)]``.  Saturation of the totals moves
no two answers apart.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

from penstock.privacy import Sensitivity


class Measure(StrEnum):
    """What is added up in each group."""

    COUNT = "count"
    COUNT_UNITS = "count_units"
    SUM = "sum"


@dataclass(frozen=True)
class Share:
    """The interval, in lattice steps, of what one unit gives to one group."""

    lowest: int
    highest: int

    @property
    def largest(self) -> int:
        """``B``, the largest absolute value."""
        return max(-self.lowest, self.highest)


@dataclass(frozen=True)
class Norms:
    """The largest change of an answer in lattice steps; the Euclidean norm is squared."""

    l1: int
    l2_squared: int
    linf: int

    def in_units(self, step: Fraction) -> Sensitivity:
        """The same in the units of the values, where one lattice step is ``step``.

        Raises ``InvalidInput`` for norms of 0: such an answer depends on no unit.
        """
        return Sensitivity(
            l1=self.l1 * step, l2_squared=self.l2_squared * step * step, linf=self.linf * step
        )


def rounded(value: Fraction, step: Fraction) -> int:
    """The number of steps nearest to ``value``, halves upwards: ``floor(value/step + 1/2)``."""
    return math.floor(value / step + Fraction(1, 2))


def share(measure: Measure, max_rows: int, lowest: int = 0, highest: int = 0) -> Share:
    """What one unit with at most ``max_rows`` effective rows gives to one group.

    ``lowest`` and ``highest`` bound one row's value in steps, and belong to sums alone.
    """
    match measure:
        case Measure.COUNT_UNITS:
            return Share(0, 1)
        case Measure.COUNT:
            return Share(0, max_rows)
        case Measure.SUM:
            return Share(max_rows * min(lowest, 0), max_rows * max(highest, 0))


def add_remove(contribution: Share, max_groups: int) -> Norms:
    """The norms of the table above, for a unit that reaches at most ``max_groups`` keys."""
    largest = contribution.largest
    return Norms(l1=max_groups * largest, l2_squared=max_groups * largest * largest, linf=largest)
