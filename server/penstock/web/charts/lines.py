"""Draw the lines of a chart: a name, a dot with its interval on a shared axis, a value."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ...figures import percent
from .drawing.axes import Axis, linear, with_zero
from .drawing.lettering import fitted, width_of
from .drawing.marks import mark, shaded
from .drawing.numbers import Digits
from .drawing.svg import (
    QUIET,
    STRONG,
    group,
    isolated,
    number,
    rule,
    stroked,
    text,
)
from .drawing.values import Interval, ends

LINE = 20
GAP = 10
EDGE = 36
TOP = 44


@dataclass(frozen=True)
class Line:
    """Represent one line: name, interval, digits of its numbers, and style of its mark."""

    name: str
    interval: Interval
    digits: Digits
    style: int

    def sentence(self, group: str) -> str:
        """Return the text of the dot's tooltip, with the same numbers as the table."""
        value, range_ = self.digits.write(self.interval.value), self.digits.range(self.interval)
        return f"{isolated(group)}: {value} ({range_})"


@dataclass(frozen=True)
class Columns:
    """Hold the layout: names on the left, an axis in the middle, numbers on the right."""

    names: float
    axis: Axis
    values: float
    ranges: float
    width: int


def columns_for(lines: Sequence[Line], width: int, *, indent: bool = False) -> Columns:
    """Return columns for the longest name and number, within limits, and the axis between."""
    wide = width >= 560
    margin = 12.0 if indent else 0.0
    longest = max(width_of(line.name) for line in lines) + margin
    names = min(longest, width * 0.3)
    values = max(width_of(line.digits.write(line.interval.value), bold=True) for line in lines)
    ranges = max(width_of(line.digits.range(line.interval)) for line in lines) if wide else 0.0
    if ranges > width * 0.35:
        ranges = 0.0
    right = width - (ranges + GAP if ranges else 0)
    low, high = with_zero(*ends([line.interval for line in lines]))
    axis = linear(low, high, max(names + GAP + 6, EDGE), right - values - GAP - 6, 8 if wide else 4)
    return Columns(names, axis, right, ranges, width)


def caption(confidence: float, quantity: str, width: float) -> Element:
    """Return the caption above a chart: the quantity and the confidence of the intervals."""
    ending = f" with {percent(confidence)} confidence intervals"
    name = fitted(quantity, width - width_of(ending) - 6)
    first = f"{name[:1].upper()}{name[1:]}," if quantity else "Values"
    return text(0, 12, first + ending, kind=QUIET)


def scale(axis: Axis, spans: Sequence[tuple[float, float]]) -> Iterator[Element]:
    """Yield tick labels above the lines, and a thin rule per tick through each span."""
    for value, label in axis.ticks:
        x = axis.at(value)
        yield text(x, TOP - 10, label, anchor="middle", kind=QUIET)
        yield rule(x, TOP - 4, x, TOP)
        for top, bottom in spans:
            yield rule(x, top, x, bottom, "grid" if value else "axis")


def drawn(line: Line, columns: Columns, y: float, sentence: str) -> Iterator[Element]:
    """Yield a line's name, its dot with its interval, and its value."""
    axis, interval = columns.axis, line.interval
    left, x, right = axis.at(interval.lower), axis.at(interval.value), axis.at(interval.upper)
    way = (
        f"M{number(left)} {number(y)}H{number(right)}"
        f"M{number(left)} {number(y - 4)}v8M{number(right)} {number(y - 4)}v8"
    )
    shapes = (stroked("whisker", way, "1.5"), mark(line.style, x, y))
    yield text(columns.names, y + 4, fitted(line.name, columns.names), anchor="end")
    yield group(shaded(line.style), *shapes, title=sentence)
    value = line.digits.write(interval.value)
    yield text(columns.values, y + 4, value, anchor="end", kind=STRONG)
    if columns.ranges:
        range_ = line.digits.range(interval)
        yield text(columns.width, y + 4, range_, anchor="end", kind=QUIET)


def cropped(axis: Axis) -> str:
    """Return a warning if zero is not on the axis, else an empty text."""
    return "" if axis.low <= 0 <= axis.high else "Zero is not on this axis."
