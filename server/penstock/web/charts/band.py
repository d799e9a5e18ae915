"""Draw a stream's numbers over its steps, with a band of confidence intervals for each level."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date
from xml.etree.ElementTree import Element

from ...errors import NotDrawable
from .drawing.axes import Axis, counting, upright, with_zero
from .drawing.calendar import dated, years_of
from .drawing.lettering import fitted, spread, width_of, wrapped
from .drawing.marks import dashes, mark, shaded, styles
from .drawing.numbers import Digits, counted, digits_of
from .drawing.svg import (
    NARROW,
    NOTE,
    QUIET,
    document,
    element,
    group,
    isolated,
    note,
    nothing,
    number,
    rule,
    stroked,
    text,
)
from .drawing.tables import level_table
from .drawing.values import Interval, Level, Table, ends, of_one_length
from .lines import caption, cropped

TOP = 30
HEIGHT = 220
NAMES_APART = 16
MOST_POINTS = 240
GAP = 10
NONE = "No step has been released yet."


@dataclass(frozen=True)
class Stream:
    """Hold numbers at some steps (increasing whole numbers): one per step at each level.

    ``days`` are those of the steps, in UTC, where they are known; then the axis is one of days.
    """

    title: str
    steps: tuple[int, ...]
    levels: tuple[Level, ...]
    quantity: str = ""
    step: str = "step"
    confidence: float = 0.95
    days: tuple[date, ...] = ()

    def name_of(self, place: int) -> str:
        """Return how a step is called: by its number, and by its day if that is known."""
        number = f"{self.step} {self.steps[place]:,}"
        return f"{self.days[place].isoformat()} ({number})" if self.days else number

    def numbers(self) -> tuple[int, ...]:
        """Return the numbers of the steps on the axis."""
        return tuple(day.toordinal() for day in self.days) if self.days else self.steps


@dataclass(frozen=True)
class Frame:
    """Hold what panels above one another share: the sides of the plot, and the steps between.

    Steps are by their numbers on the axis.
    """

    left: float
    right: float
    first: int
    last: int


@dataclass(frozen=True)
class Panel:
    """Hold a drawn panel with its height, and what its notes say."""

    parts: list[Element]
    height: float
    notes: list[str]


@dataclass(frozen=True)
class Plot:
    """Hold both axes and the steps that are drawn; ``places`` are these steps' indices.

    ``steps`` are their numbers on the axis, which ``name`` says what they are of.
    """

    x: Axis
    y: Axis
    places: tuple[int, ...]
    steps: tuple[int, ...]
    name: str


def line_with_band(stream: Stream, prefix: str, width: int = NARROW) -> str:
    """Return the chart; of many steps it draws some, at equal distances, and says so.

    Raises ``NotDrawable`` if steps do not increase, or if a level lacks a number for a step.
    """
    checked(stream)
    if not stream.steps or not stream.levels:
        return nothing(prefix, stream.title, NONE, width)
    panel = panel_of(stream, width, frame_of(stream, width))
    size = (width, panel.height)
    return document(prefix, stream.title, described(stream, panel.notes), size, panel.parts)


def frame_of(stream: Stream, width: int) -> Frame:
    """Return the frame that a panel needs alone: room for its numbers and the names of levels."""
    y = _heights(stream)
    left = max(width_of(label) for _, label in y.ticks) + 8
    names = max(width_of(level.name) for level in stream.levels) + GAP + 16
    numbers = stream.numbers()
    return Frame(left, width - min(names, width * 0.3), numbers[0], numbers[-1])


def panel_of(stream: Stream, width: int, frame: Frame) -> Panel:
    """Return a panel of at least one step and level, within a frame."""
    styled = list(zip(stream.levels, styles(stream.levels), strict=True))
    plot = _plot(stream, frame)
    parts = list(_frame(stream, plot, width))
    # The least accurate level is drawn first, so that narrow bands lie on top of wide ones.
    ordered = sorted(styled, key=lambda pair: -pair[0].intervals[-1].half_width)
    parts += [_band(level, style, plot) for level, style in ordered]
    for order, (level, style) in enumerate(ordered, 1 - len(ordered)):
        parts.append(_line(level, shaded(style), dashes(-order), plot, stream.name_of(-1)))
    parts += _names(styled, plot, width)
    notes = list(_notes(stream, plot))
    under = [line for sentence in notes for line in wrapped(sentence, width)]
    bottom = TOP + HEIGHT + 44
    parts += note(bottom + NOTE, under)
    return Panel(parts, bottom + NOTE * len(under) + (8 if under else 0), notes)


def rows(stream: Stream) -> Table:
    """Return the same numbers: one row per step, with the number and its interval at each level."""
    checked(stream)
    steps = tuple(f"{step:,}" for step in stream.steps)
    if stream.days:
        steps = tuple(stream.name_of(place) for place in range(len(steps)))
    what = "day (UTC)" if stream.days else stream.step
    table = level_table(stream.title, what, steps, stream.levels, stream.confidence)
    return Table(table.caption, table.head, table.rows, table.right | {0})


def checked(stream: Stream) -> None:
    """Raise ``NotDrawable`` unless steps increase, and all of them have numbers.

    So do their days, of which there is one for each or none.
    """
    of_one_length(stream.steps, stream.levels, "steps")
    for before, after in itertools.pairwise(stream.steps):
        if after <= before:
            raise NotDrawable(f"Steps must increase, but {after:,} follows {before:,}.")
    if stream.days and len(stream.days) != len(stream.steps):
        raise NotDrawable(f"{len(stream.steps):,} steps have {len(stream.days):,} days.")
    for earlier, later in itertools.pairwise(stream.days):
        if later <= earlier:
            raise NotDrawable(f"Days must increase, but {later} follows {earlier}.")


def _heights(stream: Stream) -> Axis:
    low, high = with_zero(
        *ends([interval for level in stream.levels for interval in level.intervals])
    )
    return upright(low, high, TOP + HEIGHT, TOP, 5)


def _plot(stream: Stream, frame: Frame) -> Plot:
    skip = -(-len(stream.steps) // MOST_POINTS)
    places = tuple(range(0, len(stream.steps), skip))
    if places[-1] != len(stream.steps) - 1:
        places = (*places, len(stream.steps) - 1)
    numbers = stream.numbers()
    steps = tuple(numbers[place] for place in places)
    sides = frame.left, frame.right
    if not stream.days:
        x, name = counting(frame.first, frame.last, *sides), stream.step
    else:
        first, last = date.fromordinal(frame.first), date.fromordinal(frame.last)
        x, name = dated(first, last, *sides), f"day (UTC), {years_of(first, last)}"
    return Plot(x, _heights(stream), places, steps, name)


def _frame(stream: Stream, plot: Plot, width: int) -> Iterator[Element]:
    yield caption(stream.confidence, stream.quantity, width)
    for value, label in plot.y.ticks:
        y = plot.y.at(value)
        yield rule(plot.x.start, y, plot.x.end, y, "grid" if value else "axis")
        yield text(plot.x.start - 8, y + 4, label, anchor="end", kind=QUIET)
    bottom = TOP + HEIGHT
    for value, label in plot.x.ticks:
        x = plot.x.at(value)
        yield rule(x, bottom, x, bottom + 5, "axis")
        yield text(x, bottom + 20, label, anchor="middle", kind=QUIET)
    middle = (plot.x.start + plot.x.end) / 2
    step = fitted(plot.name, plot.x.end - plot.x.start)
    yield text(middle, bottom + 38, step, anchor="middle", kind=QUIET)


def _way(plot: Plot, heights: Sequence[float]) -> str:
    points = (
        f"{number(plot.x.at(step))} {number(plot.y.at(height))}"
        for step, height in zip(plot.steps, heights, strict=True)
    )
    return "L".join(points)


def _band(level: Level, style: int, plot: Plot) -> Element:
    drawn = [level.intervals[place] for place in plot.places]
    lower = _way(plot, [interval.lower for interval in drawn])
    upper = _way(plot, [interval.upper for interval in drawn])
    back = "L".join(reversed(lower.split("L")))
    area = element(
        "path", class_="band", fill="currentColor", fill_opacity="0.14", d=f"M{upper}L{back}Z"
    )
    return group(shaded(style), area, stroked("edge", f"M{upper}M{lower}", "0.75"))


def _line(
    level: Level, color: dict[str, str], dashed: dict[str, str], plot: Plot, name: str
) -> Element:
    drawn = [level.intervals[place] for place in plot.places]
    last = drawn[-1]
    x, y = plot.x.at(plot.steps[-1]), plot.y.at(last.value)
    sentence = _sentence(level, name, last, digits_of(level.intervals))
    point = element("circle", class_="mark", fill="currentColor", cx=x, cy=y, r=3)
    if len(drawn) > 1:
        way = f"M{_way(plot, [interval.value for interval in drawn])}"
        shape = stroked("line", way, "2", stroke_linejoin="round", **dashed)
    else:
        top, bottom = number(plot.y.at(last.upper)), number(plot.y.at(last.lower))
        way = f"M{number(x - 4)} {top}h8m-4 0V{bottom}m-4 0h8"
        shape = stroked("whisker", way, "1.5")
    return group(color, point, shape, title=sentence)


def _sentence(level: Level, name: str, interval: Interval, digits: Digits) -> str:
    numbers = f"{digits.write(interval.value)} ({digits.range(interval)})"
    return f"{isolated(level.name)}, {name}: {numbers}"


def _names(styled: Sequence[tuple[Level, int]], plot: Plot, width: int) -> Iterator[Element]:
    """Yield each level's mark and name, near the height at which its line ends."""
    ends = [plot.y.at(level.intervals[-1].value) for level, _ in styled]
    x = plot.x.end + GAP + 6
    heights = spread(ends, NAMES_APART, TOP + HEIGHT)
    for (level, style), height in zip(styled, heights, strict=True):
        yield group(shaded(style), mark(style, x, height))
        yield text(x + 9, height + 4, fitted(level.name, width - x - 9))


def _notes(stream: Stream, plot: Plot) -> Iterator[str]:
    if warning := cropped(plot.y):
        yield warning
    if len(plot.places) < len(stream.steps):
        apart = plot.places[1] - plot.places[0]
        yield (
            f"Of {len(stream.steps):,} steps, one in {apart:,} and the last are drawn;"
            " the table has all."
        )


def described(stream: Stream, notes: Sequence[str], what: str = "Totals") -> str:
    """Return the description of a panel: how many steps it has, and its last numbers."""
    last = "; ".join(
        _sentence(level, stream.name_of(-1), level.intervals[-1], digits_of(level.intervals))
        for level in stream.levels
    )
    count = counted(len(stream.steps), "step")
    return " ".join((f"{what} over {count}. {last}.", *notes))
