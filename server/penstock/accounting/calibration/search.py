"""Find the least noisy level that is good enough, on a scale of logarithms.

The rule of this module: the level returned was itself tried and found good.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Final

from penstock.errors import InvalidInput

PRECISION: Final = 2.0**-20
"""The relative precision; the rungs of a ladder are 2^-10 apart."""

_FIRST_STRIDE: Final = 1.02
_LONGEST_STRIDE: Final = 1e3
_CHORDS: Final = 16
"""The number of tries along chords before bisection takes over, for curves with steps."""

Excess = Callable[[Fraction], float]
"""How much too lossy a level is, as a logarithm: good at 0 and below, decreasing in the level."""


class NoneIsGood(InvalidInput):
    """Report that the noise is too little at every level tried."""


def least(excess: Excess, guess: float, fewest: float, most: float) -> Fraction:
    """Return the least good level, at most ``PRECISION`` above the true one.

    Only levels from ``fewest`` to ``most`` are tried, and ``guess`` is between.  Raises
    ``NoneIsGood`` if nothing from ``guess`` up to ``most`` is good.
    """
    low, above, high, below = _bracket(excess, guess, fewest, most)
    tries = 0
    while high > low * (1 + PRECISION):
        weight = _crossing(above, below) if tries < _CHORDS else 0.5
        middle = low * (high / low) ** weight
        if not low < middle < high:
            break
        value = excess(Fraction(middle))
        # The Illinois algorithm: an end that stays counts half, so that it does not stay for long.
        if value > 0:
            low, above, below = middle, value, below / 2
        else:
            high, below, above = middle, value, above / 2
        tries += 1
    return Fraction(high)


def _crossing(above: float, below: float) -> float:
    """Return the level at which the chord between both ends is 0, or the middle without a chord."""
    span = above - below
    if not math.isfinite(span) or span <= 0:
        return 0.5
    return min(max(above / span, 1e-9), 1 - 1e-9)


def _bracket(
    excess: Excess, guess: float, fewest: float, most: float
) -> tuple[float, float, float, float]:
    """Return a level that is too lossy with its excess, and a good one with its own.

    Both are the same level if ``fewest`` is good. Strides grow, since tries may be slow and guesses
    are usually close.
    """
    level, value, stride = guess, excess(Fraction(guess)), _FIRST_STRIDE
    while value <= 0:
        if level <= fewest:
            return level, value, level, value
        following = max(level / stride, fewest)
        next_value = excess(Fraction(following))
        if next_value > 0:
            return following, next_value, level, value
        level, value, stride = following, next_value, min(stride * stride, _LONGEST_STRIDE)
    while level < most:
        following = min(level * stride, most)
        next_value = excess(Fraction(following))
        if next_value <= 0:
            return level, value, following, next_value
        level, value, stride = following, next_value, min(stride * stride, _LONGEST_STRIDE)
    raise NoneIsGood(
        f"Noise of levels from {guess:g} up to the most that can be drawn, {most:g}, is too little."
    )
