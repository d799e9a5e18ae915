"""Test that points of a noise path lie at the logarithms of their levels."""

import math

import pytest
from tests.web.charts.pictures import (
    HAIR,
    SVG,
    parsed,
    straight,
    texts,
    whiskers,
)

from penstock.web.charts.drawing.svg import WIDE
from penstock.web.charts.path import NoisePath, Point, noise_path


def test_points_of_a_noise_path_are_at_the_logarithms_of_their_levels() -> None:
    levels = (64.0, 113.0, 254.0, 1000.0)
    released = tuple(Point(t, math.sqrt(t), f"tier {t}", (f"p{t}",)) for t in levels)
    svg = noise_path(NoisePath("t", "variance", released, 2, 3), "p", WIDE)
    straight([a for a, _ in centers(svg)], [math.log(t) for t in levels])
    heights = [bottom - top for top, bottom in whiskers(svg, 1)]
    straight(heights, [math.sqrt(t) for t in levels])
    middles = [(bottom + top) / 2 for top, bottom in whiskers(svg, 1)]
    assert middles == pytest.approx([middles[0]] * 4, abs=HAIR)
    assert any(text == "best informed: p64.0" for text in texts(svg))


def centers(svg: str) -> list[tuple[float, float]]:
    return [((a + b) / 2, 0.0) for a, b in whiskers(svg)]


def test_who_shares_a_release_shares_a_point() -> None:
    released = (Point(64, 15, "a", ("x",)), Point(64, 15, "b", ("y",)), Point(90, 20, "a", ("z",)))
    svg = noise_path(NoisePath("t", "variance", released, 2, 3), "p", WIDE)
    assert len(whiskers(svg)) == 2
    assert "best informed: x, y" in texts(svg)


def test_the_levels_of_a_path_have_the_ramp_of_levels() -> None:
    released = (Point(64, 15, "a", ("x",)), Point(90, 20, "b", ("z",)))
    svg = noise_path(NoisePath("t", "variance", released, 2, 3), "p", WIDE)
    groups = [
        group for group in parsed(svg).iter(f"{SVG}g") if group.find(f"{SVG}title") is not None
    ]
    assert [group.get("class") for group in groups][:2] == ["t0", "t1"]
