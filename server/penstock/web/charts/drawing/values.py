"""Define the content that charts take, and the tables that they return.

Only finite numbers can be drawn: others are refused, never left out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from ....errors import NotDrawable

ROUNDING = 1e-9
LARGEST = 1e300
"""Largest number that is drawn; beyond it, differences of two numbers overflow."""


@dataclass(frozen=True)
class Interval:
    """Represent a value and the interval around it.

    Raises ``NotDrawable`` unless all three are finite and ``lower <= value <= upper``, up
    to rounding errors of floats.
    """

    value: float
    lower: float
    upper: float

    def __post_init__(self) -> None:
        for name in ("value", "lower", "upper"):
            finite(getattr(self, name), f"an interval's {name}")
        slack = ROUNDING * max(abs(self.lower), abs(self.upper))
        if not self.lower - slack <= self.value <= self.upper + slack:
            raise NotDrawable(
                f"A value must lie in its interval, but {self.value:g} is not between"
                f" {self.lower:g} and {self.upper:g}."
            )

    @property
    def half_width(self) -> float:
        """Return half the width of the interval."""
        return self.upper / 2 - self.lower / 2


@dataclass(frozen=True)
class Level:
    """Hold the values released at one level, one interval per group.

    ``place`` (a tier's rank, say) gives the level the same color and shape in all charts;
    without it, levels are marked in their order.
    """

    name: str
    intervals: tuple[Interval, ...]
    place: int | None = None


@dataclass(frozen=True)
class Table:
    """Hold a chart's numbers as texts; ``right`` are the columns aligned right (numbers)."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()


def finite(number: float, what: str) -> float:
    """Return ``number``.  Raises ``NotDrawable`` if it cannot be drawn."""
    if not math.isfinite(number) or abs(number) > LARGEST:
        raise NotDrawable(
            f"A chart can show finite numbers up to {LARGEST:g}, but {what} is {number}."
        )
    return number


def positive(number: float, what: str) -> float:
    """Return ``number``.  Raises ``NotDrawable`` unless it is finite and large enough above 0
    for its logarithm."""
    if finite(number, what) < 1 / LARGEST:
        raise NotDrawable(f"A chart needs {what} to be above 0, but it is {number}.")
    return number


def of_one_length(names: Sequence[object], levels: Sequence[Level], what: str) -> None:
    """Raise ``NotDrawable`` unless each level has one interval for each of the names."""
    for level in levels:
        if len(level.intervals) != len(names):
            raise NotDrawable(
                f"Level {level.name!r} has {len(level.intervals):,} intervals for"
                f" {len(names):,} {what}; it needs one for each."
            )


def ends(intervals: Sequence[Interval]) -> tuple[float, float]:
    """Return the lowest and the highest end of at least one interval."""
    return min(interval.lower for interval in intervals), max(
        interval.upper for interval in intervals
    )
