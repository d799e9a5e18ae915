"""Test panels of lines: every level is in each, on one axis, the noisier behind."""

import pytest
from tests.web.charts.pictures import grid, level, parsed, points, straight, texts

from penstock.web.charts.crossed.panels import MOST, panels_of_lines
from penstock.web.charts.drawing.svg import NARROW, WIDE

YEARS = ("2019", "2020", "2022")


@pytest.mark.parametrize("width", [NARROW, WIDE])
def test_levels_lie_on_one_another_the_less_accurate_behind(width: int) -> None:
    fine, coarse = level("fine", [30, 40, 50, 10, 12, 14], 2), level("coarse", [25.0] * 6, 20)
    svg = panels_of_lines(grid(("x", "y"), YEARS, (fine, coarse)), "p", width)
    drawn = [
        (each.get("class"), {part.get("class"): part.get("d", "") for part in each})
        for each in parsed(svg).iter()
        if any(part.get("class") == "band" for part in each)
    ]
    assert [shade for shade, _ in drawn] == ["t1", "t0", "t1", "t0"]
    heights = [y for _, y in points(drawn[1][1]["line"])]
    heights += [y for _, y in points(drawn[1][1]["band"])][:3]
    straight(heights, [30, 40, 50, 32, 42, 52])
    left = min(x for x, _ in points(drawn[3][1]["line"]))
    assert left > max(x for x, _ in points(drawn[1][1]["line"]))
    assert {"x", "y", "fine", "coarse"} <= set(texts(svg))


def test_the_panels_have_one_scale() -> None:
    fine = level("fine", [30, 40, 50, 10, 12, 14], 2)
    svg = panels_of_lines(grid(("x", "y"), YEARS, (fine, fine)), "p", WIDE)
    heights = [
        [y for _, y in points(part.get("d", ""))]
        for part in parsed(svg).iter()
        if part.get("class") == "line" and "L" in part.get("d", "")
    ]
    straight([*heights[0], *heights[2]], [30, 40, 50, 10, 12, 14])


def test_of_many_panels_the_largest_are_drawn_and_the_others_are_in_the_table() -> None:
    names = tuple(f"plan {place}" for place in range(MOST + 3))
    own = level("a", [float(place) for place in range(3 * len(names))], 1)
    svg = panels_of_lines(grid(names, YEARS, (own, own)), "p", WIDE)
    shown = [text for text in texts(svg) if text.startswith("plan ")]
    assert shown == [f"plan {place}" for place in range(MOST + 2, 2, -1)]
    assert "9 of 45 groups are not shown here; the table has 0 of them." in texts(svg)
