"""A chart of values with their intervals, as one self-contained SVG element.

It takes its text color from the page (``currentColor``), so that it is readable on light
and on dark, and uses neither style nor script, so that no content policy stops it.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape

from penstock_client._show.rounding import cut, fixed, printable

WIDTH = 680
LABELS = 170
LONGEST_LABEL = 24
RIGHT = 24
ROW = 22
TOP = 10
BOTTOM = 28
WANTED_TICKS = 5
FAINT = 0.18
ACCENT = "#3b82f6"
"""A blue with a contrast above 3, which graphics need, to white and to dark gray alike."""


@dataclass(frozen=True)
class Mark:
    """One row of the chart."""

    label: str
    value: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Axis:
    """Where numbers lie between the left and the right edge of the plot."""

    low: float
    high: float
    ticks: tuple[float, ...]
    digits: int

    def x(self, value: float) -> str:
        share = (value - self.low) / (self.high - self.low)
        return f"{LABELS + share * (WIDTH - LABELS - RIGHT):.1f}"


def chart(marks: Sequence[Mark], title: str, digits: int) -> str:
    """The SVG element, or an empty text where there is nothing that can be drawn.

    ``digits`` are the decimals of the values in the tooltips.
    """
    axis = _axis(marks)
    if axis is None:
        return ""
    height = TOP + ROW * len(marks) + BOTTOM
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{WIDTH}" height="{height}"'
        f' viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12"'
        f' fill="currentColor"><title>{_text(title)}</title>'
    )
    parts = [
        head,
        *_scale(axis, TOP + ROW * len(marks)),
        *(
            part
            for index, mark in enumerate(marks)
            for part in _row(mark, axis, TOP + ROW * index + ROW // 2, digits)
        ),
        "</svg>",
    ]
    return "".join(parts)


def _axis(marks: Sequence[Mark]) -> Axis | None:
    """An axis with round ticks around all intervals; None for none, or unbounded ones."""
    ends = [end for mark in marks for end in (mark.lower, mark.upper)]
    if not ends:
        return None
    low, high = min(ends), max(ends)
    span = high - low
    raw = span / WANTED_TICKS
    # Beyond these, floats overflow, vanish, or cannot tell the ticks apart.
    if not 1e-300 < span < 1e300 or abs(low) > 1e12 * raw:
        return None
    magnitude = 10.0 ** math.floor(math.log10(raw))
    step = next(factor * magnitude for factor in (1, 2, 5, 10) if factor * magnitude >= raw)
    first, last = math.floor(low / step), math.ceil(high / step)
    ticks = tuple(index * step for index in range(first, last + 1))
    digits = max(0, -math.floor(math.log10(step) + 1e-9))
    return Axis(ticks[0], ticks[-1], ticks, digits)


def _scale(axis: Axis, bottom: int) -> Iterator[str]:
    for tick in axis.ticks:
        x = axis.x(tick)
        strength = 3 * FAINT if tick == 0 else FAINT
        yield (
            f'<line x1="{x}" x2="{x}" y1="{TOP}" y2="{bottom}" stroke="currentColor"'
            f' stroke-opacity="{strength:g}"/>'
            f'<text x="{x}" y="{bottom + 16}" text-anchor="middle">'
            f"{fixed(tick, axis.digits)}</text>"
        )


def _row(mark: Mark, axis: Axis, y: int, digits: int) -> Iterator[str]:
    label = printable(mark.label)
    value, lower, upper = (fixed(number, digits) for number in (mark.value, mark.lower, mark.upper))
    left, middle, right = axis.x(mark.lower), axis.x(mark.value), axis.x(mark.upper)
    yield f"<g><title>{_text(f'{label}: {value} ({lower} to {upper})')}</title>"
    yield (
        f'<text x="{LABELS - 12}" y="{y + 4}" text-anchor="end">'
        f"{_text(cut(label, LONGEST_LABEL))}</text>"
    )
    yield (
        f'<path d="M{left} {y}H{right}M{left} {y - 4}v8M{right} {y - 4}v8" fill="none"'
        f' stroke="{ACCENT}" stroke-width="2"/>'
        f'<circle cx="{middle}" cy="{y}" r="4" fill="{ACCENT}"/></g>'
    )


def _text(text: str) -> str:
    return escape(printable(text))
