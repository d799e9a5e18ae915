"""Compute how the discrete Laplace law splits, and what a shift of it costs.

``DL(p)`` puts ``(1-p)/(1+p) p^|k|`` on the integer ``k``; ``p = 0`` is no noise.  The
functions of several ``p`` take them in increasing order, as ``Fraction`` or, in a context
with digits to spare, as ``Decimal``.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Generic, TypeVar

Number = TypeVar("Number", Fraction, Decimal)

_SAFETY = 1e-12
"""A bound on the relative rounding error in ``renyi_divergence``; an absolute floor is below."""

_FLOOR = 1e-15
"""The floor, for divergences smaller than the rounding errors of their terms."""


def unchanged(p: Number, q: Number) -> Number:
    """Return the chance that ``X(q) - X(p)`` is 0 as an atom; otherwise it is ``DL(q)``.

    This is the ratio of the generating functions of ``DL(q)`` and ``DL(p)``; draws of ``DL(q)``
    can be 0 as well.
    """
    return p / q * ((1 - q) / (1 - p)) ** 2


@dataclass(frozen=True)
class Bridge(Generic[Number]):
    """Hold the law of ``X(t) - X(a)`` given ``X(b) - X(a) = v``, as chances without ``v``.

    With ``w1, w2, w`` the atoms from a to t, t to b and a to b, the law for ``v > 0`` is
    a mixture of 0 (the noisy part moved alone, weight ``w1 (1-w2) DL_b(v)``), ``v`` (the
    accurate part moved alone, ``(1-w1) w2 DL_t(v)``) and the pieces ``x < 0``,
    ``0 <= x <= v``, ``x > v`` of ``(1-w1) (1-w2) DL_t(x) DL_b(v-x)``.  All weights but
    those of ``v`` and ``x > v`` are multiples of ``p_b^v``, as is their sum.  Hence:

    * ``still``: the result is 0;
    * ``backward``: it is ``-1 - R``, with ``P(R >= k) = outer^k``;
    * otherwise draw ``Q``, ``P(Q >= k) = inner^k``.  ``Q <= v`` is the result itself,
      which has no memory of ``v``; with ``Q > v`` it is ``v`` by ``arrived``, else
      ``v + 1 + R``.

    For ``v < 0`` the law is the mirror image. For ``v = 0`` there is a further way to be 0, with
    both parts as atoms: the result is not 0 only with probability ``parted``, and is then ``1 + R``
    in either direction (both parts moved, and in opposite directions).
    """

    still: Number
    backward: Number
    arrived: Number
    parted: Number
    inner: Number
    outer: Number

    @classmethod
    def between(cls, a: Number, t: Number, b: Number) -> "Bridge[Number]":
        """Return the bridge for ``0 <= a < t < b < 1``, the parameters ``p`` of three levels."""
        first, second, both = unchanged(a, t), unchanged(t, b), unchanged(a, b)
        inner, outer = t / b, t * b
        peak_t, peak_b = (1 - t) / (1 + t), (1 - b) / (1 + b)
        backward = (1 - first) * (1 - second) * peak_t * outer / ((1 - outer) * (1 - both))
        moved = (1 - both) * peak_b
        return cls(
            still=first * (1 - second) / (1 - both),
            backward=backward,
            arrived=second * (1 - inner) / ((1 - second) * peak_b * inner),
            parted=2 * backward * moved / (moved + both),
            inner=inner,
            outer=outer,
        )


def renyi_divergence(order: float, epsilon: float, step: float) -> float:
    """Return the divergence of ``DL(exp(-step))`` from itself moved ``epsilon / step`` integers.

    With ``r = p^(2 order - 1)`` and ``order`` above 1 it is ``1/(order-1)`` times

    ``ln( (1-p)/(1+p) [ (1/(1-p) + r/(1-r)) e^((order-1) epsilon)
    + (1/(1-p) - 1/(1-r)) e^(-order epsilon) ] )``,

    the sum over the three pieces on which both laws are geometric.  It is the same in both
    directions, at most ``epsilon``, and rounded up; at infinite order it is ``epsilon`` itself.
    """
    if math.isinf(order):
        return epsilon
    half = math.tanh(step / 2)
    away = 1 / (1 + math.exp(-step))
    exponent = (2 * order - 1) * step
    ratio = 1 / math.expm1(exponent) if exponent < 700 else 0.0
    up, down = away + half * ratio, away - half * (1 + ratio)
    rise, fall = (order - 1) * epsilon, order * epsilon
    if rise < 1:
        # up + down = 1, so nothing is lost while the divergence is small
        log_moment = math.log1p(up * math.expm1(rise) + down * math.expm1(-fall))
    else:
        log_moment = rise + math.log(up + down * math.exp(-rise - fall))
    return min(epsilon, max(log_moment, 0.0) / (order - 1) * (1 + _SAFETY) + _FLOOR)


def half_width_steps(step: float, confidence: float) -> int:
    """Return the least ``h`` with ``P(|X| <= h) >= confidence`` for ``DL(exp(-step))``."""
    # P(|X| > h) = 2 p^(h+1) / (1 + p)
    tail = math.log((1 - confidence) * (1 + math.exp(-step)) / 2)
    return max(math.ceil(-tail / step - 1 - 1e-12), 0)
