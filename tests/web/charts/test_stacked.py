"""Test that pieces of a budget are as wide as their shares."""

import pytest
from tests.web.charts.pictures import (
    SVG,
    parsed,
    straight,
)

from penstock.web.charts.drawing.svg import WIDE
from penstock.web.charts.stacked import Budgets, Part, TierBudget, budget_bars


def test_pieces_of_a_budget_are_as_wide_as_their_shares() -> None:
    parts = (Part("x", 0.5), Part("y", 0.25), Part("z", 0.05))
    svg = budget_bars(Budgets("t", (TierBudget("a", 1, parts),)), "p", WIDE)
    rects = [e for e in parsed(svg).iter(f"{SVG}rect") if e.get("class") == "piece"][:3]
    widths = [float(e.get("width", "")) for e in rects]
    straight([0, *widths], [0, 0.5, 0.25, 0.05])
    starts = [float(e.get("x", "")) for e in rects]
    ends = [start + width for start, width in zip(starts, widths, strict=True)]
    assert starts[1:] == pytest.approx(ends[:-1], abs=0.2)
