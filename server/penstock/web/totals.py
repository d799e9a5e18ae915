"""A range of a stream's running totals, as a table takes it."""

from collections.abc import Mapping
from typing import TypedDict

from penstock.errors import InvalidInput
from penstock.figures import decimals, fixed, percent
from penstock.services.stream_views import RunningTotalsView
from penstock.web.charts.values import Table

MOST_STEPS = 200
"""Rows of a page; the newest ones, since people look for these."""


class Wanted(TypedDict):
    """Which range is asked for."""

    first: int | None
    last: int | None
    tier: str | None


def wanted(given: Mapping[str, str]) -> Wanted:
    """The range and tier that a form asks for.  Raises ``InvalidInput``."""
    return Wanted(
        first=_step(given, "from"), last=_step(given, "to"), tier=given.get("tier") or None
    )


def pictures(found: RunningTotalsView) -> list[Table]:
    """The newest totals of the range, one table for each number that is counted."""
    items = found.items[-MOST_STEPS:]
    at = percent(items[0].error.confidence)
    tables = []
    for place in range(items[0].values.size):
        rows = []
        for item in items:
            value, half = float(item.values[place]), item.error.half_width
            digits = decimals(item.error.standard_deviation)
            numbers = (value, value - half, value + half)
            rows.append((str(item.t), *(fixed(number, digits) for number in numbers)))
        head = ("step", "total", f"lower {at}", f"upper {at}")
        caption = f"{found.stream}: running totals" + (f", number {place + 1}" if place else "")
        tables.append(Table(caption, head, tuple(rows), frozenset(range(4))))
    return tables


def _step(given: Mapping[str, str], name: str) -> int | None:
    text = given.get(name, "").strip()
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) < 16 and int(text)):
        raise InvalidInput(f"{name} is the number of a step, from 1.", pointer=f"/{name}")
    return int(text)
