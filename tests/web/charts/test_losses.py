"""Test that the length of a bar is proportional to its loss."""

import pytest
from tests.web.charts.pictures import (
    SVG,
    parsed,
)

from penstock.web.charts.path import NoisePath, Point, noise_path


def test_losses_are_as_long_as_they_are_large_and_no_bound_is_the_longest() -> None:
    def lengths(together: float | None, independent: float | None) -> list[float]:
        path = NoisePath("t", "v", (Point(1, 1, "a", ("x",)),), together, independent)
        rects = parsed(noise_path(path, "p")).iter(f"{SVG}rect")
        return [float(e.get("width", "")) for e in rects if e.get("class") == "loss"]

    short, long = lengths(2.0, 3.0)
    assert long / short == pytest.approx(1.5, abs=0.01)
    bounded, unbounded = lengths(2.0, None)
    assert unbounded > 1.5 * bounded
