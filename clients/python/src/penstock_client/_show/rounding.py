"""Format numbers and texts for people.

A value is rounded to two significant digits of its standard deviation.  What programs read is
never rounded.
"""

import math
import unicodedata

SIGNIFICANT_DIGITS_OF_ERROR = 2
MOST_DECIMALS = 12
PLAIN_BELOW = 1e15
_SPACING = frozenset("\u2028\u2029")
_REORDERING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def decimals(standard_deviation: float) -> int:
    """Return how many digits after the point to show of a value with this error.

    It is 0 for errors of 10 and above: digits before the point are always shown.
    """
    if not 0 < standard_deviation < math.inf:
        return 0
    digits = SIGNIFICANT_DIGITS_OF_ERROR - 1 - math.floor(math.log10(standard_deviation))
    return min(max(digits, 0), MOST_DECIMALS)


def fixed(value: float, digits: int) -> str:
    """Return ``value`` with that many decimals, commas at thousands, and no minus zero."""
    if abs(value) >= PLAIN_BELOW:
        return f"{value:.6g}"
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def short(value: float | None, digits: int = 3) -> str:
    """Return ``value`` to ``digits`` significant digits, with commas at thousands.

    Numbers below 1e15 with more digits before the point keep all of those; None is ∞.
    """
    if value is None:
        return "∞"
    if abs(value) >= 10**digits and abs(value) < PLAIN_BELOW:
        return fixed(value, 0)
    return f"{value:,.{digits}g}"


def percent(fraction: float) -> str:
    """Return a fraction as a percentage, with up to eight significant digits."""
    return f"{100 * fraction:.8g}%"


def printable(text: str) -> str:
    """Return ``text`` on one line, with terminal controls and reordering characters escaped."""
    if text.isprintable() and not _REORDERING.intersection(text):
        return text
    return "".join(
        f"\\u{ord(character):04x}" if _must_be_escaped(character) else character
        for character in text
    )


def cut(text: str, width: int) -> str:
    """Return ``text`` cut to ``width`` characters, the last one an ellipsis if it was cut."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _must_be_escaped(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Cc", "Cs")
        or character in _SPACING
        or character in _REORDERING
    )
