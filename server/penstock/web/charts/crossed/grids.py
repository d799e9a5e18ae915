"""Place groups by two keys in a grid, and find whether one of the keys has an order of its own.

What has an order is judged by what readers see: a code with a label is a name like any other.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from itertools import pairwise

from ..drawing.values import Interval, Level, of_one_length

FEWEST_STEPS = 3
"""Smallest number of values of a key that are taken for an order."""

UNEVEN = 10.0
"""Ratio of distances from which numbers are at equal distances on an axis."""

_BIN = re.compile(r"[\[(]\s*([^,\s]+),\s*([^,\s]+)\s*[\])]")
_QUARTER = re.compile(r"(\d{4})-?Q([1-4])")
_MONTH = re.compile(r"(\d{4})-(0[1-9]|1[0-2])")
_DAY = re.compile(r"\d{4}-\d\d-\d\d")
_NUMBER = re.compile(r"-?\d{1,15}(\.\d{1,9})?")


@dataclass(frozen=True)
class Grid:
    """Hold the values of groups by a key (``names``) and another one (``steps``).

    ``places`` has the place of a group's interval in each level, by the indices of its name and
    its step.  ``positions`` are those of steps that have an order, increasing; without one they
    are empty.  ``total`` is the number of all groups if these are only the first of more, of which
    the table has ``tabled``.
    """

    title: str
    names: tuple[str, ...]
    steps: tuple[str, ...]
    places: Mapping[tuple[int, int], int]
    levels: tuple[Level, ...]
    positions: tuple[float, ...] = ()
    quantity: str = ""
    confidence: float = 0.95
    total: int = 0
    tabled: int = 0

    @property
    def count(self) -> int:
        """Return the number of all groups."""
        return max(self.total, len(self.places))

    def line(self, name: int, level: Level) -> list[tuple[int, Interval]]:
        """Return the steps at which a name has a value, with their intervals at a level."""
        return [
            (step, level.intervals[self.places[name, step]])
            for step in range(len(self.steps))
            if (name, step) in self.places
        ]

    def row(self, step: int, level: Level) -> list[tuple[int, Interval]]:
        """Return the names that have a value at a step, with their intervals at a level."""
        return [
            (name, level.intervals[self.places[name, step]])
            for name in range(len(self.names))
            if (name, step) in self.places
        ]


def grid_of(title: str, keys: Sequence[tuple[str, ...]], levels: Sequence[Level]) -> Grid | None:
    """Return groups in a grid by their keys' parts; None unless two keys name them.

    The last part with an order is the step, and otherwise the one with more values, in the order
    of their largest values; all other parts are the name.
    """
    sizes = {len(key) for key in keys}
    of_one_length(keys, levels, "groups")
    if not levels or len(sizes) != 1 or sizes == {1} or len(set(keys)) < len(keys):
        return None
    columns = [tuple(dict.fromkeys(parts)) for parts in zip(*keys, strict=True)]
    ordered = [place for place, values in enumerate(columns) if positions_of(values)]
    most = max(range(len(columns)), key=lambda place: (len(columns[place]), place))
    axis = ordered[-1] if ordered else most
    named = [(", ".join((*key[:axis], *key[axis + 1 :])), key[axis]) for key in keys]
    names = _by_value([name for name, _ in named], levels[0])
    steps = _by_value([step for _, step in named], levels[0])
    positions = positions_of(columns[axis])
    if positions:
        pairs = sorted(zip(positions, columns[axis], strict=True))
        steps, positions = tuple(step for _, step in pairs), tuple(each for each, _ in pairs)
    if len(names) < 2 or len(steps) < 2 or len(set(named)) < len(named):
        return None
    at_name, at_step = (
        {value: place for place, value in enumerate(values)} for values in (names, steps)
    )
    places = {(at_name[name], at_step[step]): place for place, (name, step) in enumerate(named)}
    return Grid(title, names, steps, places, tuple(levels), positions)


def positions_of(texts: Sequence[str]) -> tuple[float, ...]:
    """Return the positions of values that have an order: numbers, bins, days, months, quarters.

    They are different, and at equal distances for bins and for very uneven numbers.  Without an
    order, or with fewer than ``FEWEST_STEPS`` values, there are none.
    """
    if len(texts) < FEWEST_STEPS:
        return ()
    for read in (_number, _month, _quarter, _day):
        known = [each for text in texts if (each := read(text)) is not None]
        if len(set(known)) == len(texts):
            return _spaced(known, even=False)
    bins = [_bin(text) for text in texts]
    starts = [each for each in bins if each is not None]
    return _spaced(starts, even=True) if len(set(starts)) == len(texts) else ()


def _spaced(numbers: Sequence[float], *, even: bool) -> tuple[float, ...]:
    ordered = sorted(numbers)
    gaps = [after - before for before, after in pairwise(ordered)]
    if not even and max(gaps) <= UNEVEN * min(gaps):
        return tuple(numbers)
    ranks = {number: float(rank) for rank, number in enumerate(ordered)}
    return tuple(ranks[number] for number in numbers)


def _by_value(values: Sequence[str], level: Level) -> tuple[str, ...]:
    """Return the different values, that of the largest number first."""
    largest: dict[str, float] = {}
    for value, interval in zip(values, level.intervals, strict=True):
        largest[value] = max(interval.value, largest.get(value, interval.value))
    return tuple(sorted(largest, key=lambda value: -largest[value]))


def _number(text: str) -> float | None:
    return float(text) if _NUMBER.fullmatch(text) else None


def _month(text: str) -> float | None:
    match = _MONTH.fullmatch(text)
    return None if match is None else 12.0 * int(match[1]) + int(match[2])


def _quarter(text: str) -> float | None:
    match = _QUARTER.fullmatch(text)
    return None if match is None else 4.0 * int(match[1]) + int(match[2])


def _day(text: str) -> float | None:
    try:
        return float(date.fromisoformat(text).toordinal()) if _DAY.fullmatch(text) else None
    except ValueError:
        return None


def _bin(text: str) -> float | None:
    match = _BIN.fullmatch(text)
    try:
        return None if match is None else float(match[1])
    except ValueError:
        return None
