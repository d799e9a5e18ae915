"""Compute how randomized response splits, and what an answer costs.

``R(p)`` on the integers modulo ``k`` is 0 with probability ``p``, and else uniform over all ``k``,
0 included; ``p = 1`` is no noise.  Functions take the probabilities of keeping in falling order.
"""

import math
from dataclasses import dataclass
from fractions import Fraction

_SAFETY = 1e-12
"""A bound on the relative rounding error of a divergence."""

_LARGEST_EXPONENT = 300.0
"""Below it no power of ``e`` overflows, and beyond it 1 does not count beside one."""


@dataclass(frozen=True)
class Bridge:
    """Hold the law of ``X(t) - X(a)`` given ``X(b) - X(a) = v``, as chances.

    With ``r = t/a`` and ``s = b/t`` each part stays as it is by chance ``r`` and ``s``, and is
    uniform otherwise; so is their sum, unless both stay.  Given a ``v`` other than 0, the first
    part is 0 by ``still``, since only the second moved; ``v`` by ``arrived``, since only the first
    did; and else uniform.  Given 0 it is uniform by ``parted``, and else 0.
    """

    still: Fraction
    arrived: Fraction
    parted: Fraction

    @classmethod
    def between(cls, a: Fraction, t: Fraction, b: Fraction, categories: int) -> "Bridge":
        """Return the bridge for ``1 >= a > t > b >= 0``."""
        r, s = t / a, b / t
        moved = 1 - r * s
        both = (1 - r) * (1 - s)
        return cls(r * (1 - s) / moved, (1 - r) * s / moved, both / (categories * r * s + moved))


def epsilon_of(keep: Fraction, categories: int) -> float:
    """Return the pure epsilon of an answer, ``ln(1 + k p / (1-p))``, rounded up."""
    return math.log1p(float(categories * keep / (1 - keep))) * (1 + _SAFETY)


def renyi_divergence(keep: Fraction, categories: int, order: float) -> float:
    """Return the divergence of two answers' laws of ``order`` above 1, in either direction.

    With ``m`` the chance of any other answer and ``c = e^epsilon`` how many times likelier the true
    one is, it is ``1/(order-1)`` times ``ln(m (c^order + c^(1-order) + k - 2))``.  Since
    ``m (c + k - 1)`` is 1, this is ``ln(1 + m (1 - c^(1-order)) (c^order - 1))``.  At infinite
    order it is epsilon.
    """
    epsilon = epsilon_of(keep, categories)
    if math.isinf(order):
        return epsilon
    other, power = float((1 - keep) / categories), order * epsilon
    if power < _LARGEST_EXPONENT:
        moment = math.log1p(-other * math.expm1(epsilon - power) * math.expm1(power))
    else:
        moment = power + math.log(other) + math.log1p(categories * math.exp(-power))
    return min(moment / (order - 1) * (1 + _SAFETY), epsilon)
