"""Test sums of independent losses against randomized response, value by value."""

import math
from collections.abc import Sequence
from itertools import permutations
from typing import Any

import mpmath
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import stats

from penstock.mechanisms import loss_sums
from penstock.mechanisms.loss_sums import (
    BOUNDING_GRID,
    ROUGH_GRID,
    Losses,
    _lowest,
    best_ratios,
    bounding_epsilon,
    epsilon_of_sum,
    largest_epsilon,
    raised_to,
)


def _response(epsilon: float, lost: float = 0.0) -> Losses:
    """Return randomized response: the loss is ``epsilon`` or ``-epsilon``."""
    likely = 1 / (1 + math.exp(-epsilon))
    return Losses(np.array([-epsilon, epsilon]), np.array([1 - likely, likely]), lost)


def _delta(single: float, count: int, epsilon: float) -> float:
    """Return the hockey-stick divergence of ``count`` responses, by the number of true answers."""
    true = np.arange(count + 1)
    masses = stats.binom.pmf(true, count, 1 / (1 + math.exp(-single)))
    losses = single * (2 * true - count)
    return float((masses * np.maximum(-np.expm1(epsilon - losses), 0.0)).sum())


@pytest.mark.parametrize(("single", "count"), [(0.1, 100), (1.0, 5), (0.01, 2_000)])
def test_the_epsilon_of_a_sum_is_that_of_the_enumeration_and_not_below(
    single: float, count: int
) -> None:
    epsilon = epsilon_of_sum([_response(single)], [count], 1e-5)
    assert _delta(single, count, epsilon) <= 1e-5
    assert _delta(single, count, epsilon * (1 - 1e-3)) > 1e-5


def _exact(single: float, count: int, delta: float) -> float:
    """Return the epsilon of ``count`` responses at ``delta`` to 12 digits and more."""
    with mpmath.workdps(40):
        loss, likely = mpmath.mpf(single), 1 / (1 + mpmath.exp(-mpmath.mpf(single)))

        def above(epsilon: Any) -> Any:
            return mpmath.fsum(
                mpmath.binomial(count, true)
                * likely**true
                * (1 - likely) ** (count - true)
                * (1 - mpmath.exp(epsilon - loss * (2 * true - count)))
                for true in range(count + 1)
                if loss * (2 * true - count) > epsilon
            )

        low, high = mpmath.mpf(0), loss * count
        for _ in range(60):
            middle = (low + high) / 2
            low, high = (middle, high) if above(middle) > delta else (low, middle)
        return float(high)


@pytest.mark.parametrize(
    ("single", "count", "delta"),
    [(0.5, 46, 1e-9), (1.0, 148, 1e-6), (0.7, 255, 1e-10), (0.3, 148, 1e-12)],
)
def test_rounding_raises_an_epsilon_at_a_small_delta(
    single: float, count: int, delta: float
) -> None:
    exact, losses = _exact(single, count, delta), [_response(single)]
    for size in (BOUNDING_GRID, 1 << 17):
        assert exact <= epsilon_of_sum(losses, [count], delta, size) < exact * (1 + 1e-3)


def _mixed(parts: list[tuple[float, float]]) -> Losses:
    """Return randomized response of an epsilon that is drawn first: pairs of it and its weight."""
    epsilon, weight = np.array(parts).T
    likely = weight / weight.sum() / (1 + np.exp(-epsilon))
    losses = np.concatenate((epsilon, -epsilon))
    return Losses(losses, np.concatenate((likely, likely * np.exp(-epsilon))), 0.0)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0.01, 3), st.floats(0.01, 1)), min_size=1, max_size=6),
    st.integers(1, 300),
    st.sampled_from([1e-3, 1e-6, 1e-9]),
)
@example([(0.5, 1.0)], 46, 1e-9)  # a fine grid's rounding shows
def test_a_coarse_grid_bounds_the_epsilon_of_a_fine_one(
    parts: list[tuple[float, float]], count: int, delta: float
) -> None:
    losses = [_mixed(parts)]
    assert bounding_epsilon(losses, [count], delta) >= epsilon_of_sum(losses, [count], delta)


def test_nothing_is_ruled_out_for_a_delta_as_small_as_rounding() -> None:
    assert bounding_epsilon([_response(0.5)], [46], 1e-14) == math.inf


def test_the_largest_of_sums_is_that_of_fine_grids_where_a_coarse_one_has_them_the_other_way(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A sum whose losses lie between points of the coarse grid may seem to lose more."""
    monkeypatch.setattr(loss_sums, "BOUNDING_GRID", 1 << 7)
    sums = [[_mixed([(1.0, 1.0), (float(rare), 0.05)])] for rare in np.linspace(1.0, 2.5, 31)]
    bounds = [epsilon_of_sum(losses, [20], 1e-3, 1 << 7) for losses in sums]
    fine = [epsilon_of_sum(losses, [20], 1e-3) for losses in sums]
    turned = [
        (first, second)
        for first, second in permutations(range(len(sums)), 2)
        if bounds[first] > bounds[second] and fine[first] < fine[second]
    ]
    assert turned
    for first, second in turned:
        assert largest_epsilon([sums[first], sums[second]], [20], 1e-3) == fine[second]
    assert largest_epsilon(sums, [20], 1e-3) == max(fine)


def test_sums_that_a_coarse_grid_rules_out_need_no_fine_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    sizes = []

    def counted(
        losses: Sequence[Losses], counts: Sequence[int], delta: float, size: int = 1 << 17
    ) -> float:
        sizes.append(size)
        return epsilon_of_sum(losses, counts, delta, size)

    monkeypatch.setattr(loss_sums, "epsilon_of_sum", counted)
    sums = [[_response(0.1)], [_response(0.2)], [_response(0.15)]]
    assert largest_epsilon(sums, [20], 1e-6) == epsilon_of_sum(sums[1], [20], 1e-6)
    assert sorted(sizes) == [BOUNDING_GRID] * 3 + [1 << 17]


def test_infinite_parts_above_delta_leave_no_epsilon() -> None:
    assert epsilon_of_sum([_response(0.1, lost=1e-6)], [20], 1e-5) == math.inf
    assert epsilon_of_sum([_response(0.1, lost=1e-7)], [20], 1e-5) < 2.0


def test_atoms_on_a_grid_keep_their_mass_under_both_laws() -> None:
    losses, unit = _response(0.35), 0.01
    grid = losses.on_grid(unit, ROUGH_GRID)
    places = np.arange(len(grid))
    at = np.where(places > len(grid) // 2, places - len(grid), places) * unit
    filled = grid > 0
    other = (grid[filled] * np.exp(-at[filled])).sum()
    assert grid.sum() == pytest.approx(1.0, rel=1e-12)
    assert other == pytest.approx(float((losses.mass * np.exp(-losses.loss)).sum()), rel=1e-12)


def test_a_test_that_delta_covers_has_no_ratio() -> None:
    ratios = best_ratios(np.array([0.5, 0.1]), np.array([0.1, 0.1]), 0.1)
    assert ratios.tolist() == [pytest.approx(math.log(4)), -math.inf]


@pytest.mark.parametrize("exponent", [0, 1, 2, 7, 12])
def test_powers_by_squaring_are_products_and_leave_the_base(exponent: int) -> None:
    base = np.array([1 + 1j, 0.5, -2j])
    expected = np.array([math.prod([value] * exponent, start=1 + 0j) for value in base])
    assert raised_to(base, exponent) == pytest.approx(expected)
    assert base.tolist() == [1 + 1j, 0.5, -2j]


def test_the_lowest_of_values_that_fall_and_rise_is_found() -> None:
    for size in (1, 2, 24):
        for place in range(size):
            assert _lowest(lambda at: abs(at - place) + 0.5, size) == 0.5  # noqa: B023 - called now
