"""Compute how the geometric law splits: exponential noise on the integers.

``G(p)`` puts ``(1-p) p^k`` on the integer ``k >= 0``; ``p = 0`` is no noise.  The functions of
several ``p`` take them in increasing order, as ``Fraction`` or as ``Decimal``.
"""

import math
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Generic, TypeVar

Number = TypeVar("Number", Fraction, Decimal)


def moved(p: Number, q: Number) -> Number:
    """Return the chance that ``X(q) - X(p)`` is not 0; it is ``1 + G(q)`` then.

    The ratio of the generating functions of ``G(q)`` and ``G(p)`` is that of a number which is 0
    with probability ``(1-q)/(1-p)`` and otherwise has this law.
    """
    return (q - p) / (1 - p)


@dataclass(frozen=True)
class Bridge(Generic[Number]):
    """Hold the law of ``X(t) - X(a)`` given ``X(b) - X(a) = v``, as chances without ``v``.

    For ``v > 0`` the products of both increments' chances are multiples of ``p_b^v``, as is their
    sum, and what is left is a law without memory that ends at ``v``:

    * 0 with probability ``(p_b - p_t) / (p_b - p_a)``, which is ``1 - left``;
    * otherwise the smaller of ``v`` and ``1 + Q``, where ``P(Q >= k) = inner^k``.

    For ``v = 0`` neither part has moved.
    """

    left: Number
    inner: Number

    @classmethod
    def between(cls, a: Number, t: Number, b: Number) -> "Bridge[Number]":
        """Return the bridge for ``0 <= a < t < b < 1``, the parameters ``p`` of three levels."""
        return cls((t - a) / (b - a), t / b)


def half_width_steps(step: float, confidence: float) -> float:
    """Return an ``h`` with ``P(|X - m| <= h) >= confidence`` for ``G(exp(-step))`` of mean ``m``.

    ``m + h`` is the first integer for which this holds.
    """
    mean = 1 / math.expm1(step) if step < 700 else 0.0
    # without the lower end, which can only leave out more
    last = max(math.ceil(-math.log1p(-confidence) / step - 1 - 1e-12), math.ceil(mean))

    def outside(last: int) -> float:
        first = max(math.ceil(2 * mean - last), 0)
        return -math.expm1(-step * first) + math.exp(-step * (last + 1))

    stride = 1
    while outside(last + stride) > 1 - confidence:
        stride *= 2
    narrow, wide = last - 1, last + stride
    while wide - narrow > 1:
        middle = (narrow + wide) // 2
        narrow, wide = (middle, wide) if outside(middle) > 1 - confidence else (narrow, middle)
    return wide - mean
