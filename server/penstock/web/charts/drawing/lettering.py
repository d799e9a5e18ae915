"""Estimate the width of texts, shorten them to fit, and keep labels apart.

The reader's font is unknown, so widths are those of a wide font (DejaVu Sans): a narrower one
leaves more space.
"""

import math
import unicodedata
from collections.abc import Sequence

from ....figures import printable

SIZE = 12.0
"""Font size of all charts, in units of the viewBox."""

BOLD = 1.12
ELLIPSIS = "…"
_NARROW = frozenset("iIjlrtf.,:;'|!()[]/\\ ")
_WIDE = frozenset("mwMWQOGD@%&—…−×+=<>")
_JOINERS = frozenset("\u200d\ufe0e\ufe0f")


def shown(text: str) -> str:
    """Return ``text`` on one line, with invisible characters and those that XML forbids escaped."""
    return printable(text).replace("\ufffe", "\\ufffe").replace("\uffff", "\\uffff")


def width_of(text: str, size: float = SIZE, *, bold: bool = False) -> float:
    """Return an upper estimate of the width of ``text``, in units of the viewBox."""
    ems = sum(map(_ems, text if text.isascii() and text.isprintable() else shown(text)))
    return ems * size * (BOLD if bold else 1)


def fitted(text: str, room: float, size: float = SIZE, *, bold: bool = False) -> str:
    """Return ``text`` as it is shown, shortened with an ellipsis if it is wider than ``room``."""
    text = shown(text)
    if width_of(text, size, bold=bold) <= room:
        return text
    left = room / size / (BOLD if bold else 1) - _ems(ELLIPSIS)
    kept = 0
    for index, character in enumerate(text):
        left -= _ems(character)
        if left < 0:
            break
        kept = index + 1
    while kept > 0 and (_attached(text[kept]) or text[kept - 1] in _JOINERS):
        kept -= 1
    return text[:kept].rstrip() + ELLIPSIS


def wrapped(text: str, room: float, size: float = SIZE) -> list[str]:
    """Return ``text`` in lines that fit into ``room``, broken at spaces; long words are cut."""
    lines: list[str] = []
    for word in text.split():
        if lines and width_of(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines.append(fitted(word, room, size))
    return lines


def spread(ideal: Sequence[float], apart: float, lowest: float = math.inf) -> list[float]:
    """Return heights near the ideal ones, ``apart`` from one another, none below ``lowest``.

    Heights grow downwards.  If there is no room for all, those at the top move up.
    """
    heights = list(ideal)
    order = sorted(range(len(ideal)), key=lambda place: ideal[place])
    above = -math.inf
    for place in order:
        heights[place] = above = max(ideal[place], above + apart)
    below = lowest
    for place in reversed(order):
        heights[place] = min(heights[place], below)
        below = heights[place] - apart
    return heights


def _ems(character: str) -> float:
    if character in _NARROW:
        return 0.4
    if character in _WIDE:
        return 0.98
    if character.isascii():
        return 0.7 if character.isupper() else 0.64
    if _attached(character):
        return 0.0
    return 1.3 if unicodedata.east_asian_width(character) in "WF" else 0.75


def _attached(character: str) -> bool:
    return character in _JOINERS or unicodedata.category(character) in ("Mn", "Me")
