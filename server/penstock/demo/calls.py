"""Make up the demo's pushed numbers: calls to a help desk, day by day and by topic.

All of them are invented by these formulas: a weekly pattern that rises slowly, divided into
fixed parts.
"""

from typing import Final

WEEK: Final = (41, 38, 35, 36, 33, 12, 8)
"""The calls from Monday to Sunday in the first week."""

DAYS: Final = 100
PUSHES: Final = (30, 30, 30, 10)
"""The number of days in each push."""


TENTHS: Final = (4, 3, 2, 1)
"""The tenths of all calls that are about each topic."""


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
