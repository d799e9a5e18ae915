"""Test lines of a chart: room for the longest name and number, and an axis in what is left."""

import pytest
from tests.web.charts.pictures import LONG, around

from penstock.web.charts.drawing.lettering import width_of
from penstock.web.charts.drawing.numbers import digits_of
from penstock.web.charts.lines import Line, caption, columns_for, cropped, drawn

VALUES = [(120.0, 3.0), (7.0, 3.0), (0.0, 3.0)]


def lines(names: tuple[str, ...] = ("rural", "urban", "elsewhere")) -> list[Line]:
    intervals = [around(value, half) for value, half in VALUES]
    digits = digits_of(intervals)
    return [Line(name, each, digits, 0) for name, each in zip(names, intervals, strict=True)]


@pytest.mark.parametrize("width", [320, 560, 800])
def test_names_axis_and_numbers_do_not_overlap(width: int) -> None:
    columns = columns_for(lines(), width)
    axis = columns.axis
    ends = sorted((axis.at(axis.low), axis.at(axis.high)))
    written = max(width_of(line.digits.write(line.interval.value), bold=True) for line in lines())
    assert columns.names <= ends[0]
    assert ends[1] <= columns.values - written
    assert columns.values <= width


def test_a_long_name_takes_no_more_than_its_part() -> None:
    assert columns_for(lines((LONG, "b", "c")), 400).names == 120


def test_ranges_are_left_out_where_there_is_no_room() -> None:
    assert columns_for(lines(), 320).ranges == 0
    assert columns_for(lines(), 800).ranges > 0


def test_a_line_tells_its_numbers_to_whoever_points_at_it() -> None:
    line = lines()[0]
    sentence = line.sentence("all")
    assert line.digits.write(120.0) in sentence
    elements = list(drawn(line, columns_for(lines(), 400), 50, sentence))
    titles = [title.text for each in elements for title in each.iter("title")]
    assert titles == [sentence]


def test_an_axis_without_zero_says_so() -> None:
    digits = digits_of([around(1000, 1), around(1002, 1)])
    far = [Line(name, around(value, 1), digits, 0) for name, value in (("a", 1000), ("b", 1002))]
    assert cropped(columns_for(far, 400).axis) == "Zero is not on this axis."
    assert cropped(columns_for(lines(), 400).axis) == ""


def test_a_caption_names_the_quantity_and_the_confidence() -> None:
    assert (caption(0.95, "visits", 400).text or "").startswith("Visits, with 95")
    assert (caption(0.95, "", 400).text or "").startswith("Values with 95")
