"""Draw a stream as the value of each step, and the running totals in a second panel below.

Both have the same steps on one axis.  A value is a total less the one before, so that the first
step of a range that begins later has a total and no value.
"""

import itertools
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from ....errors import NotDrawable
from ..band import NONE, Frame, Stream, checked, described, frame_of, panel_of
from ..band import rows as band_rows
from ..drawing.svg import NARROW, document, element, nothing, number
from ..drawing.values import Table

APART = 18.0


@dataclass(frozen=True)
class Panels:
    """Hold a stream's values of steps and its running totals, at the same levels."""

    title: str
    values: Stream
    totals: Stream


def values_and_totals(panels: Panels, prefix: str, width: int = NARROW) -> str:
    """Return the chart.  Raises ``NotDrawable`` as for one panel, or for steps without a total."""
    _checked(panels)
    both = [part for part in (panels.values, panels.totals) if part.steps and part.levels]
    if not both:
        return nothing(prefix, panels.title, NONE, width)
    frames = [frame_of(part, width) for part in both]
    frame = Frame(
        max(each.left for each in frames),
        min(each.right for each in frames),
        min(each.first for each in frames),
        max(each.last for each in frames),
    )
    parts: list[Element] = []
    words, y = [], 0.0
    for part in both:
        panel = panel_of(part, width, frame)
        parts.append(element("g", *panel.parts, transform=f"translate(0 {number(y)})"))
        words.append(described(part, panel.notes, part.quantity))
        y += panel.height + APART
    return document(prefix, panels.title, " ".join(words), (width, y - APART), parts)


def rows(panels: Panels) -> Table:
    """Return the same numbers: one row per step, its value at each level and then its total."""
    _checked(panels)
    values, totals = band_rows(panels.values), band_rows(panels.totals)
    known = {row[0]: row[1:] for row in values.rows}
    none = ("",) * (len(values.head) - 1)
    head = (
        totals.head[0],
        *values.head[1:],
        *(_total(name) for name in totals.head[1:]),
    )
    body = tuple((row[0], *known.get(row[0], none), *row[1:]) for row in totals.rows)
    return Table(panels.title, head, body, frozenset(range(len(head))))


def _total(name: str) -> str:
    """Return the head of a column of totals: those of values have the same."""
    level, colon, column = name.rpartition(": ")
    return f"{level}{colon}total" if column == "value" else f"{level}{colon}total, {column}"


def _checked(panels: Panels) -> None:
    for part in (panels.values, panels.totals):
        checked(part)
    steps = (
        set(itertools.zip_longest(part.steps, part.days)) for part in (panels.values, panels.totals)
    )
    values, totals = steps
    if not values <= totals:
        raise NotDrawable("Each step that has a value needs a total, of the same day.")
