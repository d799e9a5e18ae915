"""Protect many counts together as nodes, computed without matrices, and read counts from them.

As pairs of matrices the same mechanisms fit a few columns only; here a node costs one step,
so a million groups fit too.  Everything is a function of integers: ``C`` and
the entries of the ellipse are roots of whole numbers, rounded down, and what is read from a
release is rounded in one order, so that it has the same bits on every machine.
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
"""Binary digits of ``C``, and of the entries for sparse records."""

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
    ``size_variance`` times.
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
        nodes = _in_values(released, granularity).reshape(self.groups, self.columns + 1)
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

    def change(self, counts: int, size: int) -> Change:  # noqa: ARG002 - n is no node here
        """Return the norms if each ``2 f_i - n`` moves by ``counts``."""
        return Change(self.columns * counts, self.columns * counts**2, counts)

    def sizes(self) -> NDArray[np.bool_]:
        return np.zeros(self.columns, dtype=np.bool_)

    def values(self, released: IntVector, granularity: Fraction) -> FloatVector:
        """Return ``f_i = (M_i + n) / 2``, rounded once."""
        return (_in_values(released, granularity) + float(self.known)) / 2


@dataclass(frozen=True)
class Ellipse:
    """Protect ``a f_i + b (f_1 + ... + f_d)``, for members of at most ``non_zero`` of the groups.

    By Joseph, Yu 2024: noise is larger along ``(1, ..., 1)`` and smaller across it, in the best
    proportion. From half of the groups on, ``Lift`` is within 0.866 of the best. Raises
    ``InvalidInput`` for a number outside 1 to half of the columns.
    """

    columns: int
    non_zero: int

    def __post_init__(self) -> None:
        if not 1 <= self.non_zero <= self.columns / 2:
            raise InvalidInput(
                f"Sparse records have 1 to {self.columns // 2} of {self.columns} entries above 0,"
                f" not {self.non_zero}; from half on use the correlated mechanism for any records."
            )

    @property
    def digits(self) -> int:
        """Return the binary digits of ``a`` and ``b``.

        ``b`` is smaller than ``a`` by a factor of the columns, and as many are added up.
        """
        return DIGITS + self.columns.bit_length()

    @property
    def step(self) -> Fraction:
        return Fraction(1, 1 << self.digits)

    @property
    def size(self) -> int:
        return self.columns

    @property
    def diagonal(self) -> int:
        """Return ``a`` in steps: the fourth root of 1 over the mean square across.

        The squares of a record's entries, taken in both directions, have the means ``k^2/d``
        along and ``k (d-k) / (d (d-1))`` across; roots come from Lagrange's multipliers.
        """
        d, k = self.columns, self.non_zero
        return fourth_root(d * (d - 1), k * (d - k), self.digits)

    @property
    def everywhere(self) -> int:
        """Return ``b`` in steps, never positive."""
        wide = fourth_root(self.columns, self.non_zero**2, self.digits)
        return -((self.diagonal - wide) // self.columns)

    @property
    def variance(self) -> Fraction:
        a, b, d = self.diagonal, self.everywhere, self.columns
        # The squares of a row of the inverse, I / a - J b / (a (a + d b)).
        off = Fraction(b, a + d * b)
        return ((1 - off) ** 2 + (d - 1) * off**2) * Fraction(1 << 2 * self.digits, a * a)

    @property
    def size_variance(self) -> None:
        return None

    @property
    def widest(self) -> int:
        """Return the largest node, in steps, if no count is above 1."""
        return self.diagonal - self.columns * self.everywhere

    def change(self, counts: int) -> Change:
        """Return the largest norms if a member adds up to ``counts`` to each of its groups.

        Norms are convex, so members who add less, or different amounts, do not move them more.
        """
        norms = []
        for ones in range(1, self.non_zero + 1):
            inside, outside = self.diagonal + ones * self.everywhere, ones * -self.everywhere
            rest = self.columns - ones
            norms.append(
                (
                    ones * abs(inside) + rest * outside,
                    ones * inside**2 + rest * outside**2,
                    max(abs(inside), outside),
                )
            )
        l1, square, largest = (max(part) for part in zip(*norms, strict=True))
        return Change(l1 * counts, square * counts**2, largest * counts)

    def nodes(self, counts: IntVector) -> IntVector:
        """Return the nodes in steps, for ``counts`` of shape ``(columns,)``."""
        total = np.int64(_exact_sum(counts))
        nodes: IntVector = counts * np.int64(self.diagonal) + total * np.int64(self.everywhere)
        return nodes

    def sizes(self) -> NDArray[np.bool_]:
        return np.zeros(self.columns, dtype=np.bool_)

    def values(self, released: IntVector, granularity: Fraction) -> FloatVector:
        """Return ``f_i = (u_i - o) / a``, rounded three times.

        Here ``o = b (u_1 + ... + u_d) / (a + d b)``.
        """
        a, b, d = self.diagonal, self.everywhere, self.columns
        common = Fraction(b * _exact_sum(released), a + d * b) * granularity
        nodes = _in_values(released, granularity) - float(common)
        return np.ldexp(nodes, self.digits) / a


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


def _in_values(released: IntVector, granularity: Fraction) -> FloatVector:
    """Return steps in units of values: exact up to 2^53 steps of a power of two."""
    return np.multiply(released, float(granularity), dtype=np.float64)


def _exact_sum(values: IntVector) -> int:
    """Return the sum of up to 2^30 integers: the two halves of their bits cannot overflow."""
    high, low = values >> np.int64(32), values & np.int64(0xFFFFFFFF)
    return (int(high.sum()) << 32) + int(low.sum())
