"""Draw the values of two keys at several levels: one panel for each line, with all levels in it.

The levels lie on one another, the less accurate ones lighter and behind.
"""

from collections.abc import Iterator, Sequence
from xml.etree.ElementTree import Element

from ..drawing.axes import upright, with_zero
from ..drawing.lettering import fitted, width_of, wrapped
from ..drawing.marks import dashes, mark, shaded, styles
from ..drawing.numbers import counted, digits_of
from ..drawing.svg import (
    NARROW,
    NOTE,
    QUIET,
    STRONG,
    document,
    group,
    isolated,
    note,
    number,
    stroked,
    text,
)
from ..drawing.tables import elsewhere
from ..drawing.values import Level, ends
from ..lines import caption, cropped
from .grids import Grid
from .plots import Plot, band, frame, steps_axis, way

KEY = 22
TITLE = 22
HEIGHT = 110
BELOW = 34
BETWEEN = 18
MOST = 12
"""Panels that are drawn: those with the largest values."""


def panels_of_lines(grid: Grid, prefix: str, width: int = NARROW) -> str:
    """Return the chart of a grid with positions: a panel for each name, all on the same axes."""
    shown, across = min(len(grid.names), MOST), 3 if width > NARROW else 2
    lines = [grid.line(name, level) for name in range(shown) for level in grid.levels]
    low, high = with_zero(*ends([interval for line in lines for _, interval in line]))
    labels = upright(low, high, HEIGHT, 0, 3)
    left = max(width_of(label) for _, label in labels.ticks) + 8
    side = (width - across * left - (across - 1) * BETWEEN) / across
    parts = [caption(grid.confidence, grid.quantity, width)]
    parts += legend(grid, width, 32, dashed=True)
    styled = list(zip(grid.levels, styles(grid.levels), strict=True))
    top = 32 + KEY * rows_of_legend(grid, width)
    for name in range(shown):
        down, along = divmod(name, across)
        start = along * (left + side + BETWEEN) + left
        above = top + down * (TITLE + HEIGHT + BELOW)
        y = upright(low, high, above + TITLE + HEIGHT, above + TITLE, 3)
        plot = Plot(steps_axis(grid, start, start + side, 4), y, start, start + side)
        title = fitted(grid.names[name], side, bold=True)
        parts.append(text(start, above + 12, title, kind=STRONG))
        parts += frame(plot, grid)
        # The least accurate level is drawn first, so that narrow bands lie on top of wide ones.
        for order, (level, style) in reversed(list(enumerate(styled))):
            parts += _line(grid, name, level, style, dashes(order), plot)
    bottom = top + -(-shown // across) * (TITLE + HEIGHT + BELOW)
    notes = list(_notes(grid, shown, cropped(labels)))
    under = [line for sentence in notes for line in wrapped(sentence, width)]
    parts += note(bottom + 8, under)
    height = bottom + NOTE * len(under) + 4
    return document(prefix, grid.title, described(grid, notes), (width, height), parts)


def _line(
    grid: Grid, name: int, level: Level, style: int, dashed: dict[str, str], plot: Plot
) -> Iterator[Element]:
    line = grid.line(name, level)
    x = [plot.x.at(step) for step, _ in line]
    points = [(at, plot.y.at(interval.value)) for at, (_, interval) in zip(x, line, strict=True)]
    digits = digits_of(level.intervals)
    written = "; ".join(
        f"{isolated(grid.steps[step])}: {digits.write(own.value)} ({digits.range(own)})"
        for step, own in line
    )
    shapes = [
        *band(x, [interval for _, interval in line], plot.y),
        stroked("line", way(points), "1.75", stroke_linejoin="round", **dashed),
    ]
    title = f"{isolated(grid.names[name])}, {isolated(level.name)}: {written}"
    yield group(shaded(style), *shapes, title=title)


def legend(grid: Grid, width: int, y: float, *, dashed: bool = False) -> Iterator[Element]:
    """Yield the name of each level with its mark, or its dashes, in lines of at most ``width``."""
    seats = _seats(grid.levels, width)
    for order, ((x, down), level, style) in enumerate(
        zip(seats, grid.levels, styles(grid.levels), strict=True)
    ):
        at = y + KEY * down
        line = stroked("line", f"M{number(x)} {number(at)}h20", "1.75", **dashes(order))
        yield group(shaded(style), line if dashed else mark(style, x + 11, at))
        yield text(x + 26, at + 4, fitted(level.name, width - x - 28), kind=QUIET)


def rows_of_legend(grid: Grid, width: int) -> int:
    """Return in how many lines the names of levels are."""
    return _seats(grid.levels, width)[-1][1] + 1


def _seats(levels: Sequence[Level], width: int) -> list[tuple[float, int]]:
    seats: list[tuple[float, int]] = []
    x, down = 0.0, 0
    for level in levels:
        wide = min(width_of(level.name) + 42, width)
        if x and x + wide > width:
            x, down = 0.0, down + 1
        seats.append((x, down))
        x += wide
    return seats


def described(grid: Grid, notes: Sequence[str]) -> str:
    """Return what is drawn, for those who do not see it."""
    names = ", ".join(isolated(level.name) for level in grid.levels)
    intervals = [interval for level in grid.levels for interval in level.intervals]
    digits, (low, high) = digits_of(intervals), ends(intervals)
    what = f"{counted(len(grid.names), 'panel')} of {counted(len(grid.steps), 'value')}"
    extent = f"from {digits.write(low)} to {digits.write(high)} in all."
    return " ".join((f"{what} at {names}: values with intervals, {extent}", *notes))


def _notes(grid: Grid, shown: int, warning: str) -> Iterator[str]:
    if warning:
        yield warning
    drawn = sum(name < shown for name, _ in grid.places)
    if grid.count > drawn:
        yield (
            f"{grid.count - drawn:,} of {counted(grid.count, 'group')} are not shown here;"
            f" {elsewhere(grid.tabled, grid.count)}."
        )
