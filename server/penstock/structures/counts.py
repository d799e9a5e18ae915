"""Protect many counts together as nodes, computed without matrices, and read counts from them.

As pairs of matrices the same mechanisms fit a few columns only; here a node costs one step,
so a million groups fit too.  Everything is a function of integers: ``C`` is a
root of a whole number, rounded down, and what is read from a release is rounded in one order, so
that it has the same bits on every machine.  Counts without their size are in ``ellipse``.
"""

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.mechanisms.process import IntVector

DIGITS = 12
"""Binary digits of ``C``, and the fewest of an ellipse's entries."""

FloatVector = NDArray[np.float64]


class Change(NamedTuple):
    """Hold the norms of a change of the nodes, in their steps; the Euclidean one is squared."""

    l1: int
    l2_squared: int
    linf: int


class Nodes(Protocol):
    """Represent the sums that are protected in place of counts.

    ``step`` is the value of one integer of a node, ``size`` the number of nodes and of values,
    ``widest`` by how many steps a node may exceed the largest sum that it is made of.  A
    value has ``variance`` times the noise variance of a node or, if it is the size of a group,
    ``size_variance`` times.  Two counts of one group of ``together`` values have ``covariance``
    times it in common, and a count and the size ``size_covariance`` times.
    """

    @property
    def step(self) -> Fraction: ...

    @property
    def widest(self) -> int: ...

    @property
    def size(self) -> int: ...

    @property
    def variance(self) -> Fraction: ...

    @property
    def size_variance(self) -> Fraction | None: ...

    @property
    def together(self) -> int: ...

    @property
    def covariance(self) -> Fraction: ...

    @property
    def size_covariance(self) -> Fraction | None: ...

    def sizes(self) -> NDArray[np.bool_]:
        """Return True for each value that is a size: shape ``(size,)``."""
        ...

    def values(self, released: IntVector, granularity: Fraction) -> FloatVector:
        """Return the counts that a release of the nodes gives; both have shape ``(size,)``."""
        ...


@dataclass(frozen=True)
class Lift:
    """Protect ``2 f_i - n`` for the counts of each group, and ``C n`` for its size.

    These are Algorithms 1 and 2 of Lebeda 2024. ``weight`` is ``C`` in units of ``2^-DIGITS``. If
    ``per_unit`` is above 1, a member of a group adds up to that many to each count and as many to
    ``n``; the size that is read is the number of members.
    """

    columns: int
    groups: int
    weight: int
    per_unit: int = 1

    def __post_init__(self) -> None:
        if min(self.columns, self.groups, self.weight, self.per_unit) < 1:
            raise InvalidInput(
                "At least one column and one group are needed, not"
                f" {self.columns} and {self.groups}."
            )

    @property
    def trade_off(self) -> Fraction:
        """Return ``C``."""
        return Fraction(self.weight, 1 << DIGITS)

    @property
    def step(self) -> Fraction:
        return Fraction(1, 1 << DIGITS)

    @property
    def widest(self) -> int:
        """Return the largest node, in steps, if no ``2 f_i - n`` and no ``n`` is above 1."""
        return max(1 << DIGITS, self.weight)

    @property
    def size(self) -> int:
        return self.groups * (self.columns + 1)

    @property
    def variance(self) -> Fraction:
        return (1 + 1 / self.trade_off**2) / 4

    @property
    def size_variance(self) -> Fraction:
        return 1 / (self.trade_off * self.per_unit) ** 2

    @property
    def together(self) -> int:
        return self.columns + 1

    @property
    def covariance(self) -> Fraction:
        return 1 / (2 * self.trade_off) ** 2

    @property
    def size_covariance(self) -> Fraction:
        return 1 / (2 * self.trade_off**2 * self.per_unit)

    def change(self, counts: int, size: int) -> Change:
        """Return the norms if a group's ``2 f_i - n`` move by ``counts``, and ``n`` by ``size``."""
        each, own = counts << DIGITS, size * self.weight
        return Change(self.columns * each + own, self.columns * each**2 + own**2, max(each, own))

    def nodes(self, differences: IntVector, sizes: IntVector) -> IntVector:
        """Return the nodes in steps, group by group.

        ``differences`` are ``2 f_i - n``, of shape ``(groups, columns)``, ``sizes`` are ``n``,
        of shape ``(groups,)``.
        """
        nodes = np.empty((self.groups, self.columns + 1), dtype=np.int64)
        nodes[:, :-1] = differences << np.int64(DIGITS)
        nodes[:, -1] = sizes * np.int64(self.weight)
        return nodes.ravel()

    def sizes(self) -> NDArray[np.bool_]:
        sizes = np.zeros((self.groups, self.columns + 1), dtype=np.bool_)
        sizes[:, -1] = True
        return sizes.ravel()

    def values(self, released: IntVector, granularity: Fraction) -> FloatVector:
        """Return ``n = M / C``, rounded once, and ``f_i = (M_i + n) / 2``, rounded once more."""
        nodes = in_values(released, granularity).reshape(self.groups, self.columns + 1)
        values = np.empty_like(nodes)
        size = np.ldexp(nodes[:, -1], DIGITS) / self.weight
        values[:, :-1] = (nodes[:, :-1] + size[:, None]) / 2
        values[:, -1] = size / self.per_unit
        return values.ravel()


@dataclass(frozen=True)
class Centered:
    """Protect ``2 f_i - n`` alone, for a size ``n`` that is public: Lebeda 2024, Lemma 3.6.

    ``known`` is used as ``n``; an error in it moves all counts by half of that error.
    """

    columns: int
    known: Fraction

    def __post_init__(self) -> None:
        if self.columns < 1 or self.known < 0:
            raise InvalidInput(
                f"At least one column and a size of at least 0 are needed, not {self.columns} and"
                f" {float(self.known):g}."
            )

    @property
    def step(self) -> Fraction:
        return Fraction(1)

    @property
    def widest(self) -> int:
        """Return the largest node, in steps, as for ``Lift``."""
        return 1

    @property
    def size(self) -> int:
        return self.columns

    @property
    def variance(self) -> Fraction:
        return Fraction(1, 4)

    @property
    def size_variance(self) -> None:
        return None

    @property
    def together(self) -> int:
        return 1

    @property
    def covariance(self) -> Fraction:
        return Fraction(0)

    @property
    def size_covariance(self) -> None:
        return None

    def change(self, counts: int, size: int) -> Change:  # noqa: ARG002 - n is no node here
        """Return the norms if each ``2 f_i - n`` moves by ``counts``."""
        return Change(self.columns * counts, self.columns * counts**2, counts)

    def sizes(self) -> NDArray[np.bool_]:
        return np.zeros(self.columns, dtype=np.bool_)

    def values(self, released: IntVector, granularity: Fraction) -> FloatVector:
        """Return ``f_i = (M_i + n) / 2``, rounded once."""
        return (in_values(released, granularity) + float(self.known)) / 2


def fourth_root(numerator: int, denominator: int, digits: int) -> int:
    """Return the fourth root of a positive fraction in units of ``2^-digits``, rounded down."""
    return math.isqrt(math.isqrt((numerator << 4 * digits) // denominator))


def best_weight(columns: int, *, replacing: bool) -> int:
    """Return the ``C`` of least error for the counts, in units of ``2^-DIGITS``, rounded down.

    It is the fourth root of ``columns``, or the square root if records replace each other between
    groups (Lebeda 2024, after Lemma 3.3 and Algorithm 2).
    """
    return fourth_root(columns**2 if replacing else columns, 1, DIGITS)


def weight_of(trade_off: float) -> int:
    """Return ``C`` in units of ``2^-DIGITS``.  Raises ``InvalidInput`` unless it is positive."""
    if not (math.isfinite(trade_off) and round(trade_off * (1 << DIGITS)) > 0):
        raise InvalidInput(f"The trade-off C is a positive number, not {trade_off:g}.")
    return round(trade_off * (1 << DIGITS))


def in_values(released: IntVector, granularity: Fraction) -> FloatVector:
    """Return steps in units of values: exact up to 2^53 steps of a power of two."""
    return np.multiply(released, float(granularity), dtype=np.float64)
