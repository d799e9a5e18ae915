"""Mark levels and series by color, and always also by shape, dashes or a name."""

from collections.abc import Sequence
from typing import Final
from xml.etree.ElementTree import Element

from .svg import element, number
from .values import Level

FALLBACK: Final = (
    *("#1f7fc4", "#b07a00", "#d65f0e", "#0a8f6b", "#c0689a", "#2f86b3", "#857c1c", "#767676"),
)
"""Color of each class of marks, with a contrast of 3 or more to both white and near black.

They have the hues that Okabe and Ito chose for readers of every color vision.
"""

SERIES: Final = len(FALLBACK)
"""Largest number of series in color; of more, the others are grey."""

RAMP: Final = ("#157873", "#167f7a", "#188882", "#198f8a", "#1b9791", "#1c9e98")
"""Color of each class of levels, the most accurate first, with contrasts like those above."""

HEAT: Final = 6
"""Number of shades of the cells of a heat map."""

DASHES: Final = ("", "7 4", "2 3", "10 3 2 3", "4 2", "1 2")
SHAPES: Final = ("circle", "square", "triangle", "diamond", "ring", "frame", "cross", "pit")


def styles(levels: Sequence[Level]) -> list[int]:
    """Return a style for each level: its place, unless two levels would look alike."""
    return chosen([level.place for level in levels])


def chosen(places: Sequence[int | None]) -> list[int]:
    """Return a style for each place, or their order if one is missing or two would look alike."""
    known = [place for place in places if place is not None]
    if len(known) == len(places) == len({place % len(SHAPES) for place in known}):
        return [place % len(SHAPES) for place in known]
    return list(range(len(places)))


def colored(style: int) -> dict[str, str]:
    """Return the attributes of a group's color: a class, and a fallback without the stylesheet."""
    color = style % len(FALLBACK)
    return {"class": f"s{color}", "color": FALLBACK[color]}


def shaded(style: int) -> dict[str, str]:
    """Return the attributes of a level's color, the stronger the more accurate it is."""
    step = min(style, len(RAMP) - 1)
    return {"class": f"t{step}", "color": RAMP[step]}


def heated(shade: int) -> dict[str, str]:
    """Return the attributes of a cell's shade, from 0 for the lowest numbers."""
    return {"class": f"h{shade}", "color": RAMP[2]}


def dashes(style: int) -> dict[str, str]:
    """Return the attribute for a line's dashes; none for a solid line."""
    pattern = DASHES[style % len(DASHES)]
    return {"stroke-dasharray": pattern} if pattern else {}


def mark(style: int, x: float, y: float, size: float = 4.0) -> Element:
    """Return a shape around (x, y), in the color of the group that contains it."""
    shape = SHAPES[style % len(SHAPES)]
    full = {"class": "mark", "fill": "currentColor"}
    hollow = {"class": "hollow", "fill": "none", "stroke": "currentColor", "stroke-width": "2"}
    half = size * 0.9
    if shape in ("circle", "ring"):
        radius, kind = (size, full) if shape == "circle" else (size - 0.6, hollow)
        return element("circle", **kind, cx=x, cy=y, r=radius)
    if shape in ("square", "frame"):
        kind = full if shape == "square" else hollow
        return element("rect", **kind, x=x - half, y=y - half, width=2 * half, height=2 * half)
    at_x = number(x)
    ways = {
        "triangle": f"M{at_x} {number(y - size * 1.2)}l{number(size * 1.15)}"
        f" {number(size * 2)}h{number(-size * 2.3)}z",
        "pit": f"M{at_x} {number(y + size * 1.2)}l{number(size * 1.15)}"
        f" {number(-size * 2)}h{number(-size * 2.3)}z",
        "diamond": f"M{at_x} {number(y - size * 1.35)}l{number(size * 1.35)}"
        f" {number(size * 1.35)}l{number(-size * 1.35)} {number(size * 1.35)}"
        f"l{number(-size * 1.35)} {number(-size * 1.35)}z",
        "cross": f"M{number(x - half)} {number(y - half)}l{number(2 * half)} {number(2 * half)}"
        f"m0 {number(-2 * half)}l{number(-2 * half)} {number(2 * half)}",
    }
    kind = hollow if shape == "cross" else full
    return element("path", **kind, d=ways[shape])
