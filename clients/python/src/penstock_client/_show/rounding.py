"""Numbers and texts as people read them.

A value is shown to the digits that its error leaves it: two significant digits of the
standard deviation.  What machines read is never rounded.
"""

import math
import unicodedata

SIGNIFICANT_DIGITS_OF_ERROR = 2
MOST_DECIMALS = 12
PLAIN_BELOW = 1e15
_SPACING = frozenset("\u2028\u2029")
_REORDERING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def decimals(standard_deviation: float) -> int:
    """Digits after the point that a value with this error deserves.

    None for errors of 10 and above: digits before the point are always shown.
    """
    if not 0 < standard_deviation < math.inf:
        return 0
    digits = SIGNIFICANT_DIGITS_OF_ERROR - 1 - math.floor(math.log10(standard_deviation))
    return min(max(digits, 0), MOST_DECIMALS)


def fixed(value: float, digits: int) -> str:
    """``value`` with that many decimals, thousands apart by commas, and no minus zero."""
    if abs(value) >= PLAIN_BELOW:
        return f"{value:.6g}"
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def short(value: float | None, digits: int = 3) -> str:
    """``value`` to some significant digits, thousands apart; large integers in full; ∞ for None."""
    if value is None:
        return "∞"
    if abs(value) >= 10**digits and abs(value) < PLAIN_BELOW:
        return fixed(value, 0)
    return f"{value:,.{digits}g}"


def percent(fraction: float) -> str:
    """A fraction as a percentage, all its digits up to eight."""
    return f"{100 * fraction:.8g}%"


def printable(text: str) -> str:
    """``text`` on one line, with what would steer a terminal or reorder the line escaped."""
    if text.isprintable() and not _REORDERING.intersection(text):
        return text
    return "".join(
        f"\\u{ord(character):04x}" if _steers(character) else character for character in text
    )


def cut(text: str, width: int) -> str:
    """``text``, with an ellipsis for what goes beyond ``width`` characters."""
    return text if len(text) <= width else text[: width - 1] + "…"


def _steers(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Cc", "Cs")
        or character in _SPACING
        or character in _REORDERING
    )
