"""Draw the values of two keys as lines over the one with an order, at one level.

The lines with the largest values have colors, marks and their names beside them; the others are
grey, and are never added up: a sum has another margin than its parts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ..drawing.axes import upright, with_zero
from ..drawing.lettering import fitted, spread, width_of, wrapped
from ..drawing.marks import SERIES, colored, dashes, mark
from ..drawing.messages import margin_of
from ..drawing.numbers import counted, digits_of
from ..drawing.svg import (
    NARROW,
    NOTE,
    QUIET,
    document,
    element,
    group,
    isolated,
    note,
    number,
    stroked,
    text,
)
from ..drawing.tables import elsewhere
from ..drawing.values import Interval, Level, ends
from ..lines import caption, cropped
from .grids import Grid
from .plots import GREY, Plot, band, frame, steps_axis, way

TOP = 30
HEIGHT = 260
NAMES_APART = 16
GAP = 10
MOST_GREY = 60
MOST_WHISKERS = 24
"""Steps up to which each value has a whisker; with more, a line has a band."""

APART = 3.0
"""Distance of whiskers that would lie on one another."""


@dataclass(frozen=True)
class Series:
    """Hold one line: its name, its color and marks, and its steps with their intervals."""

    name: str
    style: int
    line: list[tuple[int, Interval]]
    shift: float = 0.0


def lines_over_steps(grid: Grid, prefix: str, width: int = NARROW) -> str:
    """Return the chart of a grid with positions, at its first level."""
    level = grid.levels[0]
    named = [
        Series(name, place, grid.line(place, level), _shift(place, grid))
        for place, name in enumerate(grid.names[: SERIES + MOST_GREY])
    ]
    series, grey = named[:SERIES], named[SERIES:]
    plot = _plot(grid, [each.line for each in named], [each.name for each in series], width)
    parts = [caption(grid.confidence, grid.quantity, width), *frame(plot, grid)]
    parts += [_grey(each, plot) for each in grey]
    for each in reversed(series):
        parts.append(_drawn(each, plot, grid, level))
    parts += _names(series, grey, len(grid.names) - len(series), plot, width)
    notes = list(_notes(grid, len(named), plot))
    under = [line for sentence in notes for line in wrapped(sentence, width)]
    bottom = TOP + HEIGHT + 26
    parts += note(bottom + NOTE, under)
    height = bottom + NOTE * len(under) + 8
    return document(prefix, grid.title, _described(grid, level, notes), (width, height), parts)


def _shift(place: int, grid: Grid) -> float:
    """Return how far the whiskers of a line are beside their step."""
    shown = min(len(grid.names), SERIES)
    return APART * (place - (shown - 1) / 2) if len(grid.steps) <= MOST_WHISKERS else 0.0


def _plot(
    grid: Grid,
    lines: Sequence[Sequence[tuple[int, Interval]]],
    names: Sequence[str],
    width: int,
) -> Plot:
    low, high = with_zero(*ends([interval for line in lines for _, interval in line]))
    y = upright(low, high, TOP + HEIGHT, TOP, 5)
    others = [f"{len(grid.names):,} others"] if len(grid.names) > SERIES else []
    longest = max(width_of(name) for name in (*names, *others)) + GAP + 20
    left = max(width_of(label) for _, label in y.ticks) + 8
    right = width - min(longest, width * 0.3)
    # Whiskers beside the first and the last step stay within the plot.
    edge = APART * SERIES / 2 + 4 if len(grid.steps) <= MOST_WHISKERS else 2.0
    return Plot(steps_axis(grid, left, right, edge), y, left, right)


def _grey(series: Series, plot: Plot) -> Element:
    points = [(plot.x.at(step), plot.y.at(interval.value)) for step, interval in series.line]
    color = {"class": "rest", "color": GREY}
    return group(color, stroked("line", way(points), "1"), title=isolated(series.name))


def _drawn(series: Series, plot: Plot, grid: Grid, level: Level) -> Element:
    x = [plot.x.at(step) + series.shift for step, _ in series.line]
    points = [
        (at, plot.y.at(interval.value)) for at, (_, interval) in zip(x, series.line, strict=True)
    ]
    shapes: list[Element] = []
    if len(grid.steps) > MOST_WHISKERS:
        shapes += band(x, [interval for _, interval in series.line], plot.y)
    # Marks tell lines apart as well; a line with a band has none.
    dashed = dashes(series.style) if len(grid.steps) > MOST_WHISKERS else {}
    shapes.append(stroked("line", way(points), "1.75", stroke_linejoin="round", **dashed))
    digits = digits_of(level.intervals)
    for (at, y), (step, interval) in zip(points, series.line, strict=True):
        if len(grid.steps) > MOST_WHISKERS:
            continue
        value = f"{digits.write(interval.value)} ({digits.range(interval)})"
        written = f"{isolated(series.name)}, {isolated(grid.steps[step])}: {value}"
        top, bottom = number(plot.y.at(interval.upper)), number(plot.y.at(interval.lower))
        whisker = stroked("whisker", f"M{number(at)} {top}V{bottom}", "1.5")
        shapes.append(group({}, whisker, mark(series.style, at, y, 3.2), title=written))
    return group(colored(series.style), *shapes, title=isolated(series.name))


def _names(
    series: Sequence[Series], grey: Sequence[Series], others: int, plot: Plot, width: int
) -> Iterator[Element]:
    """Yield the mark and the name of each line in color, near its end, and that of the others."""
    labels = [(each.name, plot.y.at(each.line[-1][1].value), each.style) for each in series]
    if grey:
        last = sorted(plot.y.at(each.line[-1][1].value) for each in grey)
        labels.append((counted(others, "other"), last[len(last) // 2], -1))
    x = plot.right + GAP
    heights = spread([at for _, at, _ in labels], NAMES_APART, TOP + HEIGHT)
    for (name, _, style), height in zip(labels, heights, strict=True):
        if style >= 0:
            yield group(colored(style), mark(style, x, height))
            yield text(x + 9, height + 4, fitted(name, width - x - 9))
        else:
            line = element("path", d=f"M{number(x - 5)} {number(height)}h10", fill="none")
            line.set("stroke", "currentColor")
            yield group({"class": "rest", "color": GREY}, line)
            yield text(x + 9, height + 4, fitted(name, width - x - 9), kind=QUIET)


def _notes(grid: Grid, drawn: int, plot: Plot) -> Iterator[str]:
    if warning := cropped(plot.y):
        yield warning
    if drawn > SERIES:
        yield _greys(grid, drawn, len(grid.names) - SERIES)
    shown = sum(name < drawn for name, _ in grid.places)
    if grid.count > shown:
        yield (
            f"{grid.count - shown:,} of {counted(grid.count, 'group')} are not shown here;"
            f" {elsewhere(grid.tabled, grid.count)}."
        )


def _greys(grid: Grid, drawn: int, left: int) -> str:
    """Return how many lines are grey, and how far their values are off."""
    level = grid.levels[0]
    intervals = [
        interval for name in range(SERIES, drawn) for _, interval in grid.line(name, level)
    ]
    widest = max(intervals, key=lambda interval: interval.half_width)
    grey = drawn - SERIES
    others = f"the {left:,} others" if grey == left else f"{grey:,} of the {left:,} others"
    return (
        f"The {SERIES} with the largest values are in color; {others} are grey,"
        f" each value within {margin_of(widest)} at most, and they are not added up."
    )


def _described(grid: Grid, level: Level, notes: Sequence[str]) -> str:
    digits = digits_of(level.intervals)
    low, high = ends(level.intervals)
    extent = f"from {digits.write(low)} to {digits.write(high)} in all"
    what = f"{counted(len(grid.names), 'line')} over {counted(len(grid.steps), 'step')}"
    return " ".join((f"{what} at {isolated(level.name)}: values with intervals, {extent}.", *notes))
