"""Hold which cells of a column meet a condition: sets of values, as disjoint ranges in order.

A range lies between two *ends*, each before or after a value, so that sets of numbers, which are
dense, may hold the last value or not.  Integers and days are counted, and their ends are all before
a value: above 5 is from 6 on.  Of texts and booleans there are single values, and all but some.
"""

import datetime
from collections.abc import Iterable
from typing import Any, Final

from penstock.connectors.specs.cells import Cell
from penstock.connectors.specs.models import ColumnType

End = tuple[int, Any, int]
"""Where a range ends: at -1 or 1 for no end, else at 0 with a value, and -1 before or 1 after."""

Values = tuple[tuple[End, End], ...]
"""Disjoint ranges that do not touch, the lowest first."""

LOWEST: Final[End] = (-1, 0, 0)
HIGHEST: Final[End] = (1, 0, 0)
NONE: Final[Values] = ()
ALL: Final[Values] = ((LOWEST, HIGHEST),)

COUNTED: Final[frozenset[ColumnType]] = frozenset({"integer", "date"})
"""The types in which every value but the last has a next one."""

_SHORT: Final = 2
"""The longest run of integers, or of days, that is listed and not spelled by its ends."""


def points(kind: ColumnType, values: Iterable[Cell]) -> Values:
    """Return the set of some values."""
    return united(((_before(value), _after(kind, value)),) for value in values)


def beyond(kind: ColumnType, op: str, value: Cell) -> Values:
    """Return the set of the values in a relation of order to one."""
    match op:
        case "<":
            return ((LOWEST, _before(value)),)
        case "<=":
            return ((LOWEST, _after(kind, value)),)
        case ">":
            return ((_after(kind, value), HIGHEST),)
    return ((_before(value), HIGHEST),)


def united(sets: Iterable[Values]) -> Values:
    """Return the values that are in any of the sets."""
    ranges: list[tuple[End, End]] = []
    for low, high in sorted(each for values in sets for each in values):
        if ranges and low <= ranges[-1][1]:
            ranges[-1] = ranges[-1][0], max(high, ranges[-1][1])
        else:
            ranges.append((low, high))
    return tuple(ranges)


def opposite(values: Values) -> Values:
    """Return the values that are not in a set."""
    ends = [LOWEST, *(end for each in values for end in each), HIGHEST]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    return tuple((low, high) for low, high in pairs if low < high)


def shared(left: Values, right: Values) -> Values:
    """Return the values that are in both sets."""
    return opposite(united((opposite(left), opposite(right))))


def within(values: Values, lowest: int, highest: int) -> Values:
    """Return a set of integers that are between two bounds, or brought there.

    What holds for a bound holds for all beyond it: this is the same set of bounded integers.
    """
    bounded = shared(values, (((0, lowest, -1), (0, highest + 1, -1)),))
    if bounded and bounded[0][0] == (0, lowest, -1):
        bounded = ((LOWEST, bounded[0][1]), *bounded[1:])
    if bounded and bounded[-1][1] == (0, highest + 1, -1):
        bounded = (*bounded[:-1], (bounded[-1][0], HIGHEST))
    return bounded


def moved(values: Values, distance: int) -> Values:
    """Return a set of integers with a number added to each."""
    return tuple((_moved(low, distance), _moved(high, distance)) for low, high in values)


def mirrored(values: Values) -> Values:
    """Return the opposite numbers of a set of integers."""
    return tuple((_mirrored(high), _mirrored(low)) for low, high in reversed(values))


def listed(kind: ColumnType, values: Values) -> tuple[list[Cell], Values]:
    """Return the values of short ranges, and the ranges that are longer."""
    short: list[Cell] = []
    longer = []
    for low, high in values:
        if low[0] or high[0]:
            longer.append((low, high))
        elif kind in COUNTED:
            if high[1] - low[1] > _SHORT:
                longer.append((low, high))
            else:
                short += [_cell(kind, number) for number in range(low[1], high[1])]
        elif low[1] == high[1]:
            short.append(low[1])
        else:
            longer.append((low, high))
    return short, tuple(longer)


def comparisons(kind: ColumnType, low: End, high: End) -> list[tuple[str, Cell]]:
    """Return the comparisons that hold for the values of one range."""
    compared: list[tuple[str, Cell]] = []
    if not low[0]:
        if kind == "date" and low[1] > datetime.date.max.toordinal():
            compared.append((">", datetime.date.max))
        else:
            compared.append((">=" if low[2] < 0 else ">", _cell(kind, low[1])))
    if not high[0]:
        if kind == "date" and high[1] <= datetime.date.min.toordinal():
            compared.append(("<", datetime.date.min))
        elif kind in COUNTED:
            compared.append(("<=", _cell(kind, high[1] - 1)))
        else:
            compared.append(("<" if high[2] < 0 else "<=", high[1]))
    return compared


def _before(value: Cell) -> End:
    return 0, value.toordinal() if isinstance(value, datetime.date) else value, -1


def _after(kind: ColumnType, value: Cell) -> End:
    _, number, _ = _before(value)
    return (0, number + 1, -1) if kind in COUNTED else (0, number, 1)


def _moved(end: End, distance: int) -> End:
    return end if end[0] else (0, end[1] + distance, -1)


def _mirrored(end: End) -> End:
    return (-end[0], 0, 0) if end[0] else (0, 1 - end[1], -1)


def _cell(kind: ColumnType, value: Any) -> Cell:
    cell: Cell = datetime.date.fromordinal(value) if kind == "date" else value
    return cell
