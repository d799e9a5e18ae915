"""Test sums of independent losses against randomized response, value by value."""

import math

import numpy as np
import pytest
from scipy import stats

from penstock.mechanisms.loss_sums import (
    ROUGH_GRID,
    Losses,
    _lowest,
    best_ratios,
    epsilon_of_sum,
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
