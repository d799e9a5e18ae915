"""Choose ticks for an axis of days: days, Mondays, first days of months, or years."""

from collections.abc import Callable, Iterator
from datetime import date

from .axes import MOST_COUNTS, Axis, readable

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
DAYS, WEEKS, PARTS_OF_YEARS = (1, 2), (1, 2), (1, 2, 3, 6)
YEARS = tuple(part * power for power in (1, 10, 100, 1000) for part in (1, 2, 5))

Days = Iterator[date]


def dated(first: date, last: date, start: float, end: float) -> Axis:
    """Return an axis from one day to another; a day's number on it is ``date.toordinal()``.

    If both are equal, the day is at the end of the axis.
    """
    low, high = float(first.toordinal() - (first == last)), float(last.toordinal())
    for days, label in _ways(first, last):
        # Few are made of a way that has too many.
        chosen = [day for _, day in zip(range(MOST_COUNTS + 1), days, strict=False)]
        axis = Axis(low, high, start, end, tuple((float(d.toordinal()), label(d)) for d in chosen))
        if 1 <= len(chosen) <= MOST_COUNTS and readable(axis):
            return axis
    return Axis(low, high, start, end, ((high, last.isoformat()),))


def years_of(first: date, last: date) -> str:
    """Return the years of an axis, which the labels of days leave out."""
    return f"{first.year}" if first.year == last.year else f"{first.year} to {last.year}"


def _ways(first: date, last: date) -> Iterator[tuple[Days, Callable[[date], str]]]:
    """Yield ways to choose ticks, each with what writes their labels, the finest first."""
    for apart in DAYS:
        yield _every(first, last, apart, 0), _day
    for apart in WEEKS:
        yield _every(first, last, 7 * apart, 1), _day
    same_year = first.year == last.year
    for apart in PARTS_OF_YEARS:
        yield _months(first, last, apart), _month if same_year else _month_and_year
    for apart in YEARS:
        yield _months(first, last, 12 * apart), _year


def _every(first: date, last: date, apart: int, rest: int) -> Days:
    """Yield days whose numbers leave a rest: of 1 for 7 days, these are Mondays."""
    ahead = (rest - first.toordinal()) % apart
    for number in range(first.toordinal() + ahead, last.toordinal() + 1, apart):
        yield date.fromordinal(number)


def _months(first: date, last: date, apart: int) -> Days:
    """Yield first days of months: with 12 or more apart, of years that are multiples."""
    month = first.year * 12 + first.month - (first.day == 1)
    month += -month % apart
    while month // 12 <= date.max.year and (day := date(month // 12, month % 12 + 1, 1)) <= last:
        yield day
        month += apart


def _day(day: date) -> str:
    return f"{day.day} {MONTHS[day.month - 1]}"


def _month(day: date) -> str:
    return MONTHS[day.month - 1]


def _month_and_year(day: date) -> str:
    return f"{_month(day)} {day.year}"


def _year(day: date) -> str:
    return f"{day.year}"
