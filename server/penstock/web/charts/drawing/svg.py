"""Elements of SVG, the document around them, and texts that nobody's name can break out of."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import Final

from penstock.web.charts.drawing.lettering import SIZE, shown

NARROW: Final = 384
"""Width of a picture for a phone, in units that are about its pixels."""

WIDE: Final = 720
NOTE: Final = 16
"""From one line of a note to the next."""

FONT: Final = "system-ui, 'DejaVu Sans', sans-serif"

QUIET: Final = "quiet"
STRONG: Final = "strong"
_KINDS: Final = {"": "", QUIET: ' class="quiet"', STRONG: ' class="strong" font-weight="600"'}
_RIGHT_TO_LEFT: Final = frozenset({"R", "AL", "AN"})
_ISOLATED: Final = re.compile("(\u2068[^\u2068\u2069]*\u2069)")
"""What stands apart from the direction of the text around it, whatever it holds."""


def document(
    prefix: str, title: str, described: str, size: tuple[float, float], parts: Iterable[str]
) -> str:
    """One SVG element, as wide as the page lets it be; its ids begin with ``prefix``."""
    width, height = size
    start = escape(prefix)
    head = (
        '<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img"'
        f' aria-labelledby="{start}-title" aria-describedby="{start}-desc"'
        f' viewBox="0 0 {number(width)} {number(height)}"'
        f' font-family="{FONT}" font-size="{SIZE:g}" fill="currentColor">'
    )
    names = f'<title id="{start}-title">{words(title)}</title>'
    description = f'<desc id="{start}-desc">{words(described)}</desc>'
    return "".join((head, names, description, *parts, "</svg>"))


def both_widths(draw: Callable[[str, int], str], prefix: str) -> str:
    """A picture for phones and one for wider pages, of which the stylesheet shows one.

    ``draw`` is called with a prefix and a width, as every chart is.
    """
    return (
        f'<div class="chart-narrow">{draw(f"{prefix}-narrow", NARROW)}</div>'
        f'<div class="chart-wide">{draw(f"{prefix}-wide", WIDE)}</div>'
    )


def words(text: str) -> str:
    """``text`` as it may stand in XML: on one line, nothing in it markup, nothing unseen."""
    parts = _ISOLATED.split(text)
    found = (
        f"{part[0]}{shown(part[1:-1])}{part[-1]}" if index % 2 else shown(part)
        for index, part in enumerate(parts)
    )
    return escape("".join(found))


def isolated(name: str) -> str:
    """``name`` for use in a sentence, whose order a right-to-left name must not turn."""
    if any(unicodedata.bidirectional(character) in _RIGHT_TO_LEFT for character in name):
        return f"\u2068{shown(name)}\u2069"
    return name


def number(value: float) -> str:
    """A coordinate, to a tenth of a unit."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def text(x: float, y: float, content: str, *, anchor: str = "start", kind: str = "") -> str:
    """A line of text with its foot at ``y``."""
    at = "" if anchor == "start" else f' text-anchor="{anchor}"'
    return f'<text x="{number(x)}" y="{number(y)}"{at}{_KINDS[kind]}>{words(content)}</text>'


def note(y: float, lines: Sequence[str], x: float = 0.0) -> str:
    """Quiet lines of text, one under the other, the first with its foot at ``y``."""
    return "".join(text(x, y + NOTE * place, line, kind=QUIET) for place, line in enumerate(lines))


def told(sentence: str, attributes: str, parts: Iterable[str]) -> str:
    """A group that says what it shows to whoever points at it."""
    inner = "".join(parts)
    return f"<g {attributes}><title>{words(sentence)}</title>{inner}</g>"


def rule(x1: float, y1: float, x2: float, y2: float, kind: str = "grid") -> str:
    """A thin line: ``grid`` is faint, ``axis`` is stronger."""
    strength = {"grid": "0.16", "axis": "0.6"}[kind]
    return (
        f'<path class="{kind}" fill="none" stroke="currentColor" stroke-opacity="{strength}"'
        f' d="M{number(x1)} {number(y1)}L{number(x2)} {number(y2)}"/>'
    )


def nothing(prefix: str, title: str, sentence: str, width: int) -> str:
    """The picture of what is not there: one sentence."""
    line = text(width / 2, 32, sentence, anchor="middle", kind=QUIET)
    return document(prefix, title, sentence, (width, 56), [line])
