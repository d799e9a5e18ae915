"""Test that numbers not finite, or not fitting together, are refused before drawing."""

import math

import pytest
from tests.web.charts.pictures import (
    around,
    level,
)

from penstock.errors import InvalidInput
from penstock.web.charts.band import Stream, line_with_band
from penstock.web.charts.drawing.values import Interval
from penstock.web.charts.intervals import Groups, dots_with_whiskers
from penstock.web.charts.ladder import Ladder, Move, Tier, ladder
from penstock.web.charts.path import NoisePath, Point, noise_path
from penstock.web.charts.ranked import Ranking, ranked_list
from penstock.web.charts.stacked import Budgets, Part, TierBudget, budget_bars
from penstock.web.charts.story import Release

BAD = (math.nan, math.inf, -math.inf, 1e301)


@pytest.mark.parametrize("bad", BAD)
def test_what_is_not_finite_is_refused(bad: float) -> None:
    for refused in (
        lambda: Interval(bad, 0, 1),
        lambda: Interval(0, bad, 1),
        lambda: Interval(0, -1, bad),
        lambda: Point(bad, 1, "a", ()),
        lambda: Point(1, bad, "a", ()),
        lambda: Release("a", "b", around(0, 1), bad),
        lambda: budget_bars(Budgets("t", (TierBudget("a", bad),)), "p"),
        lambda: budget_bars(Budgets("t", (TierBudget("a", 1, (Part("q", bad),)),)), "p"),
        lambda: noise_path(NoisePath("t", "v", (Point(1, 1, "a", ("x",)),), bad, 1), "p"),
    ):
        with pytest.raises(InvalidInput):
            refused()


def test_what_does_not_fit_together_is_refused() -> None:
    released = level("a", [1, 2], 1)
    for refused in (
        lambda: Interval(2, 0, 1),
        lambda: Point(0, 1, "a", ()),
        lambda: Point(1, -1, "a", ()),
        lambda: dots_with_whiskers(Groups("t", ("x",), (released,)), "p"),
        lambda: ranked_list(Ranking("t", ("x",), released), "p"),
        lambda: line_with_band(Stream("t", (2, 1), (released,)), "p"),
        lambda: ladder(Ladder("t", (Tier("a"),), Move("x", "a", "b")), "p"),
        lambda: budget_bars(Budgets("t", (TierBudget("a", 1, (Part("q", 1.1),)),)), "p"),
        lambda: budget_bars(Budgets("t", (TierBudget("a", 1, (Part("q", -0.1),)),)), "p"),
    ):
        with pytest.raises(InvalidInput, match=r"\d|ladder"):
            refused()
