"""Write the sentence of a grid: a difference is said only where the margins support it."""

import math
from collections.abc import Sequence

from ..drawing.lettering import fitted
from ..drawing.messages import ROOM, at_level, extremes, margin_of, with_margin
from ..drawing.numbers import counted
from ..drawing.svg import isolated, words
from ..drawing.values import Interval
from .grids import Grid


def sentence(subject: str, keys: Sequence[str], grid: Grid) -> str:
    """Return the sentence of a grid, from the numbers of its most accurate level.

    ``keys`` are the names of groups in the order of intervals.
    """
    if not grid.positions:
        return words(f"{isolated(subject)}{_some(grid)}: {_range(keys, grid)}")
    span = f"{isolated(grid.steps[0])} to {isolated(grid.steps[-1])}"
    return words(f"{isolated(subject)}{_some(grid)}, {span}: {_changes(keys, grid)}")


def margins_sentence(subject: str, grid: Grid) -> str:
    """Return the sentence of the margins of a grid, and how many of its values may be 0."""
    level = grid.levels[0]
    ordered = sorted(level.intervals, key=lambda interval: interval.half_width)
    low, high = margin_of(ordered[0]), margin_of(ordered[-1])
    margins = f"all margins are {low}" if low == high else f"margins from {low} to {high}"
    zero = sum(own.lower <= 0 <= own.upper for own in level.intervals)
    verb = "includes" if zero == 1 else "include"
    open_ = f"{zero:,} of {counted(len(level.intervals), 'interval')} {verb} 0"
    return words(f"{isolated(subject)}{_some(grid)}: {margins}, {open_}")


def separate(first: Interval, last: Interval, values: int, confidence: float) -> int:
    """Return 1 if ``last`` is above ``first`` beyond the margins, -1 if below, and otherwise 0.

    Both intervals are widened so that all of ``values`` ones hold at once with the confidence of
    each: by a factor ``f`` for which ``alpha ** f = alpha / values``.  That suffices for noise with
    a log-concave density, as Laplace and Gaussian noise have, however the values depend on one
    another: the probability of an error beyond ``f`` margins is at most ``alpha ** f``.
    """
    factor = 1 + math.log(max(values, 1)) / -math.log(1 - confidence)
    if _low(last, factor) > _high(first, factor):
        return 1
    return -1 if _high(last, factor) < _low(first, factor) else 0


def _low(interval: Interval, factor: float) -> float:
    return interval.value - factor * (interval.value - interval.lower)


def _high(interval: Interval, factor: float) -> float:
    return interval.value + factor * (interval.upper - interval.value)


def _some(grid: Grid) -> str:
    of = f", {len(grid.places):,} of {grid.count:,} groups" if grid.count > len(grid.places) else ""
    return f"{at_level(grid.levels[0])}{of}"


def _range(keys: Sequence[str], grid: Grid) -> str:
    """Return the smallest and the largest value, and whether no other can be the largest."""
    written = extremes(keys, grid.levels[0])
    if grid.count > len(grid.places):
        return written
    ordered = sorted(grid.levels[0].intervals, key=lambda interval: -interval.value)
    first, *others = ordered
    if all(separate(other, first, len(ordered), grid.confidence) == 1 for other in others):
        return f"{written}, the largest beyond the margins"
    return f"{written}; the margins do not tell which is largest"


def _changes(keys: Sequence[str], grid: Grid) -> str:
    """Return how many lines change beyond the margins, from the first step to the last.

    Those without a value at either are not compared.
    """
    level = grid.levels[0]
    names = [name for name in range(len(grid.names)) if _is_whole(grid.line(name, level), grid)]
    lines = [grid.line(name, level) for name in names]
    ways = [_way(line, 2 * len(lines), grid) for line in lines]
    rising, falling = ways.count(1), ways.count(-1)
    if not lines:
        return extremes(keys, level)
    if not rising and not falling:
        return f"no change beyond the margins, values {extremes(keys, level)}"
    parts = [f"{rising:,} rise{'s' * (rising == 1)}"] * bool(rising)
    parts += [f"{falling:,} fall{'s' * (falling == 1)}"] * bool(falling)
    example = _example(lines, ways)
    (_, first), (_, last) = lines[example][0], lines[example][-1]
    name = isolated(fitted(grid.names[names[example]], ROOM))
    introduced = f": {name}" if rising + falling == 1 else f", such as {name}"
    return (
        f"of {counted(len(lines), 'line')} {' and '.join(parts)} beyond the margins{introduced}"
        f" from {with_margin(first)} to {with_margin(last)}"
    )


def _is_whole(line: Sequence[tuple[int, Interval]], grid: Grid) -> bool:
    """Return True if a line has a value at the first step and at the last one."""
    return line[0][0] == 0 and line[-1][0] == len(grid.steps) - 1


def _way(line: Sequence[tuple[int, Interval]], values: int, grid: Grid) -> int:
    """Return 1 if a whole line rises from the first step to the last, -1 if it falls, else 0."""
    return separate(line[0][1], line[-1][1], values, grid.confidence)


def _example(lines: Sequence[Sequence[tuple[int, Interval]]], ways: Sequence[int]) -> int:
    changed = [name for name, way in enumerate(ways) if way]
    return max(changed, key=lambda name: abs(lines[name][-1][1].value - lines[name][0][1].value))
