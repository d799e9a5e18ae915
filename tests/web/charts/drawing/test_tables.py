"""Test that a picture and its table show the same numbers."""

import re

import pytest
from tests.web.charts.pictures import Chart, around, charts, level, sentences, texts, usual

from penstock.web.charts.band import Stream, rows
from penstock.web.charts.drawing.svg import NARROW, WIDE
from penstock.web.charts.drawing.values import Level

KINDS = sorted(usual())
A_NUMBER = re.compile(
    r"(?<![\w.,])[−<]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:×10[⁻⁰¹²³⁴⁵⁶⁷⁸⁹]+)?%?"
)


def written(chart: Chart, width: int) -> set[str]:
    """Return every number in the picture: in texts, tooltips and the description."""
    svg = chart.draw("p", width)
    return {number for text in (*sentences(svg), *texts(svg)) for number in A_NUMBER.findall(text)}


def listed(chart: Chart) -> set[str]:
    """Return every number in the table's columns of numbers."""
    return {
        number
        for row in chart.table.rows
        for place in chart.table.right
        for number in A_NUMBER.findall(row[place])
    }


@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("kind", sorted({*KINDS} - {"budgets", "margins", "stream", "over time"}))
def test_every_number_of_the_table_is_in_the_picture(kind: str, width: int) -> None:
    chart = usual()[kind]
    assert listed(chart)
    assert listed(chart) <= written(chart, width)


def test_a_stream_says_its_last_totals_and_every_share_of_a_budget_is_said() -> None:
    for kind in ("stream", "over time"):
        stream = usual()[kind]
        last = {number for cell in stream.table.rows[-1] for number in A_NUMBER.findall(cell)}
        assert last <= written(stream, NARROW)
    budgets = usual()["budgets"]
    assert listed(budgets) - {"0%"} <= written(budgets, NARROW)


@pytest.mark.parametrize("kind", ["groups", "ranking", "story"])
def test_every_number_that_marks_say_is_in_the_table(kind: str) -> None:
    chart = charts(("one", "two", "three", "four"))[kind]
    svg = chart.draw("p", WIDE)
    marks = [text for text in sentences(svg)[1:-1] if "(" in text]
    assert marks
    for text in marks:
        numbers = set(A_NUMBER.findall(text.split(": ", 1)[1]))
        assert len(numbers) == 3
        assert numbers <= listed(chart)


@pytest.mark.parametrize("kind", KINDS)
def test_tables_are_rectangles_with_numbers_to_the_right(kind: str) -> None:
    table = usual()[kind].table
    assert table.rows
    assert {len(row) for row in table.rows} == {len(table.head)}
    assert all(place < len(table.head) for place in table.right)
    assert table.caption == "public"


def test_the_table_has_what_the_picture_leaves_out() -> None:
    steps = tuple(range(1, 10_001))
    totals = Level("a", tuple(around(float(step), 5) for step in steps))
    table = rows(Stream("t", steps, (totals,), step="week"))
    assert table.head == ("week", "value", "lower 95%", "upper 95%")
    assert len(table.rows) == 10_000
    assert table.rows[1233] == ("1,234", "1,234", "1,229", "1,239")


def test_several_levels_are_told_apart_in_the_head() -> None:
    levels = (level("public", [5], 2), level("partner", [6], 1))
    assert rows(Stream("t", (1,), levels)).head[1:5] == (
        "public: value",
        "public: lower 95%",
        "public: upper 95%",
        "partner: value",
    )
