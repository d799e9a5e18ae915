"""Draw the values of two keys, or their margins of error, as cells of a table in shades.

Each cell has its number where there is room, and a dashed outline if its interval includes 0.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from xml.etree.ElementTree import Element

from ....figures import percent
from ..drawing.lettering import fitted, width_of, wrapped
from ..drawing.marks import HEAT, heated
from ..drawing.messages import margin_of
from ..drawing.numbers import Digits, counted, digits_of
from ..drawing.svg import (
    NARROW,
    NOTE,
    QUIET,
    document,
    element,
    group,
    isolated,
    note,
    text,
)
from ..drawing.tables import elsewhere
from ..drawing.values import Interval, ends
from .grids import Grid

TOP = 64
CELL = 30
GAP = 2
WIDEST = 96.0
SWATCH = 26
MOST_ROWS = 40
LEAST = 22.0
"""Smallest width of a column; of more columns than fit the first are drawn."""

OPEN = "Dashed: the interval includes 0."


@dataclass(frozen=True)
class Cells:
    """Hold what the cells show: numbers from ``low`` to ``high`` with their digits.

    ``columns`` are ``shown`` steps or names, each ``side`` wide from ``left``; ``rows`` the others.
    """

    grid: Grid
    margins: bool
    turned: bool
    columns: tuple[str, ...]
    rows: tuple[str, ...]
    left: float
    side: float
    low: float
    high: float
    digits: Digits

    def interval(self, row: int, column: int) -> Interval | None:
        """Return the interval of a cell; None for a group that was not released."""
        at = (row, column) if self.turned else (column, row)
        place = self.grid.places.get(at)
        return None if place is None else self.grid.levels[0].intervals[place]

    def number(self, own: Interval) -> float:
        """Return the number whose shade a cell has."""
        return own.half_width if self.margins else own.value

    def written(self, own: Interval) -> str:
        """Return the number that is in a cell."""
        return margin_of(own) if self.margins else self.digits.write(own.value)

    @cached_property
    def named(self) -> bool:
        """Return True if there is room for the names of columns, and not for numbers alone."""
        return all(width_of(column) <= self.side - 4 for column in self.columns)

    @cached_property
    def numbered(self) -> bool:
        """Return True if there is room for the numbers of all cells."""
        numbers = (self.written(own) for own in self.grid.levels[0].intervals)
        return all(width_of(number) <= self.side - 2 for number in numbers)

    def shade(self, own: Interval) -> int:
        """Return the shade of a cell, from 0 for the lowest numbers to ``HEAT`` - 1."""
        if self.high <= self.low:
            return 0
        part = (self.number(own) - self.low) / (self.high - self.low)
        return min(int(part * HEAT), HEAT - 1)


def heat_map(grid: Grid, prefix: str, width: int = NARROW) -> str:
    """Return the chart of the values of a grid at its first level."""
    return _drawn(_cells(grid, width, margins=False), prefix, width)


def margin_map(grid: Grid, prefix: str, width: int = NARROW) -> str:
    """Return the chart of the margins of error of a grid at its first level."""
    return _drawn(_cells(grid, width, margins=True), prefix, width)


def includes_zero(own: Interval) -> bool:
    """Return True if an interval includes 0, or ends there."""
    return own.lower <= 0 <= own.upper


def _cells(grid: Grid, width: int, *, margins: bool) -> Cells:
    """Return the cells; the key with more values has the rows."""
    turned = len(grid.names) > len(grid.steps)
    columns, rows = (grid.steps, grid.names) if turned else (grid.names, grid.steps)
    left = min(max(width_of(row) for row in rows), width * 0.3) + 10
    most = int((width - left) // LEAST)
    columns, rows = columns[:most], rows[:MOST_ROWS]
    side = min((width - left) / len(columns), WIDEST)
    level = grid.levels[0].intervals
    numbers = [own.half_width for own in level] if margins else [own.value for own in level]
    low, high = min(numbers), max(numbers)
    return Cells(grid, margins, turned, columns, rows, left, side, low, high, digits_of(level))


def _drawn(cells: Cells, prefix: str, width: int) -> str:
    parts = [text(0, 12, fitted(_caption(cells), width), kind=QUIET), *_key(cells, width)]
    for place, column in enumerate(cells.columns):
        x = cells.left + cells.side * (place + 0.5)
        name = column if cells.named else f"{place + 1}"
        parts.append(text(x, TOP - 8, name, anchor="middle", kind=QUIET))
    for place, row in enumerate(cells.rows):
        y = TOP + CELL * place
        name = fitted(row, cells.left - 10)
        parts.append(text(cells.left - 10, y + CELL / 2 + 4, name, anchor="end"))
        for across in range(len(cells.columns)):
            parts += _cell(cells, place, across)
    notes = list(_notes(cells))
    under = [line for sentence in notes for line in wrapped(sentence, width)]
    bottom = TOP + CELL * len(cells.rows)
    parts += note(bottom + NOTE + 4, under)
    height = bottom + NOTE * len(under) + 10
    return document(prefix, cells.grid.title, _described(cells, notes), (width, height), parts)


def _cell(cells: Cells, row: int, column: int) -> Iterator[Element]:
    own = cells.interval(row, column)
    if own is None:
        return
    x, y = cells.left + cells.side * column, TOP + CELL * row
    inner = {"x": x + GAP / 2, "y": y + GAP / 2, "width": cells.side - GAP, "height": CELL - GAP}
    shapes = [_shaded(cells.shade(own), inner)]
    value = f"{cells.digits.write(own.value)} ({cells.digits.range(own)})"
    names = f"{isolated(cells.rows[row])}, {isolated(cells.columns[column])}"
    yield group(heated(cells.shade(own)), *shapes, title=f"{names}: {value}")
    if includes_zero(own):
        around = {
            "x": x + GAP,
            "y": y + GAP,
            "width": cells.side - 2 * GAP,
            "height": CELL - 2 * GAP,
        }
        yield _outline(around)
    if cells.numbered:
        number = cells.written(own)
        yield text(x + cells.side / 2, y + CELL / 2 + 4, number, anchor="middle")


def _shaded(shade: int, at: Mapping[str, float]) -> Element:
    """Return a cell; without the stylesheet it is faint, since texts of any color stand on it."""
    opacity = f"{0.25 * (shade + 1) / HEAT:.2f}"
    drawn = _rectangle(at, "cell", "currentColor")
    drawn.set("fill-opacity", opacity)
    return drawn


def _outline(at: Mapping[str, float]) -> Element:
    drawn = _rectangle(at, "open", "none")
    drawn.attrib.update({"stroke": "currentColor", "stroke-width": "1.5"})
    drawn.set("stroke-dasharray", "4 3")
    return drawn


def _rectangle(at: Mapping[str, float], kind: str, fill: str) -> Element:
    x, y, width, height = (at[name] for name in ("x", "y", "width", "height"))
    return element("rect", class_=kind, fill=fill, x=x, y=y, width=width, height=height)


def _key(cells: Cells, width: int) -> Iterator[Element]:
    """Yield the shades with the numbers at both ends, and the outline of an open interval."""
    low, high = _written_ends(cells)
    yield text(0, 34, low, kind=QUIET)
    x = width_of(low) + 8
    several = cells.high > cells.low
    for shade in range(HEAT if several else 1):
        yield group(heated(shade), _shaded(shade, {"x": x, "y": 24, "width": SWATCH, "height": 12}))
        x += SWATCH
    if several:
        yield text(x + 8, 34, high, kind=QUIET)
    at = x + (width_of(high) if several else 0) + 24
    if at + SWATCH + width_of("includes 0") + 8 <= width:
        yield _outline({"x": at, "y": 24, "width": SWATCH, "height": 12})
        yield text(at + SWATCH + 8, 34, "includes 0", kind=QUIET)


def _written_ends(cells: Cells) -> tuple[str, str]:
    """Return the smallest and the largest number as cells have them."""
    ordered = sorted(cells.grid.levels[0].intervals, key=cells.number)
    return cells.written(ordered[0]), cells.written(ordered[-1])


def _caption(cells: Cells) -> str:
    unit, at = cells.grid.quantity, percent(cells.grid.confidence)
    if cells.margins:
        return f"Margins of error at {at}{', ' if unit else ''}{unit}"
    return f"{unit[:1].upper()}{unit[1:]}" if unit else "Values"


def _notes(cells: Cells) -> Iterator[str]:
    level = cells.grid.levels[0]
    if not cells.named:
        listed = (f"{place} {isolated(name)}" for place, name in enumerate(cells.columns, 1))
        yield f"Columns: {'; '.join(listed)}."
    if not cells.numbered:
        yield "The numbers of cells are in the table."
    open_ = sum(includes_zero(own) for own in level.intervals)
    if open_:
        of = counted(len(level.intervals), "interval")
        verb = "does" if open_ == 1 else "do"
        yield f"{OPEN} {open_:,} of {of} at {percent(cells.grid.confidence)} {verb}."
    if len(cells.grid.levels) > 1:
        yield (
            f"These are the numbers of {isolated(level.name)}, the most accurate of"
            f" {len(cells.grid.levels)} levels."
        )
    drawn = sum(
        cells.interval(row, column) is not None
        for row in range(len(cells.rows))
        for column in range(len(cells.columns))
    )
    if cells.grid.count > drawn:
        yield (
            f"{cells.grid.count - drawn:,} of {counted(cells.grid.count, 'group')} are not shown"
            f" here; {elsewhere(cells.grid.tabled, cells.grid.count)}."
        )


def _described(cells: Cells, notes: list[str]) -> str:
    low, high = ends(cells.grid.levels[0].intervals)
    what = "Margins of error" if cells.margins else "Values"
    size = f"{counted(len(cells.rows), 'row')} and {counted(len(cells.columns), 'column')}"
    extent = f"intervals from {cells.digits.write(low)} to {cells.digits.write(high)} in all."
    return " ".join((f"{what} in {size}, {extent}", *notes))
