"""Compute the times of a schedule from five fields of cron and a time zone.

Fields with chance in them (``R``, ``H``), which the library would take, are refused: the times of a
schedule are the same for everybody who computes them.
"""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, time, timedelta
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
    from croniter import croniter

    next_after(cron, timezone, after)
    zone, counted = zone_of(timezone), 0
    (minutes, hours, *_), _ = croniter.expand(cron)
    a_day = (60 if minutes == ["*"] else len(minutes)) * (24 if hours == ["*"] else len(hours))
    first, last = (at.astimezone(zone).date() for at in (after, until))
    of_days = " ".join(["0 0", *cron.split()[2:]])
    days = croniter(of_days, datetime.combine(first, time()), ret_type=datetime)
    while counted <= most:
        begins = days.get_next(datetime)
        if begins.date() >= last:
            return False
        both = (each.replace(tzinfo=zone) for each in (begins, begins + timedelta(days=1)))
        counted += a_day if len({each.utcoffset() for each in both}) == 1 else 0
    return True


def next_after(cron: str, timezone: str, after: datetime) -> datetime:
    """Return the first time after a moment.  Raises as ``times`` does."""
    return next(times(cron, timezone, after))


def _unreadable(cron: str) -> InvalidInput:
    return InvalidInput(
        f"The timetable {cron[:64]!r} is not one: it has five fields of cron, minute, hour, day of"
        " the month, month and day of the week, such as '0 3 * * 1' for Mondays at 3:00.",
        pointer="/cron",
    )
