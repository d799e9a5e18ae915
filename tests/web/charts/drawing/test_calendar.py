"""Test that the ticks of days are sensible days, within the axis and apart from each other."""

from datetime import date, timedelta

import pytest

from penstock.web.charts.drawing.axes import MOST_COUNTS, readable
from penstock.web.charts.drawing.calendar import dated, years_of

START = date(2026, 1, 1)
ODD = ("Jan", "Mar", "May", "Jul", "Sep", "Nov")


@pytest.mark.parametrize(
    ("first", "last", "labels"),
    [
        (date(2026, 2, 27), date(2026, 3, 2), ["27 Feb", "28 Feb", "1 Mar", "2 Mar"]),
        (START, date(2026, 2, 5), ["5 Jan", "12 Jan", "19 Jan", "26 Jan", "2 Feb"]),
        (START, date(2026, 6, 30), ["Jan", "Feb", "Mar", "Apr", "May", "Jun"]),
        (date(2025, 11, 15), date(2026, 12, 1), [f"{name} 2026" for name in ODD]),
        (date(2019, 5, 2), date(2026, 5, 2), [str(year) for year in range(2020, 2027)]),
    ],
)
def test_ticks_are_days_mondays_months_or_years(first: date, last: date, labels: list[str]) -> None:
    axis = dated(first, last, 40, 560)
    assert [label for _, label in axis.ticks] == labels
    assert (axis.at(first.toordinal()), axis.at(last.toordinal())) == (40, 560)


@pytest.mark.parametrize("width", [120, 260, 600])
@pytest.mark.parametrize("days", [0, 1, 2, 6, 7, 13, 20, 59, 100, 364, 400, 3000, 10**5, 10**6])
@pytest.mark.parametrize("first", [START, date(2024, 2, 29), date.min])
def test_there_are_ticks_at_every_length_and_all_of_them_fit(
    first: date, days: int, width: int
) -> None:
    axis = dated(first, first + timedelta(days), 0, width)
    assert 1 <= len(axis.ticks) <= MOST_COUNTS
    assert readable(axis)
    for value, _ in axis.ticks:
        assert first.toordinal() <= value <= first.toordinal() + days


def test_one_day_is_at_the_end_and_the_last_day_that_there_is_ends_an_axis() -> None:
    assert dated(START, START, 0, 100).at(START.toordinal()) == 100
    assert dated(date(9990, 1, 1), date.max, 0, 600).ticks[-1][1] == "9999"


def test_the_years_are_said_once() -> None:
    assert years_of(START, date(2026, 12, 31)) == "2026"
    assert years_of(START, date(2028, 1, 1)) == "2026 to 2028"
