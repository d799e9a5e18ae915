"""Make up the demo's pushed numbers: calls to a help desk, day by day and by topic.

They are invented, by these formulas alone: a week's pattern that rises slowly, in fixed
parts.  Nobody called.
"""

from typing import Final

WEEK: Final = (41, 38, 35, 36, 33, 12, 8)
"""From Monday to Sunday, in the first week."""

DAYS: Final = 100
PUSHES: Final = (30, 30, 30, 10)
"""How many days are sent at once."""


TENTHS: Final = (4, 3, 2, 1)
"""Of all calls, how many tenths are about each topic."""


def on(day: int) -> int:
    """Return the calls of a day; days count from 1."""
    return WEEK[(day - 1) % 7] + (day - 1) // 14


def pushes() -> list[tuple[int, list[object]]]:
    """Return the first day of each push, and its calls."""
    parts, first = [], 1
    for days in PUSHES:
        calls: list[object] = [on(day) for day in range(first, first + days)]
        parts.append((first, calls))
        first += days
    return parts


def by_topic() -> list[int]:
    """Return the calls of all days by topic."""
    total = sum(on(day) for day in range(1, DAYS + 1))
    return [total * part // 10 for part in TENTHS]
