"""Draw values of groups with their confidence intervals, at one or several levels.

With one level there is one line per group.  With several levels, each group is a heading with
one line per level under it.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from ...figures import percent
from .drawing.axes import Axis
from .drawing.lettering import fitted, wrapped
from .drawing.marks import styles
from .drawing.numbers import counted, digits_of
from .drawing.svg import (
    NARROW,
    NOTE,
    STRONG,
    document,
    isolated,
    note,
    nothing,
    text,
)
from .drawing.tables import elsewhere, level_table
from .drawing.values import Level, Table, ends, of_one_length
from .lines import LINE, TOP, Line, caption, columns_for, cropped, drawn, scale

HEADING = 26
MOST_LINES = 60
NONE = "Nothing has been released yet."


@dataclass(frozen=True)
class Groups:
    """Hold the released values of groups: one interval per key at each level.

    ``quantity`` says what the numbers count.  ``confidence`` is that of the intervals.
    ``total`` is the number of all groups if these are only the first of more; ``none`` is what is
    said where there is none.
    """

    title: str
    keys: tuple[str, ...]
    levels: tuple[Level, ...]
    quantity: str = ""
    confidence: float = 0.95
    total: int = 0
    none: str = NONE

    @property
    def count(self) -> int:
        """Return the number of all groups."""
        return max(self.total, len(self.keys))


def dots_with_whiskers(groups: Groups, prefix: str, width: int = NARROW) -> str:
    """Return the chart of at most ``MOST_LINES`` intervals; a note says how many are left out.

    Raises ``NotDrawable`` if a level does not have one interval for each key.
    """
    of_one_length(groups.keys, groups.levels, "groups")
    if not groups.keys or not groups.levels:
        return nothing(prefix, groups.title, groups.none, width)
    shown = min(len(groups.keys), max(MOST_LINES // len(groups.levels), 1))
    lines = _lines(groups, shown)
    several = len(groups.levels) > 1
    columns = columns_for([line for group in lines for line in group], width, indent=several)
    parts, spans, bottom = [caption(groups.confidence, groups.quantity, width)], [], float(TOP)
    for place, (key, group) in enumerate(zip(groups.keys, lines, strict=False)):
        if several:
            bottom += HEADING if place else HEADING - 6
            parts.append(text(0, bottom - 6, fitted(key, width - 2, bold=True), kind=STRONG))
        spans.append((bottom, bottom + LINE * len(group)))
        for line in group:
            group_name = f"{key}, {line.name}" if several else key
            parts += drawn(line, columns, bottom + LINE / 2, line.sentence(group_name))
            bottom += LINE
    parts[1:1] = scale(columns.axis, spans if several else [(TOP, bottom)])
    notes = list(_notes(groups, shown, columns.axis))
    under = [line for sentence in notes for line in wrapped(sentence, width)]
    parts += note(bottom + NOTE + 4, under)
    height = bottom + NOTE * len(under) + (10 if under else 2)
    return document(prefix, groups.title, _described(groups, notes), (width, height), parts)


def rows(groups: Groups) -> Table:
    """Return the same numbers: one row per group, with the value and interval at each level."""
    of_one_length(groups.keys, groups.levels, "groups")
    return level_table(groups.title, "group", groups.keys, groups.levels, groups.confidence)


def _lines(groups: Groups, shown: int) -> list[list[Line]]:
    """Return the lines of each group that is shown, one per level."""
    several = len(groups.levels) > 1
    written = [digits_of(level.intervals) for level in groups.levels]
    looks = list(zip(written, styles(groups.levels), strict=True))
    return [
        [
            Line(level.name if several else key, level.intervals[place], digits, style)
            for level, (digits, style) in zip(groups.levels, looks, strict=True)
        ]
        for place, key in enumerate(groups.keys[:shown])
    ]


def _notes(groups: Groups, shown: int, axis: Axis) -> Iterator[str]:
    if warning := cropped(axis):
        yield warning
    if left := groups.count - shown:
        yield (
            f"{left:,} of {counted(groups.count, 'group')} {'is' if left == 1 else 'are'}"
            f" not shown here; {elsewhere(len(groups.keys), groups.count)}."
        )


def _described(groups: Groups, notes: list[str]) -> str:
    names = ", ".join(isolated(level.name) for level in groups.levels)
    low, high = ends([interval for level in groups.levels for interval in level.intervals])
    digits = digits_of([interval for level in groups.levels for interval in level.intervals])
    level_names = f"{counted(len(groups.levels), 'level')} ({names})"
    extent = f"from {digits.write(low)} to {digits.write(high)} in all."
    what = f"values with {percent(groups.confidence)} confidence intervals"
    first = f"{counted(groups.count, 'group')} at {level_names}: {what}, {extent}"
    return " ".join((first, *notes))
