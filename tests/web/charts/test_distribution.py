"""Test that a distribution function's curve lies in its band, which leaves quantiles' intervals."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from tests.web.charts.pictures import SVG, parsed, points, sentences, straight, texts, whiskers

from penstock.errors import InvalidInput
from penstock.web.charts.distribution import (
    MOST_LABELS,
    MOST_POINTS,
    NONE,
    Distribution,
    Quantile,
    curve_with_band,
    rows,
)
from penstock.web.charts.drawing.svg import NARROW, WIDE
from penstock.web.charts.drawing.values import Interval

AGES = Distribution(
    "ages at public",
    "age",
    (0.0, 10.0, 20.0, 30.0, 40.0),
    (0.1, 0.5, 0.9, 1.0),
    (0.05, 0.4, 0.8, 1.0),
    (0.2, 0.6, 0.97, 1.0),
    (Quantile("quantile 0.5", 0.5, Interval(20, 10, 30)),),
)
"""Of a share of 0.5 the upper end of the band is first reached in the second bin, the lower one at
the upper end of the third."""


def ways(content: Distribution, width: int = WIDE) -> dict[str, list[tuple[float, float]]]:
    """Return the points of the curve and of its band, by the kind of the path."""
    root = parsed(curve_with_band(content, "p", width))
    return {e.get("class", ""): list(points(e.get("d", ""))) for e in root.iter(f"{SVG}path")}


def test_the_curve_goes_through_the_shares_at_all_edges() -> None:
    line = ways(AGES)["line"]
    straight([x for x, _ in line], list(AGES.edges))
    straight([-y for _, y in line], [0.0, *AGES.shares])


def test_the_band_has_steps_that_leave_the_interval_of_a_quantile() -> None:
    drawn = ways(AGES)
    scale = dict(zip(AGES.edges, [x for x, _ in drawn["line"]], strict=True))
    height = drawn["line"][0][1] + 0.5 * (drawn["line"][-1][1] - drawn["line"][0][1])
    half = len(drawn["edge"]) // 2
    upper, lower = drawn["edge"][:half], drawn["edge"][half:]
    # Heights grow downwards.
    assert min(x for x, y in upper if y <= height) == scale[10.0]
    assert min(x for x, y in lower if y <= height) == scale[30.0]
    ((left, right),) = whiskers(curve_with_band(AGES, "p", WIDE))
    assert (left, right) == (scale[10.0], scale[30.0])


def test_of_many_bins_some_edges_are_drawn_and_their_band_has_all_others() -> None:
    edges = tuple(map(float, range(1025)))
    shares = np.linspace(0, 1, 1025)[1:]
    parts = (shares, np.clip(shares - 0.1, 0, 1), np.clip(shares + 0.1, 0, 1))
    parts[1][-1] = 1
    middle, ends = tuple(shares.tolist()), [tuple(part.tolist()) for part in parts[1:]]
    content = Distribution("t", "age", edges, middle, ends[0], ends[1])
    drawn = ways(content)
    assert len(drawn["line"]) <= MOST_POINTS + 1
    assert any("5 each are drawn as one" in line for line in texts(curve_with_band(content, "p")))
    low, high = drawn["line"][0], drawn["line"][-1]
    half = len(drawn["edge"]) // 2
    upper, lower = drawn["edge"][:half], drawn["edge"][half:]
    for place in range(1, 1024, 7):
        x = low[0] + (high[0] - low[0]) * place / 1024
        least, most = (low[1] + (high[1] - low[1]) * part[place - 1] for part in parts[1:])
        # Heights grow downwards.
        assert _height(upper, x) <= most + 0.1
        assert _height(lower, x) >= least - 0.1


def _height(steps: list[tuple[float, float]], x: float) -> float:
    """Return the height of a step at x, to a tenth of a unit."""
    return next(a[1] for a, b in pairwise(steps) if a[1] == b[1] and a[0] <= x <= b[0] + 0.1)


def test_bins_at_powers_of_two_are_at_equal_distances_and_ends_without_rows_are_left_out() -> None:
    edges = (0.0, *(2.0**power for power in range(-20, 21)))
    shares = tuple(0.0 if edge < 16 else 0.5 if edge < 64 else 1.0 for edge in edges[1:])
    content = Distribution("t", "cost", edges, shares, shares, shares)
    drawn = ways(content)["line"]
    gaps = np.diff([x for x, _ in drawn])
    assert gaps == pytest.approx(np.full(len(gaps), gaps[0]), abs=0.2)
    assert len(drawn) < 10
    written = texts(curve_with_band(content, "p", WIDE))
    assert {"8", "16", "32", "64"} <= set(written)
    assert any("leaves out ends with few rows" in line for line in written)


def test_values_are_written_beside_few_quantiles_and_all_are_in_tooltips() -> None:
    (median,) = AGES.quantiles
    assert "20" in texts(curve_with_band(AGES, "p", NARROW))
    assert "quantile 0.5: 20 (10 to 30)" in sentences(curve_with_band(AGES, "p"))
    many = tuple(replace(median, name=f"quantile {n}") for n in range(MOST_LABELS + 1))
    svg = curve_with_band(replace(AGES, quantiles=many), "p")
    assert parsed(svg).find(f".//{SVG}text[@class='strong']") is None
    assert len(rows(replace(AGES, quantiles=many)).rows) == MOST_LABELS + 1


def test_what_is_no_distribution_function_is_refused_and_none_is_said() -> None:
    with pytest.raises(InvalidInput, match="never falls"):
        curve_with_band(replace(AGES, lower=(0.4, 0.05, 0.8, 1.0)), "p")
    with pytest.raises(InvalidInput, match="4 bins"):
        curve_with_band(replace(AGES, edges=(0.0, 1.0, 2.0, 3.0, 4.0), shares=(0.1, 1.0)), "p")
    none = replace(AGES, shares=(), lower=(), upper=(), quantiles=())
    assert texts(curve_with_band(none, "p")) == [NONE]
