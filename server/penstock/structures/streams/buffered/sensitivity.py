"""Bound what one privacy unit moves: the columns of ``R``, and the roundings of the recursion.

What is released at a level ``s`` is ``u_t = x_t + g_t`` with ``x`` the elements and ``g`` what was
drawn, and the totals are its running sums.  Given what was released before and how the parts share
``g``, ``u_t`` is a discrete Gaussian of variance ``s`` (a sum over parts, up to ``e^-(2^19)``)
around ``x_t - q_t``, with ``q_t`` the weighted sum of the buffers of ``u - x``: linear, except for
an error of at most ``e = tiers off`` steps of the lattice, whichever way they share.  So for
neighbors the centers differ by ``R`` times what differs in the elements, and by at most ``2 e``, at
every step and for every history.  Discrete Gaussians of real centers that are ``d`` apart have the
Rényi divergence ``a d^2 / 2 s`` of real ones, up to ``e^-(2^19)``; mixtures of them are no further
apart than their parts; and squares add up over steps although elements are chosen after reading
outputs, since the bound holds for every history.

*Tiers that join.*  Let a coalition see a level ``b_0``, from some step on ``b_1 < b_0`` too, and so
on up to ``t``, and nothing more accurate.  Give it more: ``V = R x + p + n`` at every step, ``p``
being noise of variance ``t`` of which that of each tier is a noisier version, and ``n`` such that
the totals that it sees are drawn from ``V`` without the data.  Those of ``b_m`` are
``L (p_m - e_m) + k_m``, with ``e_m`` the errors of its weighted sums and ``k_m`` that of the total
with which it joined.  So ``L (n + e_m) = k_m`` from there on, and ``n + e_m`` is what ``R`` makes
of two things.  What ``1/R`` made of ``e_i - e_(i-1)`` until ``b_i`` joined is carried on: at no
step is it more than the largest of these was, as entries of ``1/R`` after the first are not
positive and add up to less than 1 (so that those of what ``R`` makes of its rest are not negative
and do, too).  And jumps ``k_i - k_(i-1) - L (e_i - e_(i-1))`` at each joining are so many columns
of ``R``; entries of ``L`` add up to ``1 / r_T`` at most, since ``L R`` is the running sums and
``R`` does not rise.  A part is between two of the ``b_i`` only, or is split by one: the
``e_i - e_(i-1)`` are together at most ``2 tiers off`` of parts, and ``2 tiers^2 JOINING`` of what
tiers joined with, whose errors are means of their neighbors' and ``JOINING`` more.

Only those numbers of an element that the unit moves have another history, so that roundings
count for these alone.
"""

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt
from typing import Final

from penstock.errors import InvalidInput
from penstock.mechanisms.lattice import floor_log2
from penstock.privacy.sensitivity import Sensitivity
from penstock.structures.streams.buffered.encoder import Encoder, columns, last_entry
from penstock.structures.streams.buffered.fixed_point import off

JOINING: Final = Fraction(1, 1 << 36)
"""More than buffers and their weighted sum are off if a tier joins, in steps of the lattice."""

SHARE: Final = Fraction(1, 1 << 10)
"""How much roundings may add to the l2 norm, as a share of it."""


@dataclass(frozen=True)
class Roundings:
    """Hold what roundings may add to norms of one number, in steps of the lattice."""

    l1: Fraction
    l2: Fraction
    linf: Fraction


def roundings(matrix: Encoder, tiers: int) -> Roundings:
    """Return what roundings may move at most, with up to ``tiers`` levels over the stream.

    Raises ``InvalidInput`` for fewer than one.
    """
    if tiers < 1:
        raise InvalidInput(f"A stream has at least one level, not {tiers}.")
    joined = tiers * JOINING
    own = tiers * (off(matrix) + joined)
    carried = 2 * own
    jumps = carried / last_entry(matrix) + 2 * tiers * joined
    column = columns(matrix, 1)
    a_step, a_column = 2 * (own + carried), 2 * jumps
    return Roundings(
        l1=matrix.length * a_step + column.l1 * a_column,
        l2=_root(Fraction(matrix.length)) * a_step + _root(column.l2_squared) * a_column,
        linf=a_step + a_column,
    )


def fine_step(
    matrix: Encoder, element: Sensitivity, step: Fraction, moved: int, tiers: int
) -> Fraction:
    """Return a step of the noise's lattice at which roundings add at most ``SHARE`` to l2.

    It is ``step``, that of the elements, over a power of two; ``moved`` is how many numbers of
    elements one unit moves at most, each in one step or several.
    """
    added = roundings(matrix, tiers).l2 * _root(Fraction(moved))
    # The root from below: what is wanted is small enough.
    norm = 1 / _root(1 / (columns(matrix, 1).l2_squared * element.l2_squared))
    return step * min(Fraction(1), Fraction(2) ** floor_log2(SHARE * norm / (added * step)))


def moved_together(
    matrix: Encoder, element: Sensitivity, count: int, step: Fraction, moved: int, tiers: int
) -> Sensitivity:
    """Return what one unit moves in ``R x``, and by the roundings of the recursion.

    ``element`` is the sensitivity of one element, ``count`` how many of them a unit is in at most,
    ``step`` that of the noise's lattice, ``moved`` and ``tiers`` as in ``fine_step``.
    """
    column, added = columns(matrix, count), roundings(matrix, tiers)
    l2 = _root(column.l2_squared * element.l2_squared) + _root(Fraction(moved)) * added.l2 * step
    l1 = column.l1 * element.l1 + moved * added.l1 * step
    return Sensitivity(
        l1=max(l1, l2),  # for a single step both are the same, and roots are rounded up
        l2_squared=l2**2,
        linf=column.linf * element.linf + added.linf * step,
    )


def _root(value: Fraction) -> Fraction:
    """Return a fraction at or above the square root, by less than ``2^-64`` of it or of 1."""
    digits = max(0, -floor_log2(value)) + 128
    scaled = -(-(value.numerator << 2 * digits) // value.denominator)
    return Fraction(isqrt(scaled) + 1, 1 << digits)
