"""Draw the values of two keys without an order: a panel of dots with whiskers for each of one.

Panels and their lines are in the order of their largest values.  The levels of a value are on one
line, the less accurate ones lighter and below.
"""

from collections.abc import Iterator
from xml.etree.ElementTree import Element

from ..drawing.axes import Axis, linear, with_zero
from ..drawing.lettering import fitted, width_of, wrapped
from ..drawing.marks import mark, shaded, styles
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
    rule,
    stroked,
    text,
)
from ..drawing.tables import elsewhere
from ..drawing.values import ends
from ..lines import caption, cropped
from .grids import Grid
from .panels import KEY, described, legend, rows_of_legend

HEADING = 26
SCALE = 22
BETWEEN = 20
LINE = 18
EACH = 9
"""Height of each further level of a value."""

MOST_PANELS, MOST_LINES = 12, 24
ORDER = "Panels and their lines are in the order of their largest values."


def panels_of_dots(grid: Grid, prefix: str, width: int = NARROW) -> str:
    """Return the chart of a grid without positions: a panel for each name, all on one axis."""
    shown, listed = min(len(grid.names), MOST_PANELS), min(len(grid.steps), MOST_LINES)
    across = (2 if shown == 4 else min(3, shown)) if width > NARROW else 1
    names = min(max(width_of(step) for step in grid.steps[:listed]), width * 0.3) + 10
    side = (width - names - across * BETWEEN) / across
    drawn = [
        interval
        for level in grid.levels
        for name in range(shown)
        for step, interval in grid.line(name, level)
        if step < listed
    ]
    low, high = with_zero(*ends(drawn))
    line = LINE + EACH * (len(grid.levels) - 1)
    several = len(grid.levels) > 1
    top = 24.0 + (KEY * rows_of_legend(grid, width) if several else 0)
    parts = [caption(grid.confidence, grid.quantity, width)]
    parts += legend(grid, width, 32) if several else ()
    each = HEADING + SCALE + line * listed + BETWEEN
    for name in range(shown):
        down, along = divmod(name, across)
        start = names + along * (side + BETWEEN)
        axis = linear(low, high, start + 8, start + side - 8, 4)
        above = top + down * each
        title = fitted(grid.names[name], side if along or across > 1 else width, bold=True)
        at = 0.0 if across == 1 else start + 8
        parts.append(text(at, above + 18, title, kind=STRONG))
        parts += _scale(axis, above + HEADING + SCALE, line * listed)
        parts += _panel(grid, name, listed, axis, (above + HEADING + SCALE, line))
        if not along:
            parts += _names(grid, listed, names - 10, above + HEADING + SCALE, line)
    bottom = top + -(-shown // across) * each
    notes = list(_notes(grid, shown, listed, axis))
    under = [line for sentence in notes for line in wrapped(sentence, width)]
    parts += note(bottom + 4, under)
    height = bottom + NOTE * len(under)
    return document(prefix, grid.title, described(grid, notes), (width, height), parts)


def _scale(axis: Axis, top: float, height: float) -> Iterator[Element]:
    for value, label in axis.ticks:
        x = axis.at(value)
        yield text(x, top - 10, label, anchor="middle", kind=QUIET)
        yield rule(x, top - 4, x, top + height, "grid" if value else "axis")


def _names(grid: Grid, listed: int, right: float, top: float, line: int) -> Iterator[Element]:
    for step in range(listed):
        y = top + line * (step + 0.5) + 4
        yield text(right, y, fitted(grid.steps[step], right), anchor="end")


def _panel(
    grid: Grid, name: int, listed: int, axis: Axis, place: tuple[float, int]
) -> Iterator[Element]:
    """Yield the dots of a panel whose lines begin at a height and have one."""
    top, line = place
    first = (line - EACH * (len(grid.levels) - 1)) / 2
    styled = list(enumerate(zip(grid.levels, styles(grid.levels), strict=True)))
    for order, (level, style) in reversed(styled):
        digits = digits_of(level.intervals)
        for step, own in grid.line(name, level):
            if step >= listed:
                continue
            y = top + line * step + first + EACH * order
            left, x, right = (axis.at(value) for value in (own.lower, own.value, own.upper))
            way = f"M{number(left)} {number(y)}H{number(right)}"
            way += f"M{number(left)} {number(y - 3)}v6M{number(right)} {number(y - 3)}v6"
            written = f"{digits.write(own.value)} ({digits.range(own)})"
            key = f"{isolated(grid.names[name])}, {isolated(grid.steps[step])}"
            at = f", {isolated(level.name)}" if len(styled) > 1 else ""
            title = f"{key}{at}: {written}"
            dot = mark(style, x, y, 3.4)
            yield group(shaded(style), stroked("whisker", way, "1.5"), dot, title=title)


def _notes(grid: Grid, shown: int, listed: int, axis: Axis) -> Iterator[str]:
    yield ORDER
    if warning := cropped(axis):
        yield warning
    drawn = sum(name < shown and step < listed for name, step in grid.places)
    if grid.count > drawn:
        yield (
            f"{grid.count - drawn:,} of {counted(grid.count, 'group')} are not shown here;"
            f" {elsewhere(grid.tabled, grid.count)}."
        )
