"""Place numbers on axes, and choose round numbers for the ticks."""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from .lettering import width_of
from .numbers import scientific, tick

FINEST = 1e-9
"""Smallest ratio of a span to its ends; a smaller span is widened, since floats could not tell
its ticks apart."""

SMALLEST = 1e-290
APART = 14
"""Smallest distance between two labels of an axis."""

MOST_POWERS = 6
MARGIN = 0.04
MOST_COUNTS = 12


@dataclass(frozen=True)
class Axis:
    """Map numbers from ``low`` to ``high`` to places from ``start`` to ``end``; all are finite.

    ``ticks`` are numbers with their labels; ``logarithmic`` axes have a ``low`` above 0.
    """

    low: float
    high: float
    start: float
    end: float
    ticks: tuple[tuple[float, str], ...]
    logarithmic: bool = False

    def at(self, value: float) -> float:
        """Return the place of ``value``; monotone, and never beyond the ends."""
        if self.logarithmic:
            low, high = math.log(self.low), math.log(self.high)
            part = (math.log(max(value, self.low)) - low) / (high - low)
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.start + min(max(part, 0.0), 1.0) * (self.end - self.start)


def linear(low: float, high: float, start: float, end: float, most: int = 6) -> Axis:
    """Return an axis with ticks at 1, 2 or 5 times a power of ten, with room for their labels.

    It ends a little beyond the numbers, or at zero; its ends need not be ticks.
    """
    low, high = _apart(low, high)
    axis = _linear(low, high, start, end, most)
    while most > 1 and not readable(axis):
        most -= 1
        axis = _linear(low, high, start, end, most)
    while not readable(axis):
        axis = replace(axis, ticks=axis.ticks[::2])
    return axis


def upright(low: float, high: float, start: float, end: float, most: int = 6) -> Axis:
    """Return a vertical linear axis; its labels are above one another and always fit."""
    return _linear(*_apart(low, high), start, end, most)


def counting(first: int, last: int, start: float, end: float) -> Axis:
    """Return an axis from one whole number to another, with whole numbers as ticks.

    If both are equal, the number is at the end of the axis.
    """
    low, high = float(first - (first == last)), float(last)
    powers = (10**power for power in itertools.count())
    for step in (part * power for power in powers for part in (1, 2, 5)):
        values = range(-(-first // step) * step, last + 1, step)
        if (last - first) // step <= MOST_COUNTS:
            ticks = tuple((float(value), f"{value:,}") for value in values)
            axis = Axis(low, high, start, end, ticks)
            if readable(axis):
                break
    return axis


def logarithmic(low: float, high: float, start: float, end: float) -> Axis:
    """Return a logarithmic axis that ends a little beyond the numbers, which are above 0."""
    margin = min(max((math.log(high) - math.log(low)) * 0.06, 0.2), 4.0)
    first, last = math.log(low) - margin, math.log(high) + margin
    low, high = math.exp(first), math.exp(last)
    for values in (_parts((1, 2, 5), low, high), _parts((1, 3), low, high), _powers(low, high)):
        labels = tuple((value, _label(value)) for value in values)
        axis = Axis(low, high, start, end, labels, logarithmic=True)
        if len(labels) >= 2 and readable(axis):
            return axis
    middle = math.exp((math.log(low) + math.log(high)) / 2)
    return Axis(low, high, start, end, ((middle, _label(middle)),), logarithmic=True)


def with_zero(low: float, high: float) -> tuple[float, float]:
    """Return the range extended to zero, unless the numbers would then fill too little of it."""
    if (low > 0 and high - low < high / 2) or (high < 0 and high - low < -low / 2):
        return low, high
    return min(low, 0.0), max(high, 0.0)


def readable(axis: Axis) -> bool:
    """Return whether the labels of ticks are apart from each other."""
    places = [(axis.at(value), width_of(label) / 2) for value, label in axis.ticks]
    return all(
        abs(right - left) >= half + other + APART
        for (left, half), (right, other) in itertools.pairwise(places)
    )


def _apart(low: float, high: float) -> tuple[float, float]:
    least = max(FINEST * max(abs(low), abs(high)), SMALLEST)
    if high - low >= least:
        return low, high
    if low == high == 0:
        return 0.0, 1.0
    around = max(abs(low) / 2, least)
    return low - around, high + around


def _linear(low: float, high: float, start: float, end: float, most: int) -> Axis:
    raw = (high - low) / most
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(part * power for part in (1, 2, 5, 10, 20) if part * power >= raw * (1 - 1e-9))
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    margin = (high - low) * MARGIN
    bottom = low and min(low, max(step * first, low - margin))
    top = high and max(high, min(step * last, high + margin))
    values = [step * place for place in range(first, last + 1)]
    ticks = [(value, tick(value, step)) for value in values if bottom <= value <= top]
    return Axis(bottom, top, start, end, tuple(ticks))


def _parts(parts: Sequence[int], low: float, high: float) -> list[float]:
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    if last - first > MOST_POWERS:
        return []
    numbers = (part * 10.0**power for power in range(first, last + 1) for part in parts)
    return _within(numbers, low, high)


def _powers(low: float, high: float) -> list[float]:
    first, last = math.ceil(math.log10(low)), math.floor(math.log10(high))
    skip = max(1, -(-(last - first + 1) // MOST_POWERS))
    return _within((10.0**power for power in range(first, last + 1, skip)), low, high)


def _within(values: Iterable[float], low: float, high: float) -> list[float]:
    return [value for value in values if low <= value <= high]


def _label(value: float) -> str:
    power = math.floor(math.log10(value) + 1e-12)
    if -3 <= power <= 5:
        return tick(value, 10.0**power)
    return scientific(value)
