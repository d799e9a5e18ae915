"""Format numbers, texts and times for people.

A value is shown to the digits that its error allows.  Output for programs (JSON, CSV) is never
rounded.
"""

import math
import unicodedata
from collections.abc import Collection, Sequence
from datetime import UTC, datetime

DIGITS_OF_ERROR = 2
MOST_DECIMALS = 12
PLAIN_BELOW = 1e15
_SPACING = frozenset("\u2028\u2029")
_REORDERING = frozenset("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


def decimals(standard_deviation: float) -> int:
    """Return the number of decimals to show for a value with this error."""
    if not 0 < standard_deviation < math.inf:
        return 0
    digits = DIGITS_OF_ERROR - 1 - math.floor(math.log10(standard_deviation))
    return min(max(digits, 0), MOST_DECIMALS)


def fixed(value: float, digits: int) -> str:
    """Format ``value`` with ``digits`` decimals, commas between thousands, and no minus zero."""
    if abs(value) >= PLAIN_BELOW:
        return f"{value:.6g}"
    text = f"{value:,.{digits}f}"
    return text.removeprefix("-") if not text.strip("-0.,") else text


def short(value: float, digits: int = 3) -> str:
    """Format ``value`` to some significant digits; larger numbers to the next integer."""
    if 10**digits <= abs(value) < PLAIN_BELOW:
        return fixed(value, 0)
    return f"{value:.{digits}g}"


def percent(fraction: float, digits: int = 3) -> str:
    """Format a fraction as a percentage."""
    return f"{100 * fraction:.{digits}g}%"


def moment(at: datetime) -> str:
    """Format a time in UTC, to the second."""
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S}Z"


def printable(text: str) -> str:
    """Return ``text`` on one line; escape characters that control a terminal or reorder it."""
    if text.isprintable() and not _REORDERING.intersection(text):
        return text
    return "".join(
        f"\\u{ord(character):04x}" if _steers(character) else character for character in text
    )


def aligned(rows: Sequence[Sequence[str]], right: Collection[int] = ()) -> list[str]:
    """Return the rows of a table as lines, two spaces between columns; ``right`` ones at the right.

    Wide characters take two columns of a terminal, combining ones none (``wcwidth``, which
    tabulate asks).
    """
    # Imported here: it takes longer than many a command that prints no table.
    from tabulate import tabulate

    text = tabulate(
        rows,
        tablefmt="plain",
        disable_numparse=True,
        colalign=["right" if place in right else "left" for place in range(len(rows[0]))],
        preserve_whitespace=True,
    )
    return [line.rstrip() for line in text.split("\n")]


def _steers(character: str) -> bool:
    return (
        unicodedata.category(character) in ("Cc", "Cs")
        or character in _SPACING
        or character in _REORDERING
    )
