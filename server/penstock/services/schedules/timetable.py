"""Compute the times of a schedule from five fields of cron and a time zone.

Fields with chance in them (``R``, ``H``), which the library would take, are refused: the times of a
schedule are the same for everybody who computes them.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
from itertools import takewhile
from zoneinfo import ZoneInfo

from penstock.errors import InvalidInput

_FIELDS = 5
_FIELD = re.compile(
    r"(?:[0-9*/,-]"
    r"|\b(?:sun|mon|tue|wed|thu|fri|sat|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)\b)+",
    re.IGNORECASE,
)


def zone_of(name: str) -> ZoneInfo:
    """Return a time zone.  Raises ``InvalidInput`` if this machine knows none of this name."""
    try:
        return ZoneInfo(name)
    except (KeyError, ValueError, OSError) as problem:
        raise InvalidInput(
            f"There is no time zone {name[:64]!r}; name one as Europe/Berlin or UTC.",
            pointer="/timezone",
        ) from problem


def times(cron: str, timezone: str, after: datetime) -> Iterator[datetime]:
    """Yield the times after a moment, in UTC and in their order.

    Where clocks are set back an hour comes twice, and counts once: names have no more than a date
    and a time in them, so the second would register again what the first did.  Raises
    ``InvalidInput`` for a text that is not five fields of cron, or that no time fits.
    """
    from croniter import CroniterError, croniter

    fields, zone = cron.split(), zone_of(timezone)
    if len(fields) != _FIELDS or not all(_FIELD.fullmatch(field) for field in fields):
        raise _unreadable(cron)
    last = after
    try:
        clock = croniter(cron, after.astimezone(zone), ret_type=datetime)
        while True:
            coming = clock.get_next(datetime).astimezone(UTC)
            if coming > last and not coming.astimezone(zone).fold:
                last = coming
                yield coming
    except CroniterError:
        readable = False
    if not readable:
        raise _unreadable(cron)


def are_surely_more(most: int, cron: str, timezone: str, after: datetime, until: datetime) -> bool:
    """Return True if there are more than ``most`` times by the days between two moments alone.

    Only days between the first and the last are counted, and none in which clocks change: there
    may be more times than that, never fewer.  Raises as ``times`` does.
    """
    next_after(cron, timezone, after)
    counted = 0
    for _, number in _whole_days(cron, zone_of(timezone), after, until):
        counted += number or 0
        if counted > most:
            return True
    return False


def passed(
    cron: str, timezone: str, after: datetime, until: datetime, most: int
) -> tuple[int, list[datetime]]:
    """Return how many times came after a moment until another, and the newest ``most`` of them.

    Whole days are counted by their number of times, so that the steps are as many as days, however
    many times they have.  Raises as ``times`` does.
    """
    next_after(cron, timezone, after)
    zone = zone_of(timezone)
    starts: list[tuple[datetime, int | None]] = [(after, None)]
    for midnight, number in _whole_days(cron, zone, after, until):
        starts.append((_just_before(midnight, zone), number))
    if len(starts) > 1:
        starts.append((_just_before(midnight + timedelta(days=1), zone), None))
    ends = [*(start for start, _ in starts[1:]), until]
    counts = [
        len(_between(cron, timezone, start, end)) if number is None else number
        for (start, number), end in zip(starts, ends, strict=True)
    ]
    place, newest = len(counts), 0
    while place and newest < most:
        place -= 1
        newest += counts[place]
    return sum(counts), _between(cron, timezone, starts[place][0], until)[-most:]


def _just_before(midnight: datetime, zone: ZoneInfo) -> datetime:
    return midnight.replace(tzinfo=zone).astimezone(UTC) - timedelta(microseconds=1)


def _between(cron: str, timezone: str, after: datetime, until: datetime) -> list[datetime]:
    return list(takewhile(lambda at: at <= until, times(cron, timezone, after)))


def _whole_days(
    cron: str, zone: ZoneInfo, after: datetime, until: datetime
) -> Iterator[tuple[datetime, int | None]]:
    """Yield the days that have times, between the first and the last, and how many each has.

    A day is its midnight, without a zone; the number is None where clocks change.
    """
    from croniter import croniter

    (minutes, hours, *_), _ = croniter.expand(cron)
    a_day = (60 if minutes == ["*"] else len(minutes)) * (24 if hours == ["*"] else len(hours))
    first, last = (at.astimezone(zone).date() for at in (after, until))
    of_days = " ".join(["0 0", *cron.split()[2:]])
    days = croniter(of_days, datetime.combine(first, time()), ret_type=datetime)
    while (begins := days.get_next(datetime)).date() < last:
        both = (each.replace(tzinfo=zone) for each in (begins, begins + timedelta(days=1)))
        yield begins, a_day if len({each.utcoffset() for each in both}) == 1 else None


def next_after(cron: str, timezone: str, after: datetime) -> datetime:
    """Return the first time after a moment.  Raises as ``times`` does."""
    return next(times(cron, timezone, after))


def _unreadable(cron: str) -> InvalidInput:
    return InvalidInput(
        f"The timetable {cron[:64]!r} is not one: it has five fields of cron, minute, hour, day of"
        " the month, month and day of the week, such as '0 3 * * 1' for Mondays at 3:00.",
        pointer="/cron",
    )
