"""Derive the sensitivity of an answer to one privacy unit; callers do not assert it.

A unit contributes to at most ``G`` of the ``K`` keys, and its contribution to one key has norms of
at most ``B``.  If two units both contribute to a key, their contributions differ by norms of at
most ``W``.  In lattice steps:

====  ===========================  ====================================================
..    add_remove                   replace
====  ===========================  ====================================================
Linf  B                            max(B, W)
L1    G B                          max over m = 0..G of m W + min(2 (G - m), K - m) B
L2    sqrt(G) B                    root of the same, with squares
====  ===========================  ====================================================

Under add_remove a neighbor has one whole unit more or less.  Under replace one unit takes
another's place: of the keys that the two reach, ``m`` are common to both, and of the others
each reaches up to ``G - m`` of its own.  Saturating the totals never moves two answers further
apart.

What a unit with ``n`` rows at a key gives there, ``c`` being the most rows that count:
``min(n, c)`` to a count; 1 to a count of units; to a sum, its values added up and clamped
to ``[c min(lo, 0), c max(hi, 0)]``; to a mean the pair of

- the centered sum in half steps, ``sum(2 v - lo - hi)``, times ``c / n`` if ``n > c``, which keeps
  it within ``c (hi - lo)`` (clamping instead would bias the mean), and
- ``w min(n, c)``, the count with the weight ``w = hi - lo``, at which both parts of the
  pair move equally far, so that the same noise is right for both.

To moments of ``k`` columns it gives the sums of ``z_i z_j`` (``moments``), ``W^2 min(n, c)`` among
them, likewise times ``c / n`` if ``n > c``, each times its weight; ``moments.products`` has their
norms, and those of moments of order 1.

To the nodes of a tree over bins (``structures.bin_tree``) it gives ``min(n, c)`` rows, each of
which is in one node of each level; ``NodeCounts`` has the norms.
"""

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Protocol

from penstock.privacy.neighboring import NeighboringRelation
from penstock.privacy.sensitivity import Sensitivity
from penstock.structures.counts import Centered, Lift


class Measure(StrEnum):
    """Name what is added up in each group."""

    COUNT = "count"
    COUNT_UNITS = "count_units"
    SUM = "sum"
    MEAN = "mean"
    MOMENTS = "moments"
    QUANTILES = "quantiles"
    MARGINALS = "marginals"
    WORKLOAD = "workload"


@dataclass(frozen=True)
class Norms:
    """Hold the largest change of an answer in lattice steps; the Euclidean norm is squared."""

    l1: int
    l2_squared: int
    linf: int

    @classmethod
    def of(cls, *vectors: tuple[int, ...]) -> "Norms":
        """Return the largest of each norm over some vectors."""
        return cls(
            l1=max(sum(map(abs, vector)) for vector in vectors),
            l2_squared=max(sum(part * part for part in vector) for vector in vectors),
            linf=max(max(map(abs, vector)) for vector in vectors),
        )

    def in_units(self, step: Fraction) -> Sensitivity:
        """Return the sensitivity in the units of the values, one lattice step being ``step``.

        Raises ``InvalidInput`` for norms of 0: such an answer depends on no unit.
        """
        # No number moves further than all together, which separate bounds may not show.
        linf = min(self.linf, math.isqrt(self.l2_squared))
        return Sensitivity(
            l1=self.l1 * step, l2_squared=self.l2_squared * step * step, linf=linf * step
        )


class Contributed(Protocol):
    """Represent what one unit gives to one group."""

    @property
    def given(self) -> Norms:
        """Return ``B``: the norms of what a unit gives to one group."""

    @property
    def exchanged(self) -> Norms:
        """Return ``W``: the norms by which two units that are both in one group differ."""


@dataclass(frozen=True)
class Contribution:
    """Represent what one unit, with at most ``max_rows`` rows that count, gives to one group.

    ``lowest`` and ``highest`` bound one row's value in steps, for sums and means.
    """

    measure: Measure
    max_rows: int
    lowest: int = 0
    highest: int = 0

    @property
    def clamp(self) -> tuple[int, int]:
        """Return the interval to which a unit's sum in one group is clamped."""
        return self.max_rows * min(self.lowest, 0), self.max_rows * max(self.highest, 0)

    @property
    def width(self) -> int:
        """Return ``hi - lo``, which is also the weight ``w`` of a mean's count."""
        return self.highest - self.lowest

    @property
    def largest(self) -> int:
        """Return the largest absolute value of one number in steps."""
        return self.given.linf

    @property
    def given(self) -> Norms:
        """Return ``B``: the norms of what a unit gives to one group."""
        most = self.max_rows
        match self.measure:
            case Measure.COUNT_UNITS:
                return Norms.of((1,))
            case Measure.COUNT:
                return Norms.of((most,))
            case Measure.SUM:
                return Norms.of(*((end,) for end in self.clamp))
            case Measure.MEAN:
                return Norms.of((most * self.width, most * self.width))
            case Measure.MOMENTS | Measure.QUANTILES | Measure.MARGINALS | Measure.WORKLOAD:
                raise TypeError(f"{self.measure} have norms of their own")

    @property
    def exchanged(self) -> Norms:
        """Return ``W``: the norms by which two units that are both in one group differ."""
        most = self.max_rows
        match self.measure:
            case Measure.COUNT_UNITS:
                return Norms.of((0,))
            case Measure.COUNT:
                return Norms.of((most - 1,))
            case Measure.SUM:
                # A unit that is present has a row: at least lo if lo > 0, at most hi if hi < 0.
                least = most * self.lowest if self.lowest < 0 else self.lowest
                largest = most * self.highest if self.highest > 0 else self.highest
                return Norms.of((largest - least,))
            case Measure.MEAN:
                # Opposite extremes of n1 and n2 rows: both norms are convex in the counts.
                return Norms.of(
                    (2 * most * self.width, 0),
                    ((most + 1) * self.width, (most - 1) * self.width),
                )
            case Measure.MOMENTS | Measure.QUANTILES | Measure.MARGINALS | Measure.WORKLOAD:
                raise TypeError(f"{self.measure} have norms of their own")


@dataclass(frozen=True)
class Record:
    """Represent what one unit gives to one group in which several columns are counted.

    Of its ``b`` rows there, at most ``max_rows``, each column is true in up to ``b``.  With
    ``nodes`` it moves ``2 f_i - n`` by ``b`` at most and the size ``n`` by ``b``; two units
    with ``b`` and ``b'`` rows differ by ``b + b'`` and ``b - b'``.  Norms are convex in both
    numbers, so that the extreme ones are the worst.
    """

    columns: int
    max_rows: int
    nodes: Lift | Centered | None = None

    @property
    def given(self) -> Norms:
        """Return ``B``: the norms of what a unit gives to one group."""
        if self.nodes is None:
            return self._alone
        return Norms(*self.nodes.change(self.max_rows, self.max_rows))

    @property
    def exchanged(self) -> Norms:
        """Return ``W``: the norms by which two units that are both in one group differ."""
        if self.nodes is None:
            return self._alone
        most = self.max_rows
        changes = (self.nodes.change(most + least, most - least) for least in (1, most))
        return Norms(*map(max, *changes))

    @property
    def _alone(self) -> Norms:
        most = self.max_rows
        return Norms(self.columns * most, self.columns * most**2, most)


@dataclass(frozen=True)
class NodeCounts:
    """Represent what one unit gives to the nodes of a tree over bins in one group.

    It gives ``min(n, c)`` rows, each of which is in one node of each of the ``levels``, so that it
    moves the nodes of one level by ``c`` together (``B``), and by ``c`` in one node if its rows are
    in one bin.

    Of two units in one group each moves the nodes of a level by ``c`` together, in opposite
    directions (``W``): none by more than ``c``, all by ``2 c``, and their squares add up to
    ``2 c^2`` at most.  All of it is reached by rows in two bins with no node in common, which there
    are, since the sum of all bins is no node.  Bins saturate before they are added, and nodes after
    it: that lets no bin move further, nor in another direction, and so neither the nodes of a level
    that move upwards together nor those that move downwards.
    """

    levels: int
    max_rows: int

    @property
    def largest(self) -> int:
        """Return the largest absolute value of one number."""
        return self.max_rows

    @property
    def given(self) -> Norms:
        """Return ``B``: the norms of what a unit gives to one group."""
        most = self.max_rows
        return Norms(self.levels * most, self.levels * most**2, most)

    @property
    def exchanged(self) -> Norms:
        """Return ``W``: the norms by which two units that are both in one group differ."""
        given = self.given
        return Norms(2 * given.l1, 2 * given.l2_squared, given.linf)


def rounded(value: Fraction, step: Fraction) -> int:
    """Return the number of steps nearest to ``value``: ``floor(value/step + 1/2)``."""
    return math.floor(value / step + Fraction(1, 2))


def derived(
    relation: NeighboringRelation,
    contribution: Contributed,
    max_groups: int,
    keys: int,
) -> Norms:
    """Return the norms of the table above, for a unit that reaches at most ``max_groups`` keys."""
    given, exchanged = contribution.given, contribution.exchanged
    if relation is NeighboringRelation.ADD_REMOVE:
        return Norms(
            l1=max_groups * given.l1, l2_squared=max_groups * given.l2_squared, linf=given.linf
        )
    return Norms(
        l1=_replaced(given.l1, exchanged.l1, max_groups, keys),
        l2_squared=_replaced(given.l2_squared, exchanged.l2_squared, max_groups, keys),
        linf=max(given.linf, exchanged.linf),
    )


def _replaced(given: int, exchanged: int, max_groups: int, keys: int) -> int:
    """Return the maximum over the number ``m`` of common keys.

    In ``m`` it is concave and bends where each unit fills the keys that the other leaves.
    """
    bend = max(2 * max_groups - keys, 0)
    return max(
        common * exchanged + min(2 * (max_groups - common), keys - common) * given
        for common in (0, bend, max_groups)
    )
