"""Draw values with their intervals as one self-contained SVG element.

Its text has the page's color (``currentColor``), so that it is readable on light and on dark
pages.  It has no styles and no scripts, which a content security policy might block.  The
standard library's ElementTree writes it and escapes every label.
"""

import math
import xml.etree.ElementTree as ET
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

from penstock_client._show.rounding import cut, fixed, printable

WIDTH = 680
LABELS = 170
LONGEST_LABEL = 24
RIGHT = 24
ROW = 22
TOP = 10
BOTTOM = 28
TICK_COUNT = 5
FAINT = 0.18
ACCENT = "#3b82f6"
"""A blue with a contrast of at least 3, as graphics need, to white and to dark gray."""


@dataclass(frozen=True)
class Mark:
    """Hold one row of the chart."""

    label: str
    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Axis:
    """Map numbers to positions between the left and the right edge of the plot."""

    low: float
    high: float
    ticks: tuple[float, ...]
    digits: int

    def x(self, value: float) -> str:
        """Return the horizontal position of ``value``, in units of the picture."""
        share = (value - self.low) / (self.high - self.low)
        return f"{LABELS + share * (WIDTH - LABELS - RIGHT):.1f}"


def chart(marks: Sequence[Mark], title: str, digits: int) -> str:
    """Return the SVG element, or an empty text if nothing can be drawn.

    ``digits`` is the number of decimals in the tooltips.
    """
    axis = _axis(marks)
    if axis is None:
        return ""
    height = TOP + ROW * len(marks) + BOTTOM
    rows = (
        _row(mark, axis, TOP + ROW * index + ROW // 2, digits) for index, mark in enumerate(marks)
    )
    picture = _element(
        "svg",
        _element("title", content=title),
        *_scale(axis, TOP + ROW * len(marks)),
        *rows,
        xmlns="http://www.w3.org/2000/svg",
        role="img",
        width=WIDTH,
        height=height,
        viewBox=f"0 0 {WIDTH} {height}",
        font_family="sans-serif",
        font_size=12,
        fill="currentColor",
    )
    return ET.tostring(picture, encoding="unicode")


def _element(tag: str, *parts: Element, content: str = "", **attributes: str | float) -> Element:
    """Return an element with ``parts`` in it, or text on one line."""
    named = {name.replace("_", "-"): str(value) for name, value in attributes.items()}
    element = Element(tag, named)
    element.text = printable(content) or None
    element.extend(parts)
    return element


def _axis(marks: Sequence[Mark]) -> Axis | None:
    """Return an axis with round ticks that covers all intervals, or None if that is impossible."""
    ends = [end for mark in marks for end in (mark.lower, mark.upper)]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    span = high - low
    raw = span / TICK_COUNT
    # Beyond these limits floats overflow, underflow, or cannot distinguish the ticks.
    if not 1e-300 < span < 1e300 or abs(low) > 1e12 * raw:
        return None
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= raw)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = tuple(index * step for index in range(first, last + 1))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return Axis(ticks[0], ticks[-1], ticks, digits)


def _scale(axis: Axis, bottom: int) -> Iterator[Element]:
    for tick in axis.ticks:
        x = axis.x(tick)
        strength = 3 * FAINT if tick == 0 else FAINT
        yield _element(
            "line",
            x1=x,
            x2=x,
            y1=TOP,
            y2=bottom,
            stroke="currentColor",
            stroke_opacity=f"{strength:g}",
        )
        label = fixed(tick, axis.digits)
        yield _element("text", x=x, y=bottom + 16, text_anchor="middle", content=label)


def _row(mark: Mark, axis: Axis, y: int, digits: int) -> Element:
    label = printable(mark.label)
    value, lower, upper = (fixed(number, digits) for number in (mark.value, mark.lower, mark.upper))
    left, middle, right = axis.x(mark.lower), axis.x(mark.value), axis.x(mark.upper)
    way = f"M{left} {y}H{right}M{left} {y - 4}v8M{right} {y - 4}v8"
    name = cut(label, LONGEST_LABEL)
    return _element(
        "g",
        _element("title", content=f"{label}: {value} ({lower} to {upper})"),
        _element("text", x=LABELS - 12, y=y + 4, text_anchor="end", content=name),
        _element("path", d=way, fill="none", stroke=ACCENT, stroke_width=2),
        _element("circle", cx=middle, cy=y, r=4, fill=ACCENT),
    )
