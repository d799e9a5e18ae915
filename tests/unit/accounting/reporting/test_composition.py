"""Sums of losses are those of independent releases; what is cut off only makes them larger."""

import numpy as np
import pytest

from penstock.accounting.reporting.composition import LossSum, total_of
from penstock.accounting.reporting.losses import gaussian_table, laplace_table
from penstock.mechanisms.gaussian.curve import delta_at, epsilon_at

WIDTH = 2.0**-12
TAIL = 1e-19


def gaussian(mu: float) -> LossSum:
    return LossSum.of(gaussian_table(mu, WIDTH, TAIL))


def delta_of(one: LossSum, epsilon: float) -> float:
    losses = WIDTH * (one.first + np.arange(len(one.masses)))
    gains = -np.expm1(np.minimum(epsilon - losses, 0.0))
    return float(one.infinite + gains @ one.masses)


def test_gaussian_losses_add_up_to_a_gaussian_loss() -> None:
    summed = gaussian(0.6).plus(gaussian(0.8), TAIL)
    for epsilon in (0.0, 0.5, 2.0, 5.0):
        exact = delta_at(epsilon, 1.0)
        assert exact <= delta_of(summed, epsilon) * (1 + 1e-12)
        assert delta_of(summed, epsilon) == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9, 1e-11])
def test_the_rounding_of_many_transforms_stays_below_what_is_set_aside(delta: float) -> None:
    mus = np.linspace(0.02, 0.2, 60)
    summed = total_of([gaussian(float(mu)) for mu in mus], TAIL)
    exact = epsilon_at(delta, float(np.sqrt((mus**2).sum())))
    assert abs(delta_of(summed, exact) / delta - 1) < 2e-3
    assert exact <= summed.table().epsilon(delta - 1e-14) <= exact * (1 + 1e-3)


@pytest.mark.parametrize("copies", [2, 3, 17])
def test_copies_are_the_same_as_one_after_another(copies: int) -> None:
    single = LossSum.of(laplace_table(0.1, 7, WIDTH))
    at_once = single.times(copies, TAIL)
    in_turn = total_of([single] * copies, TAIL)
    for epsilon in np.linspace(0, 0.7 * copies, 7):
        assert delta_of(at_once, float(epsilon)) == pytest.approx(
            delta_of(in_turn, float(epsilon)), rel=1e-9, abs=1e-15
        )


@pytest.mark.parametrize("tail", [1e-3, 1e-6, 1e-12])
def test_trimming_raises_every_divergence_by_no_more_than_the_tail(tail: float) -> None:
    whole = gaussian(1.0)
    trimmed = whole.trimmed(tail)
    assert len(trimmed.masses) < len(whole.masses)
    assert trimmed.masses.sum() + trimmed.infinite == pytest.approx(1, abs=1e-12)
    for epsilon in (0.0, 1.0, 3.0, 6.0):
        before, after = delta_of(whole, epsilon), delta_of(trimmed, epsilon)
        assert before * (1 - 1e-12) <= after <= before + tail


def test_infinite_losses_join_as_probabilities_do() -> None:
    one = LossSum(WIDTH, 0, np.array([0.9]), 0.1)
    other = LossSum(WIDTH, 0, np.array([0.7]), 0.3)
    assert one.plus(other, 0.0).infinite == pytest.approx(1 - 0.9 * 0.7)
    assert one.times(4, 1e-18).infinite == pytest.approx(1 - 0.9**4)


def test_the_upper_half_is_that_of_the_sum() -> None:
    summed = gaussian(0.6).plus(gaussian(0.8), TAIL)
    again = LossSum.of(summed.table())
    for epsilon in (0.0, 1.0, 4.0):
        assert delta_of(again, epsilon) == pytest.approx(delta_of(summed, epsilon), rel=1e-9)
