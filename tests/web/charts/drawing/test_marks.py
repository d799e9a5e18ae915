"""Test that pairs of marks differ in more than color."""

import itertools
import re

from tests.web.charts.pictures import (
    SVG,
    level,
    parsed,
)

from penstock.web.charts.intervals import Groups, dots_with_whiskers


def test_pairs_of_marks_differ_in_more_than_color() -> None:
    levels = tuple(level(f"tier {n}", [float(n)], 1) for n in range(8))
    svg = dots_with_whiskers(Groups("t", ("x",), levels), "p")
    groups = [e for e in parsed(svg).iter(f"{SVG}g") if e.get("class", "").startswith("t")]
    shapes = [
        tuple((e.tag, e.get("class"), re.sub(r"[\d.]+", "#", e.get("d", ""))) for e in group)[-1]
        for group in groups
    ]
    assert all(a != b for a, b in itertools.combinations(shapes, 2))
