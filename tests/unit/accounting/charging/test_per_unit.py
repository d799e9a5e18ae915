"""Test that a unit in several steps of a stream never moves its noises further than is charged."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from penstock.accounting.charging.per_unit import of_unit
from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, Laplace
from penstock.privacy import Sensitivity


def _binary_tree(steps: int) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Return one row a noise: node ``t`` holds the elements from ``t & (t-1)`` up to ``t``."""
    rows = np.zeros((steps, steps), dtype=np.int64)
    for t in range(1, steps + 1):
        rows[t - 1, t & (t - 1) : t] = 1
    return rows


def _step(rows: np.ndarray[tuple[int, int], np.dtype[np.int64]]) -> Sensitivity:
    return Sensitivity(
        Fraction(int(np.abs(rows).sum(axis=0).max())),
        Fraction(int((rows**2).sum(axis=0).max())),
        Fraction(int(np.abs(rows).max())),
    )


@pytest.mark.parametrize("steps", [1, 2, 3, 4])
def test_no_choice_of_columns_moves_the_noises_further(steps: int) -> None:
    rows = _binary_tree(8)
    bound = of_unit(_step(rows), steps)
    for columns in itertools.combinations_with_replacement(range(8), steps):
        moved = rows[:, columns].sum(axis=1)
        assert np.abs(moved).sum() <= bound.l1
        assert (moved**2).sum() <= bound.l2_squared
        assert np.abs(moved).max() <= bound.linf
    worst = rows[:, [0] * steps].sum(axis=1)
    assert np.abs(worst).sum() == bound.l1
    assert (worst**2).sum() == bound.l2_squared


def test_one_step_counted_once_would_charge_too_little() -> None:
    rows = _binary_tree(8)
    moved = rows[:, [0, 1]].sum(axis=1)
    assert (moved**2).sum() > 2 * _step(rows).l2_squared


@pytest.mark.parametrize("steps", [1, 3, 10])
def test_laplace_costs_r_times_epsilon_and_gaussian_r_squared_times_rho(steps: int) -> None:
    step = Sensitivity(Fraction(4), Fraction(4), Fraction(1))
    unit = of_unit(step, steps)
    laplace, gaussian = Laplace(Fraction(1, 4)), Gaussian(Fraction(1, 4))
    once = laplace.guarantee(Fraction(32), step, 1e-6).epsilon
    assert laplace.guarantee(Fraction(32), unit, 1e-6).epsilon == steps * once
    rho, of_all = (gaussian.guarantee(Fraction(64), one, 1e-6).rho for one in (step, unit))
    assert rho is not None
    assert of_all == steps**2 * rho
    loss = gaussian.cost(Fraction(64), unit, 8.0).loss
    assert loss == steps**2 * gaussian.cost(Fraction(64), step, 8.0).loss


@pytest.mark.parametrize("steps", [0, -1])
def test_a_unit_is_in_one_step_at_least(steps: int) -> None:
    with pytest.raises(InvalidInput, match="at least 1 step"):
        of_unit(Sensitivity(Fraction(1), Fraction(1), Fraction(1)), steps)
