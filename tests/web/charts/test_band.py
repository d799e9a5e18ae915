"""Test that a stream's band encloses its line at every step that is drawn."""

from tests.web.charts.pictures import (
    SVG,
    around,
    level,
    parsed,
    points,
    straight,
    texts,
)

from penstock.web.charts.band import Stream, line_with_band
from penstock.web.charts.drawing.svg import WIDE
from penstock.web.charts.drawing.values import Level


def test_a_band_lies_around_its_line_from_step_to_step() -> None:
    totals = Level("a", (around(10, 5), around(30, 5), around(25, 9), around(90, 10)))
    svg = line_with_band(Stream("t", (1, 2, 3, 10), (totals,)), "p", WIDE)
    ways = {e.get("class"): list(points(e.get("d", ""))) for e in parsed(svg).iter(f"{SVG}path")}
    line, edges = ways["line"], ways["edge"]
    straight([x for x, _ in line], [1, 2, 3, 10])
    expected = [i.value for i in totals.intervals] + [i.upper for i in totals.intervals]
    expected += [i.lower for i in totals.intervals]
    straight([-y for _, y in (*line, *edges)], expected)


def test_of_a_long_stream_some_steps_are_drawn_and_always_the_last() -> None:
    totals = level("a", [float(step) for step in range(10_000)], 5)
    svg = line_with_band(Stream("t", tuple(range(10_000)), (totals,)), "p", WIDE)
    line = next(e for e in parsed(svg).iter(f"{SVG}path") if e.get("class") == "line")
    assert len(list(points(line.get("d", "")))) < 300
    assert "Of 10,000 steps, one in 42 and the last are drawn; the table has all." in texts(svg)
