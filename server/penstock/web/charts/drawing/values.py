"""What charts are given, and the tables that they give back.

Only finite numbers can be drawn: others are refused, never left out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from penstock.errors import InvalidInput

ROUNDING = 1e-9
LARGEST = 1e300
"""Beyond this, differences of two numbers overflow."""


@dataclass(frozen=True)
class Interval:
    """A value and the interval around it.

    Raises ``InvalidInput`` unless all three are finite and ``lower <= value <= upper``, up
    to what floats round away.
    """

    value: float
    lower: float
    upper: float

    def __post_init__(self) -> None:
        for name in ("value", "lower", "upper"):
            finite(getattr(self, name), f"an interval's {name}")
        slack = ROUNDING * max(abs(self.lower), abs(self.upper))
        if not self.lower - slack <= self.value <= self.upper + slack:
            raise InvalidInput(
                f"A value lies in its interval, and {self.value:g} is outside of"
                f" {self.lower:g} to {self.upper:g}."
            )

    @property
    def half_width(self) -> float:
        """Half of how wide the interval is."""
        return self.upper / 2 - self.lower / 2


@dataclass(frozen=True)
class Level:
    """What was released at one level, one interval a group, and how charts mark it.

    ``place`` keeps a tier's color and shape from chart to chart (its rank, say); without
    it, levels are marked in their order.
    """

    name: str
    intervals: tuple[Interval, ...]
    place: int | None = None


@dataclass(frozen=True)
class Table:
    """A chart's numbers as texts; ``right`` are the columns that hold numbers."""

    caption: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    right: frozenset[int] = frozenset()


def finite(number: float, what: str) -> float:
    """``number``; raises ``InvalidInput`` where it cannot be drawn."""
    if not math.isfinite(number) or abs(number) > LARGEST:
        raise InvalidInput(
            f"A chart shows finite numbers up to {LARGEST:g}, and {what} is {number}."
        )
    return number


def positive(number: float, what: str) -> float:
    """``number``; raises ``InvalidInput`` unless it is finite and above zero, as far as
    logarithms can tell."""
    if finite(number, what) < 1 / LARGEST:
        raise InvalidInput(f"A chart needs {what} to be above 0, and it is {number}.")
    return number


def of_one_length(names: Sequence[object], levels: Sequence[Level], what: str) -> None:
    """Raises ``InvalidInput`` where a level has not one interval for each of the names."""
    for level in levels:
        if len(level.intervals) != len(names):
            raise InvalidInput(
                f"Level {level.name!r} has {len(level.intervals):,} intervals for"
                f" {len(names):,} {what}: each needs one."
            )


def ends(intervals: Sequence[Interval]) -> tuple[float, float]:
    """The lowest and the highest end of some intervals (at least one)."""
    return min(interval.lower for interval in intervals), max(
        interval.upper for interval in intervals
    )
