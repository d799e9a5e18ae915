"""Groups, their values and the intervals around them, at one or several levels.

Lines of one level are groups; of several, a group has a line for each level under its name.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from penstock.figures import percent
from penstock.web.charts.axes import Axis, linear, with_zero
from penstock.web.charts.lettering import fitted, width_of, wrapped
from penstock.web.charts.marks import colored, mark, styles
from penstock.web.charts.numbers import Digits, counted, digits_of
from penstock.web.charts.svg import (
    NARROW,
    NOTE,
    QUIET,
    STRONG,
    document,
    isolated,
    note,
    nothing,
    number,
    rule,
    text,
    told,
)
from penstock.web.charts.values import Interval, Level, Table, ends, of_one_length

LINE = 20
HEADING = 26
BAR = 8
GAP = 10
EDGE = 36
TOP = 44
MOST_LINES = 60
NONE = "Nothing has been released yet."


@dataclass(frozen=True)
class Groups:
    """What was released of some groups: at each level an interval for every key.

    ``quantity`` says what the numbers count; ``confidence`` is that of the intervals.
    """

    title: str
    keys: tuple[str, ...]
    levels: tuple[Level, ...]
    quantity: str = ""
    confidence: float = 0.95


@dataclass(frozen=True)
class Line:
    """One bar: its name, what it says, and how it is written and marked."""

    name: str
    interval: Interval
    digits: Digits
    style: int

    def sentence(self, group: str) -> str:
        """What the bar shows, with the numbers that the table has."""
        value, range_ = self.digits.write(self.interval.value), self.digits.range(self.interval)
        return f"{isolated(group)}: {value} ({range_})"


@dataclass(frozen=True)
class Columns:
    """Names on the left, an axis in the middle, numbers on the right."""

    names: float
    axis: Axis
    values: float
    ranges: float
    width: int


def bars_with_intervals(groups: Groups, prefix: str, width: int = NARROW) -> str:
    """The picture, with a line for at most ``MOST_LINES`` intervals; it says what it leaves out.

    Raises ``InvalidInput`` where a level has not one interval for each key.
    """
    of_one_length(groups.keys, groups.levels, "groups")
    if not groups.keys or not groups.levels:
        return nothing(prefix, groups.title, NONE, width)
    shown = min(len(groups.keys), max(MOST_LINES // len(groups.levels), 1))
    lines = [_lines(groups, place) for place in range(shown)]
    several = len(groups.levels) > 1
    columns = columns_for([line for group in lines for line in group], width, indent=several)
    parts, bottom = list(caption(groups.confidence, groups.quantity)), float(TOP)
    for key, group in zip(groups.keys, lines, strict=False):
        if several:
            bottom += HEADING
            name = fitted(key, width - 2, bold=True)
            parts.append(text(0, bottom - 6, name, kind=STRONG))
        for line in group:
            group_name = f"{key}, {line.name}" if several else key
            parts.append(drawn(line, columns, bottom + LINE / 2, line.sentence(group_name)))
            bottom += LINE
    parts[:0] = scale(columns.axis, bottom)
    notes = list(_notes(groups, shown, columns.axis))
    under = [line for sentence in notes for line in wrapped(sentence, width)]
    parts.append(note(bottom + NOTE + 4, under))
    height = bottom + NOTE * len(under) + (10 if under else 2)
    return document(prefix, groups.title, _described(groups, notes), (width, height), parts)


def rows(groups: Groups) -> Table:
    """The same numbers: a row for every group, at each level its value and its interval."""
    of_one_length(groups.keys, groups.levels, "groups")
    return level_table(groups.title, "group", groups.keys, groups.levels, groups.confidence)


def level_table(
    title: str, what: str, keys: tuple[str, ...], levels: tuple[Level, ...], confidence: float
) -> Table:
    """Keys down, levels across, each with its value and its interval's ends."""
    several, at = len(levels) > 1, percent(confidence)
    columns = ("value", f"lower {at}", f"upper {at}")
    head = tuple(
        f"{level.name}: {column}" if several else column for level in levels for column in columns
    )
    digits = [digits_of(level.intervals) for level in levels]
    body = tuple(
        (
            key,
            *(
                written.write(number)
                for level, written in zip(levels, digits, strict=True)
                for one in (level.intervals[place],)
                for number in (one.value, one.lower, one.upper)
            ),
        )
        for place, key in enumerate(keys)
    )
    return Table(title, (what, *head), body, frozenset(range(1, len(head) + 1)))


def columns_for(lines: list[Line], width: int, *, indent: bool) -> Columns:
    """Room for the longest name and number, within limits, and the axis in what is left."""
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


def caption(confidence: float, quantity: str = "") -> Iterator[str]:
    """What a bar and its whisker are."""
    what = f"{quantity}, with" if quantity else "Values with"
    yield text(0, 12, f"{what} {percent(confidence)} intervals", kind=QUIET)


def scale(axis: Axis, bottom: float) -> Iterator[str]:
    """Ticks above the lines, and thin rules down through them."""
    for value, label in axis.ticks:
        x = axis.at(value)
        yield rule(x, TOP - 4, x, bottom, "grid" if value else "axis")
        yield text(x, TOP - 10, label, anchor="middle", kind=QUIET)


def drawn(line: Line, columns: Columns, y: float, sentence: str) -> str:
    """A name, a bar from zero (where the axis has it), an interval, a value."""
    axis, one = columns.axis, line.interval
    left, x, right = axis.at(one.lower), axis.at(one.value), axis.at(one.upper)
    whisker = (
        f'<path class="whisker" fill="none" stroke="currentColor" stroke-width="1.5"'
        f' d="M{number(left)} {number(y)}H{number(right)}M{number(left)} {number(y - 4)}v8'
        f'M{number(right)} {number(y - 4)}v8"/>'
    )
    bar = ""
    if axis.low <= 0 <= axis.high:
        zero = axis.at(0)
        start, length = min(zero, x), abs(x - zero)
        bar = (
            f'<rect class="bar" fill="currentColor" fill-opacity="0.25" x="{number(start)}"'
            f' y="{number(y - BAR / 2)}" width="{number(length)}" height="{BAR}"/>'
        )
    marks = told(sentence, colored(line.style), [bar, whisker, mark(line.style, x, y)])
    name = fitted(line.name, columns.names)
    value = line.digits.write(one.value)
    texts = [
        text(columns.names, y + 4, name, anchor="end"),
        marks,
        text(columns.values, y + 4, value, anchor="end", kind=STRONG),
    ]
    if columns.ranges:
        range_ = line.digits.range(one)
        texts.append(text(columns.width, y + 4, range_, anchor="end", kind=QUIET))
    return "".join(texts)


def cropped(axis: Axis) -> str:
    """The sentence that an axis without zero owes its reader; empty with zero on it."""
    if axis.low <= 0 <= axis.high:
        return ""
    return f"The axis goes from {axis.ticks[0][1]} to {axis.ticks[-1][1]}: zero is not on it."


def _lines(groups: Groups, place: int) -> list[Line]:
    several = len(groups.levels) > 1
    found = zip(groups.levels, styles(groups.levels), strict=True)
    return [
        Line(
            level.name if several else groups.keys[place],
            level.intervals[place],
            digits_of(level.intervals),
            style,
        )
        for level, style in found
    ]


def _notes(groups: Groups, shown: int, axis: Axis) -> Iterator[str]:
    if warning := cropped(axis):
        yield warning
    if left := len(groups.keys) - shown:
        yield (
            f"{left:,} of {counted(len(groups.keys), 'group')} {'is' if left == 1 else 'are'}"
            " not shown here; the table has all."
        )


def _described(groups: Groups, notes: list[str]) -> str:
    names = ", ".join(isolated(level.name) for level in groups.levels)
    low, high = ends([one for level in groups.levels for one in level.intervals])
    digits = digits_of([one for level in groups.levels for one in level.intervals])
    told_levels = f"{counted(len(groups.levels), 'level')} ({names})"
    extent = f"from {digits.write(low)} to {digits.write(high)} in all."
    what = f"values with {percent(groups.confidence)} intervals"
    first = f"{counted(len(groups.keys), 'group')} at {told_levels}: {what}, {extent}"
    return " ".join((first, *notes))
