"""Test that values of steps and totals share their steps, and that the table has both."""

from dataclasses import replace
from datetime import date

import pytest
from tests.web.charts.pictures import SVG, level, parsed, points, straight

from penstock.errors import NotDrawable
from penstock.web.charts.band import Stream
from penstock.web.charts.drawing.svg import NARROW, WIDE
from penstock.web.charts.drawing.values import Level
from penstock.web.charts.over_time.two_panels import Panels, rows, values_and_totals


def panels() -> Panels:
    values = Stream("t", (2, 3, 4), (level("a", [5.0, -1.0, 9.0], 2.5),), "value by step")
    totals = Stream("t", (1, 2, 3, 4), (level("a", [1e4, 10005.0, 10004.0, 10013.0], 30),))
    return Panels("t", values, totals)


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_both_panels_have_one_axis_of_steps(width: int) -> None:
    svg = parsed(values_and_totals(panels(), "p", width))
    lines = [e for e in svg.iter(f"{SVG}path") if e.get("class") == "line"]
    above, below = (list(points(line.get("d", ""))) for line in lines)
    straight([x for x, _ in (*above, *below)], [2, 3, 4, 1, 2, 3, 4])
    straight([-y for _, y in above], [5, -1, 9])
    straight([-y for _, y in below], [10_000, 10_005, 10_004, 10_013])
    moved = [e.get("transform", "") for e in svg if e.tag == f"{SVG}g"]
    assert moved[0] == "translate(0 0)" != moved[1]


def test_the_table_has_a_total_for_each_step_and_the_values_there_are() -> None:
    table = rows(panels())
    assert table.head[:4] == ("step", "value", "lower 95%", "upper 95%")
    assert table.head[4:] == ("total", "total, lower 95%", "total, upper 95%")
    assert table.rows[0] == ("1", "", "", "", "10,000", "9,970", "10,030")
    assert table.rows[2][:2] + table.rows[2][4:5] == ("3", "−1", "10,004")


def test_without_values_the_totals_stand_alone_and_a_value_needs_a_total() -> None:
    both = panels()
    none = Stream("t", (), ())
    svg = parsed(values_and_totals(Panels("t", none, both.totals), "p", WIDE))
    assert len([e for e in svg if e.tag == f"{SVG}g"]) == 1
    assert rows(Panels("t", none, both.totals)).head[:2] == ("step", "total")
    assert "No step" in values_and_totals(Panels("t", none, none), "p", WIDE)
    with pytest.raises(NotDrawable, match="needs a total"):
        rows(Panels("t", both.totals, Stream("t", (1,), (Level("a", ()),)[:0])))


def test_a_long_stream_is_bounded() -> None:
    steps = tuple(range(1, 10_001))
    numbers = level("a", [float(step) for step in steps], 5)
    long = Stream("t", steps, (numbers,))
    assert len(values_and_totals(Panels("t", long, long), "p", WIDE)) < 60_000


def dated() -> Panels:
    """Return the panels with a day for each step, one of which was missed."""
    both, days = panels(), tuple(date(2026, 2, day) for day in (25, 26, 28))
    values = replace(both.values, days=days)
    totals = replace(both.totals, days=(date(2026, 2, 24), *days))
    return Panels("t", values, totals)


def test_steps_whose_days_are_known_are_by_their_days() -> None:
    drawing = values_and_totals(dated(), "p", WIDE)
    svg = parsed(drawing)
    lines = [e for e in svg.iter(f"{SVG}path") if e.get("class") == "line"]
    above, below = (list(points(line.get("d", ""))) for line in lines)
    straight([x for x, _ in (*above, *below)], [25, 26, 28, 24, 25, 26, 28])
    assert [drawing.count(f">{text}<") for text in ("26 Feb", "day (UTC), 2026", "step")] == [
        *(2, 2, 0)
    ]
    assert "a, 2026-02-28 (step 4): 10,013 (9,983 to 10,043)" in drawing
    table = rows(dated())
    assert table.head[0] == "day (UTC)"
    assert [row[0] for row in table.rows][::3] == ["2026-02-24 (step 1)", "2026-02-28 (step 4)"]
    assert [row[1] for row in table.rows] == ["", "5", "−1", "9"]


def test_days_that_do_not_fit_the_steps_are_refused() -> None:
    both = dated()
    for wrong, said in (
        (replace(both.totals, days=both.totals.days[:3]), "4 steps have 3 days"),
        (replace(both.totals, days=both.totals.days[:1] * 4), "Days must increase"),
        (replace(both.totals, days=()), "of the same day"),
    ):
        with pytest.raises(NotDrawable, match=said):
            values_and_totals(replace(both, totals=wrong), "p", WIDE)
