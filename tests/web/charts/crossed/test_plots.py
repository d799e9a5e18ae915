"""Test where steps and their labels are on an axis."""

from itertools import pairwise

import pytest
from tests.web.charts.pictures import grid, level, points

from penstock.web.charts.crossed.plots import APART, band, steps_axis, way
from penstock.web.charts.drawing.axes import upright
from penstock.web.charts.drawing.lettering import width_of
from penstock.web.charts.drawing.values import Interval


@pytest.mark.parametrize("count", [3, 7, 40, 300])
def test_labels_are_apart_and_within_the_plot(count: int) -> None:
    steps = tuple(f"[{place}, {place + 1})" for place in range(count))
    values = [0.0] * (2 * count)
    axis = steps_axis(grid(("x", "y"), steps, (level("a", values, 1),)), 30, 200, 4)
    assert (axis.at(0), axis.at(count - 1)) == (34, 196)
    spans = [
        (seat - width_of(steps[step]) / 2, seat + width_of(steps[step]) / 2)
        for step, seat in axis.labels
    ]
    assert spans[0][0] >= 30 - 1e-9
    assert spans[-1][1] <= 200 + 1e-9
    assert all(right[0] - left[1] >= APART - 1e-9 for left, right in pairwise(spans))


def test_of_labels_that_would_overlap_the_first_alone_is_written() -> None:
    steps = ("[10000, 11000)", "[11000, 12000)", "[12000, 13000)")
    axis = steps_axis(grid(("x", "y"), steps, (level("a", [0.0] * 6, 1),)), 0, 143, 4)
    assert [step for step, _ in axis.labels] == [0]


def test_a_band_goes_along_the_upper_ends_and_back_along_the_lower_ones() -> None:
    y = upright(0, 10, 100, 0)
    area, edge = band([1, 2], [Interval(5, 4, 7), Interval(6, 5, 9)], y)
    corners = list(points(area.get("d", "")))[:4]
    expected = [(1, 7), (2, 9), (2, 5), (1, 4)]
    assert [at for at, _ in corners] == [1, 2, 2, 1]
    for (_, drawn), (_, value) in zip(corners, expected, strict=True):
        assert drawn == pytest.approx(y.at(value), abs=0.06)
    assert edge.get("d", "").count("M") == 2
    assert way([(1, 2), (3.04, 4)]) == "M1 2L3 4"
