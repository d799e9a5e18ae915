"""Write SVG elements, documents and texts with the standard library's ElementTree.

No text can break out of its element: names are content, which the writer escapes.
"""

import re
import unicodedata
import xml.etree.ElementTree as ET
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Final
from xml.etree.ElementTree import Element

from .lettering import SIZE, shown

NARROW: Final = 384
"""Width of a chart for a phone, in units of about one pixel."""

WIDE: Final = 720
NOTE: Final = 16
"""Distance from one line of a note to the next."""

FONT: Final = "system-ui, 'DejaVu Sans', sans-serif"

QUIET: Final = "quiet"
STRONG: Final = "strong"
_KINDS: Final[Mapping[str, Mapping[str, str]]] = {
    "": {},
    QUIET: {"class": "quiet"},
    STRONG: {"class": "strong", "font-weight": "600"},
}
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
_ISOLATED: Final = re.compile("(\u2068[^\u2068\u2069]*\u2069)")
"""Matches text isolated from the direction of the text around it."""


def element(tag: str, *parts: Element, content: str = "", **attributes: str | float) -> Element:
    """Return an element that contains ``parts`` or text.

    Numbers are coordinates, rounded to a tenth of a unit.  Write underscores for hyphens in
    attribute names, and ``class_`` for ``class``.
    """
    result = Element(
        tag,
        {
            name.rstrip("_").replace("_", "-"): value if isinstance(value, str) else number(value)
            for name, value in attributes.items()
        },
    )
    result.text = content or None
    result.extend(parts)
    return result


def document(
    prefix: str, title: str, described: str, size: tuple[float, float], parts: Iterable[Element]
) -> str:
    """Return one SVG element as text, as wide as the page allows; ids begin with ``prefix``."""
    width, height = size
    picture = element(
        "svg",
        element("title", id=f"{prefix}-title", content=words(title)),
        element("desc", id=f"{prefix}-desc", content=words(described)),
        *parts,
        xmlns="http://www.w3.org/2000/svg",
        class_="chart",
        role="img",
        aria_labelledby=f"{prefix}-title",
        aria_describedby=f"{prefix}-desc",
        viewBox=f"0 0 {number(width)} {number(height)}",
        font_family=FONT,
        font_size=f"{SIZE:g}",
        fill="currentColor",
    )
    return ET.tostring(picture, encoding="unicode")


def both_widths(draw: Callable[[str, int], str], prefix: str) -> str:
    """Return a chart for phones and one for wider pages, of which the stylesheet shows one.

    ``draw`` takes a prefix and a width, as every chart does.
    """
    return (
        f'<div class="chart-narrow">{draw(f"{prefix}-narrow", NARROW)}</div>'
        f'<div class="chart-wide">{draw(f"{prefix}-wide", WIDE)}</div>'
    )


def words(text: str) -> str:
    """Return ``text`` on one line, with invisible characters escaped; isolated parts stay so."""
    parts = _ISOLATED.split(text)
    return "".join(
        f"{part[0]}{shown(part[1:-1])}{part[-1]}" if index % 2 else shown(part)
        for index, part in enumerate(parts)
    )


def isolated(name: str) -> str:
    """Return ``name``, isolated if it is right-to-left, so that it cannot reorder a sentence."""
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in name):
        return f"\u2068{shown(name)}\u2069"
    return name


def number(value: float) -> str:
    """Return a coordinate as text, rounded to a tenth of a unit."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def text(x: float, y: float, content: str, *, anchor: str = "start", kind: str = "") -> Element:
    """Return a line of text with its baseline at ``y``."""
    at = {} if anchor == "start" else {"text-anchor": anchor}
    return element("text", x=x, y=y, content=words(content), **at, **_KINDS[kind])


def note(y: float, lines: Sequence[str], x: float = 0.0) -> list[Element]:
    """Return quiet lines of text below one another, the first with its baseline at ``y``."""
    return [text(x, y + NOTE * place, line, kind=QUIET) for place, line in enumerate(lines)]


def group(color: Mapping[str, str], *parts: Element, title: str = "") -> Element:
    """Return a group in a color; its title is the tooltip."""
    titled = [element("title", content=words(title))] if title else []
    return element("g", *titled, *parts, **color)


def stroked(kind: str, way: str, width: str, **more: str) -> Element:
    """Return an unfilled path with a stroke of ``width``."""
    return element(
        "path", class_=kind, fill="none", stroke="currentColor", stroke_width=width, d=way, **more
    )


def rule(x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> Element:
    """Return a thin line: ``grid`` is faint, ``axis`` is stronger."""
    return element(
        "path",
        class_=kind,
        fill="none",
        stroke="currentColor",
        stroke_opacity={"grid": "0.16", "axis": "0.6"}[kind],
        d=f"M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}",
    )


def nothing(prefix: str, title: str, sentence: str, width: int) -> str:
    """Return the chart for empty data: one sentence."""
    line = text(width / 2, 32, sentence, anchor="middle", kind=QUIET)
    return document(prefix, title, sentence, (width, 56), [line])
