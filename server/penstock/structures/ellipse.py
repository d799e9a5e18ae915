"""Protect counts without their size, by the least Gaussian noise that there is.

A member of at most ``k`` of ``d`` groups adds to the counts a vector ``x`` of ``[0, 1]^d`` with at
most ``k`` entries above 0.  Counts with noise of the covariance ``S`` have a ``mu^2`` of the most
that ``x^T Q x`` is for any member, where ``Q`` is the inverse of ``S``, and a mean variance of
``trace(S) / d``.  Among all ``S`` of one ``mu`` that of an ``Ellipse`` has the least:

* **``Q = p I + q J`` suffices**, ``J`` being the matrix of ones.  Renaming the groups leaves the
  set of members as it is, so that ``P Q P^T`` is as private as ``Q`` for each permutation ``P``.
  What is required of ``Q`` is linear in it, so their mean is as private too, and the trace of an
  inverse is convex, so the mean's is no larger.  The mean is ``p I + q J``, whose counts have one
  variance: so it is also the least largest variance.  Who releases more beside the counts, as
  ``counts.Lift`` does, has noise of some ``S`` on the counts, and no less of it.
* **The worst members are whole.**  ``x^T Q x`` is convex, so it is largest where a member adds 1 to
  each of ``j`` groups: ``c(j) = p j + q j^2``.  The noise is ``1/s`` across and ``1/t`` along
  ``(1, ..., 1)``, where ``s = p`` and ``t = p + q d``, and a count's is ``((d-1)/s + 1/t) / d``.
* **One number of groups or two decide.**  If only ``c(j) <= 1`` is required, Lagrange's
  multipliers give ``s^2 = d (d-1) / (j (d-j))`` and ``t^2 = d / j^2`` up to one factor.  Then
  ``q <= 0``, so ``c`` is concave, with its top at ``d / (2 - 2 t/s)``, which falls as ``j`` rises
  and is at ``j`` for ``j = (d + sqrt d) / 2``.  Up to there ``j = k`` keeps all below it, and is
  the best.  Beyond, ``k`` makes no difference: of the two whole numbers around it, one keeps the
  other, and so all; or neither does, and the best has both at 1: ``p = (2j+1) / (j (j+1))`` and
  ``q = -1 / (j (j+1))``.

The first case up to half of the groups is that of Joseph, Yu 2024; for the others Lebeda 2024
(section 4.1) gives Algorithm 1, whose counts are the best if ``k`` is at least ``(d + sqrt d) / 2``
and ``sqrt d`` is whole, and 9% worse for two groups.

Drawn is ``a f_i + b (f_1 + ... + f_d)``, whose matrix is the root of ``Q``, with ``a`` and ``b``
rounded to the lattice.  Its sensitivity is that of the rounded integers, over all ``j`` up to
``k``: rounding costs a little noise, and no privacy.  All of this is under add/remove.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.mechanisms.process import IntVector
from penstock.structures.counts import DIGITS, Change, FloatVector, fourth_root, in_values


@dataclass(frozen=True)
class Ellipse:
    """Protect ``a f_i + b (f_1 + ... + f_d)``, for members of at most ``non_zero`` of the groups.

    There are ``columns`` of these.  With several ``groups``, in each of which these columns are
    counted, every group has an ellipse of its own.  Raises ``InvalidInput`` for fewer than two
    columns, and for a number of them that no member can be in.
    """

    columns: int
    non_zero: int
    groups: int = 1

    def __post_init__(self) -> None:
        if self.columns < 2 or not 1 <= self.non_zero <= self.columns or self.groups < 1:
            raise InvalidInput(
                "Counts that overlap are two at least, and a member is in one of them up to all:"
                f" not {self.columns} in {self.groups} groups, with members of {self.non_zero}."
            )

    @property
    def worst(self) -> tuple[int, ...]:
        """Return in how many columns the members are that decide: one number, or two in a row."""
        d, least = self.columns, (self.columns + math.isqrt(self.columns)) // 2
        if self.non_zero <= least:
            return (self.non_zero,)
        # Twice the place half way; c(j) is at its top there if p + q both = 0, here in squares.
        both = 2 * least + 1
        beyond, before = (
            (d - j) * both**2 - (d - 1) * j * (both - d) ** 2 for j in (least + 1, least)
        )
        if beyond >= 0:
            return (least + 1,)
        return (least,) if before <= 0 else (least, least + 1)

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
        return self.columns * self.groups

    @property
    def diagonal(self) -> int:
        """Return ``a`` in steps: the root of ``s``, times one that ``a + d b`` has too."""
        d, j = self.columns, self.worst[0]
        if len(self.worst) == 1:
            return fourth_root(d * (d - 1), j * (d - j), self.digits)
        return fourth_root((d * (2 * j + 1)) ** 2, (2 * j * (j + 1)) ** 2, self.digits)

    @property
    def everywhere(self) -> int:
        """Return ``b`` in steps, never positive: ``a + d b`` is the root of ``t``, or above it."""
        d, j = self.columns, self.worst[0]
        if len(self.worst) == 1:
            wide = fourth_root(d, j**2, self.digits)
        else:
            wide = fourth_root((d * (2 * j + 1 - d)) ** 2, (2 * j * (j + 1)) ** 2, self.digits)
        return -((self.diagonal - wide) // d)

    @property
    def variance(self) -> Fraction:
        a, b, d = self.diagonal, self.everywhere, self.columns
        # The squares of a row of the inverse, I / a - J b / (a (a + d b)).
        off = Fraction(b, a + d * b)
        return ((1 - off) ** 2 + (d - 1) * off**2) * Fraction(1 << 2 * self.digits, a * a)

    @property
    def together(self) -> int:
        return self.columns

    @property
    def covariance(self) -> Fraction:
        a, b, d = self.diagonal, self.everywhere, self.columns
        off = Fraction(b, a + d * b)
        return (d * off - 2) * off * Fraction(1 << 2 * self.digits, a * a)

    @property
    def size_variance(self) -> None:
        return None

    @property
    def size_covariance(self) -> None:
        return None

    @property
    def widest(self) -> int:
        """Return the largest node, in steps, if no count is above 1."""
        return self.diagonal - self.columns * self.everywhere

    def change(self, counts: int) -> Change:
        """Return the largest norms if a member adds up to ``counts`` to each of its columns.

        Norms are convex, so members who add less, or different amounts, do not move them more.  A
        member of ``j`` columns moves these by ``a + j b`` and all others by ``j b``, the one never
        negative and the other never positive: the norms are polynomials in ``j``.
        """
        a, b, d = self.diagonal, self.everywhere, self.columns
        others = min(self.non_zero, d - 1) * -b
        return Change(
            self._most(a - d * b, 2 * b) * counts,
            self._most(a * a, b * (2 * a + d * b)) * counts**2,
            max(a + b, others) * counts,
        )

    def _most(self, slope: int, bend: int) -> int:
        """Return the most that ``slope j + bend j^2`` is for any member; no bend is positive."""
        top = slope // (-2 * bend) if bend else self.non_zero
        around = (min(max(j, 1), self.non_zero) for j in (top, top + 1))
        return max(slope * j + bend * j * j for j in around)

    def nodes(self, counts: IntVector) -> IntVector:
        """Return the nodes in steps, group by group, for ``counts`` of ``size`` numbers."""
        each = counts.reshape(self.groups, self.columns)
        # In no node that is allowed is the sum of all counts beyond 64 bits.
        total = each.sum(axis=1, keepdims=True)
        nodes: IntVector = each * np.int64(self.diagonal) + total * np.int64(self.everywhere)
        return nodes.ravel()

    def sizes(self) -> NDArray[np.bool_]:
        return np.zeros(self.size, dtype=np.bool_)

    def values(self, released: IntVector, granularity: Fraction) -> FloatVector:
        """Return ``f_i = (u_i - o) / a``, rounded three times.

        Here ``o = b (u_1 + ... + u_d) / (a + d b)`` of each group, rounded once.
        """
        a, b, d = self.diagonal, self.everywhere, self.columns
        each = released.reshape(self.groups, d)
        up, down = b * granularity.numerator, (a + d * b) * granularity.denominator
        common = np.array([up * total / down for total in _exact_sums(each)])
        nodes = in_values(each, granularity) - common[:, None]
        values: FloatVector = np.ldexp(nodes, self.digits) / a
        return values.ravel()


def _exact_sums(rows: IntVector) -> list[int]:
    """Return the sum of each row of up to 2^30 integers: halves of their bits cannot overflow."""
    high, low = rows >> np.int64(32), rows & np.int64(0xFFFFFFFF)
    halves = zip(high.sum(axis=1).tolist(), low.sum(axis=1).tolist(), strict=True)
    return [(above << 32) + below for above, below in halves]
