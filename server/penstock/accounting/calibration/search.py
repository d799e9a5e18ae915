"""Find the least noisy level that is good enough, on a scale of logarithms.

The rule of this module: the level returned was itself tried and found good.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final

from penstock.errors import InvalidInput
from penstock.privacy.level import DOUBLING

PRECISION: Final = 2.0**-20
"""The relative precision; the rungs of a ladder are 2^-10 apart."""

_FIRST_STRIDE: Final = math.log(1.02)
_LONGEST_STRIDE: Final = math.log(1e3)
_FLATTEST: Final = 0.45
"""The least slope of an excess that is expected: that of noise which is named by its variance.

A first stride by it ends on the other side of the level that is sought, and hardly beyond.
"""

_RUNGS: Final = DOUBLING / math.log(2)
"""How many rungs a level usually needs to grow by a factor of e."""

_CHORDS: Final = 16
"""The number of tries along chords before bisection takes over, for curves with steps."""

Excess = Callable[[Fraction], float]
"""How much too lossy a level is, as a logarithm: good at 0 and below, decreasing in the level."""


class NoneIsGood(InvalidInput):
    """Report that the noise is too little at every level tried."""


def least(
    excess: Excess, guess: float, fewest: float, most: float, precision: float = PRECISION
) -> Fraction:
    """Return the least good level, at most ``precision`` above the true one.

    Only levels from ``fewest`` to ``most`` are tried, and ``guess`` is between.  Raises
    ``NoneIsGood`` if nothing from ``guess`` up to ``most`` is good.
    """
    between = _bracket(excess, guess, fewest, most)
    tries = 0
    while between.high > between.low * (1 + precision):
        part = between.part(precision / 4) if tries < _CHORDS else 0.5
        middle = between.low * (between.high / between.low) ** part
        if not between.low < middle < between.high:
            break
        between.note(middle, excess(Fraction(middle)))
        tries += 1
    return Fraction(between.high)


def least_rung(excess: Callable[[int], float], guess: int, last: int) -> int:
    """Return the least good rung from 0 to ``last``, or ``last + 1`` if none is good.

    From a close guess only the rung and the one below it are tried.
    """
    at, tries, stride = min(max(guess, 0), last), 0, 1.0
    low, high = -1, last + 1
    points: list[tuple[int, float]] = []
    while high - low > 1:
        value = excess(at)
        low, high = (at, high) if value > 0 else (low, at)
        points.append((at, value))
        tries += 1
        if tries > _CHORDS and (low < 0 or high > last):
            stride = max(last, 1)
        if low >= 0 and high <= last and tries > _CHORDS:
            following: float = (low + high) / 2
        else:
            following = _following(points, low >= 0 and high <= last, stride)
            stride *= 2
        at = min(max(math.ceil(following), low + 1), high - 1)
    return high


def _following(points: list[tuple[int, float]], enclosed: bool, stride: float) -> float:
    """Return the next place to try: along the last chord, or a stride on where there is none."""
    at, value = points[-1]
    by = math.inf
    if len(points) > 1:
        before, old = points[-2]
        slope = (old - value) / (at - before)
        if math.isfinite(slope) and slope > 0:
            by = value / slope
    elif math.isfinite(value):
        by = value * _RUNGS / _FLATTEST
    if math.isfinite(by) and enclosed:
        return at + by
    # As long as only one side is known, the next try is meant to be on the other one.
    far = max(abs(by), stride) if math.isfinite(by) else stride * _RUNGS * _FIRST_STRIDE
    return at + (far if value > 0 else -far)


@dataclass
class _Between:
    """Hold a level that is too lossy and a good one, with the excess of each, and the last two."""

    low: float
    above: float
    high: float
    below: float
    tried: list[tuple[float, float]] = field(default_factory=list)

    def note(self, level: float, value: float) -> None:
        """Take a level that was tried between both for one of them."""
        if value > 0:
            self.low, self.above = level, value
        else:
            self.high, self.below = level, value
        self.tried = [*self.tried[-1:], (level, value)]

    def part(self, margin: float) -> float:
        """Return where to try next, as a part of the logarithm between both.

        That is where the last chord is 0, or if the last try was as close to it, a ``margin``
        beyond on the side that was not tried; the middle if there is no chord.
        """
        whole = math.log(self.high / self.low)
        ends = [(self.low, self.above), (self.high, self.below)]
        if len(self.tried) < 2:
            self.tried = ends
        for (former, first), (latter, second) in (self.tried, ends):
            if math.isfinite(first - second) and first != second:
                at = math.log(latter / self.low)
                at += second * math.log(latter / former) / (first - second)
                if 0 <= at <= whole:
                    last, value = self.tried[-1]
                    if abs(math.log(last / self.low) - at) < margin:
                        at += margin if value > 0 else -margin
                    return min(max(at / whole, 1e-9), 1 - 1e-9)
        return 0.5


def _bracket(excess: Excess, guess: float, fewest: float, most: float) -> _Between:
    """Return a level that is too lossy and a good one.

    Both are the same level if ``fewest`` is good.  The first stride is as long as the excess asks
    for; the following ones grow.
    """
    level, value = guess, excess(Fraction(guess))
    stride = _stride(value)
    while value <= 0:
        if level <= fewest:
            return _Between(level, value, level, value)
        following = max(level * math.exp(-stride), fewest)
        next_value = excess(Fraction(following))
        if next_value > 0:
            return _Between(following, next_value, level, value)
        level, value = following, next_value
        stride = min(max(2 * stride, _FIRST_STRIDE), _LONGEST_STRIDE)
    while level < most:
        following = min(level * math.exp(stride), most)
        next_value = excess(Fraction(following))
        if next_value <= 0:
            return _Between(level, value, following, next_value)
        level, value = following, next_value
        stride = min(max(2 * stride, _FIRST_STRIDE), _LONGEST_STRIDE)
    raise NoneIsGood(
        f"Noise of levels from {guess:g} up to the most that can be drawn, {most:g}, is too little."
    )


def _stride(value: float) -> float:
    """Return the first stride, on the scale of logarithms, from a level with excess ``value``."""
    if not math.isfinite(value):
        return _FIRST_STRIDE
    return min(abs(value) / _FLATTEST + PRECISION / 2, _LONGEST_STRIDE)
