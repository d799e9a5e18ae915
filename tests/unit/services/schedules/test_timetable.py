"""Test the times of schedules, also where clocks are set forward and back."""

from datetime import UTC, datetime
from itertools import islice, takewhile
from typing import Any

import pytest
from croniter import croniter

from penstock.errors import InvalidInput
from penstock.services.schedules.timetable import are_surely_more, next_after, passed, times


def at(*parts: int) -> datetime:
    return datetime(*parts, tzinfo=UTC)  # type: ignore[arg-type,misc]  # the first five


def test_times_are_those_of_the_zone() -> None:
    assert next_after("0 3 * * 1", "UTC", at(2026, 1, 1)) == at(2026, 1, 5, 3)
    assert next_after("30 3 * * *", "Europe/Berlin", at(2026, 7, 1)) == at(2026, 7, 1, 1, 30)
    assert next_after("0 3 1 jan *", "UTC", at(2026, 1, 1, 3)) == at(2027, 1, 1, 3)


@pytest.mark.parametrize("begin", [at(2026, 3, 28), at(2026, 10, 24)])
@pytest.mark.parametrize("cron", ["30 2 * * *", "0 * * * *", "*/20 1-3 * * *"])
def test_every_time_comes_once_and_in_order_when_clocks_change(begin: datetime, cron: str) -> None:
    coming = list(islice(times(cron, "Europe/Berlin", begin), 100))
    assert coming == sorted(set(coming))
    assert coming[0] > begin


@pytest.mark.parametrize(
    "cron", ["", "* * * *", "* * * * * *", "R * * * *", "h * * * *", "61 * * * *", "@daily", "a b"]
)
def test_what_is_no_timetable_is_refused(cron: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        next_after(cron, "UTC", at(2026, 1, 1))
    assert problem.value.errors[0][0] == "/cron"


@pytest.mark.parametrize("zone", ["", "Mars/Olympus", "../etc/passwd", "\0"])
def test_an_unknown_zone_is_refused(zone: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        next_after("0 3 * * *", zone, at(2026, 1, 1))
    assert problem.value.errors[0][0] == "/timezone"


def test_an_hour_that_comes_twice_counts_once() -> None:
    """Else a schedule would take a second version for one night, under the names of the first."""
    nights = list(islice(times("30 2 * * *", "Europe/Berlin", at(2026, 10, 24, 12)), 2))
    assert nights == [at(2026, 10, 25, 0, 30), at(2026, 10, 26, 1, 30)]
    hours = list(islice(times("0 * * * *", "Europe/Berlin", at(2026, 10, 24, 23)), 3))
    assert hours == [at(2026, 10, 25, hour) for hour in (0, 2, 3)]


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "Asia/Kathmandu", "Pacific/Apia"])
@pytest.mark.parametrize(
    "cron", ["*/9 * * * *", "5,35 1-4 * * 1-5", "0 2 1,29 2,3,10 0", "1 1 * * *"]
)
def test_days_have_no_more_times_than_there_are(cron: str, zone: str) -> None:
    """Three days are left out at most: the first, the last, and that in which clocks change."""
    begin, end = at(2026, 3, 20, 1, 30), at(2026, 4, 2, 7)
    count = sum(1 for _ in takewhile(lambda each: each <= end, times(cron, zone, begin)))
    given = (cron, zone, begin, end)
    assert not are_surely_more(count, *given)
    of_a_day = max(1, count // 9)
    assert count < 4 * of_a_day or are_surely_more(count - 4 * of_a_day, *given)


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Return a list that grows by one with each time that is computed."""
    taken: list[object] = []
    get_next = croniter.get_next

    def counted(*given: Any, **more: Any) -> Any:
        taken.append(None)
        return get_next(*given, **more)

    monkeypatch.setattr(croniter, "get_next", counted)
    return taken


def test_every_minute_of_ten_years_is_not_counted_one_by_one(steps: list[object]) -> None:
    assert are_surely_more(100_000, "* * * * *", "UTC", at(2026, 1, 1), at(2036, 1, 1))
    assert len(steps) < 100


@pytest.mark.parametrize("most", [1, 100])
@pytest.mark.parametrize(
    "until", [at(2026, 3, 20, 1, 31), at(2026, 3, 21), at(2026, 4, 7, 4, 35), at(2026, 10, 26, 7)]
)
@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin", "America/Havana", "Australia/Lord_Howe"])
@pytest.mark.parametrize(
    "cron", ["*/90 */5 * * *", "5,35 0-3 * * 1-5", "30 2 1,29 2,3,10 0", "0 0 * * *", "15 9 1 1 *"]
)
def test_what_passed_is_what_comes_when_it_is_counted_one_by_one(
    cron: str, zone: str, until: datetime, most: int
) -> None:
    """Also where clocks change at midnight (Havana), or by half an hour (Lord Howe)."""
    begin = at(2026, 3, 20, 1, 30)
    one_by_one = list(takewhile(lambda each: each <= until, times(cron, zone, begin)))
    assert passed(cron, zone, begin, until, most) == (len(one_by_one), one_by_one[-most:])


@pytest.mark.parametrize("zone", ["UTC", "Europe/Berlin"])
def test_what_passed_in_a_year_of_minutes_takes_few_steps(zone: str, steps: list[object]) -> None:
    begin, until = at(2026, 1, 1, 0, 30), at(2027, 1, 1, 0, 29)
    count, newest = passed("* * * * *", zone, begin, until, 100)
    # In Berlin an hour is left out in spring; the one that comes twice in autumn counts once.
    assert count == 365 * 1440 - 1 - (60 if zone == "Europe/Berlin" else 0)
    assert (len(newest), newest[-1]) == (100, until)
    assert len(steps) < 10_000
