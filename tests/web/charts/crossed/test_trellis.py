"""Test panels of dots: where dots and whiskers are, and in which order."""

import pytest
from tests.web.charts.pictures import grid, level, sentences, straight, texts, whiskers

from penstock.web.charts.crossed.trellis import MOST_LINES, ORDER, panels_of_dots
from penstock.web.charts.drawing.svg import NARROW, WIDE


def test_whiskers_cover_what_they_say_on_one_scale() -> None:
    fine, coarse = level("fine", [30, 40, -50, 10], 2), level("coarse", [25, 50, -40, 0], 20)
    svg = panels_of_dots(grid(("x", "y"), ("a", "b"), (fine, coarse)), "p", NARROW)
    # The panel and the line with the largest value are first: x before y, b before a.
    order = [1, 0, 3, 2]
    drawn = whiskers(svg)
    expected = [
        (own.intervals[place].lower, own.intervals[place].upper)
        for panel in (order[:2], order[2:])
        for own in (coarse, fine)
        for place in panel
    ]
    straight([end for ends in drawn for end in ends], [end for ends in expected for end in ends])


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_panels_and_lines_are_in_the_order_of_their_largest_values(width: int) -> None:
    own = level("", [1, 9, 2, 8, 3, 20], 1)
    svg = panels_of_dots(grid(("yes", "no"), ("x", "y", "z"), (own,)), "p", width)
    names = [text for text in texts(svg) if text in {"yes", "no", "x", "y", "z"}]
    assert names == (
        ["no", "z", "y", "x", "yes"]
        if width == WIDE
        else ["no", "z", "y", "x", "yes", "z", "y", "x"]
    )
    assert ORDER in " ".join(texts(svg))
    assert "no, z: 20 (19 to 21)" in sentences(svg)


def test_what_is_not_drawn_is_said() -> None:
    towns = tuple(f"town {place:02}" for place in range(MOST_LINES + 6))
    own = level("a", [float(place) for place in range(2 * len(towns))], 1)
    svg = panels_of_dots(grid(towns, ("no", "yes"), (own,)), "p", WIDE)
    assert len(whiskers(svg)) == 2 * MOST_LINES
    assert any(line.startswith("12 of 60 groups are not shown here") for line in texts(svg))
