"""Test that sums of losses are those of independent releases.

What is cut off only makes them larger.
"""

from collections.abc import Callable

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as oracle
from mpmath import binomial, exp, fsum, mpf, workdps

from penstock.accounting.reporting.composition import LossSum, total_of
from penstock.accounting.reporting.losses import gaussian_table, laplace_table
from penstock.mechanisms.gaussian.curve import delta_at, epsilon_at

WIDTH = 2.0**-12
TAIL = 1e-19


def gaussian(mu: float) -> LossSum:
    return LossSum.of(gaussian_table(mu, WIDTH, TAIL))


def delta_of(loss_sum: LossSum, epsilon: float) -> float:
    losses = loss_sum.width * (loss_sum.first + np.arange(len(loss_sum.masses)))
    gains = -np.expm1(np.minimum(epsilon - losses, 0.0))
    return float(loss_sum.infinite + gains @ loss_sum.masses)


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
    first = LossSum(WIDTH, 0, np.array([0.9]), 0.1)
    second = LossSum(WIDTH, 0, np.array([0.7]), 0.3)
    assert first.plus(second, 0.0).infinite == pytest.approx(1 - 0.9 * 0.7)
    assert first.times(4, 1e-18).infinite == pytest.approx(1 - 0.9**4)


@pytest.mark.parametrize("copies", [1, 2, 5, 64, 1000])
@pytest.mark.parametrize("tail", [1e-6, 1e-19])
def test_copies_are_never_below_the_exact_binomial_law(copies: int, tail: float) -> None:
    """A loss of either sign, so many times: every divergence in rational arithmetic."""
    sign = LossSum(0.125, -1, np.array([0.46875, 0.0, 0.53125]), 2.0**-40)
    sign = LossSum(sign.width, sign.first, sign.masses * (1 - sign.infinite), sign.infinite)
    together = sign.times(copies, tail)
    for epsilon in (0.0, 0.5, 1.0, 4.0, 0.125 * copies * 0.9):
        exact = binomial_delta(sign, copies, epsilon)
        assert exact <= divergence(together, epsilon) <= exact * (1 + mpf("1e-9")) + 3 * tail


def binomial_delta(sign: LossSum, copies: int, epsilon: float) -> mpf:
    """Return the divergence of ``copies`` of a law on the losses ``-width`` and ``width``."""
    with workdps(60):
        low, _, high = map(mpf, sign.masses.tolist())
        gains = [
            binomial(copies, ups) * high**ups * low ** (copies - ups) * (1 - exp(epsilon - loss))
            for ups in range(copies + 1)
            if (loss := mpf(sign.width) * (2 * ups - copies)) > epsilon
        ]
        return 1 - (1 - mpf(sign.infinite)) ** copies + fsum(gains)


def divergence(loss_sum: LossSum, epsilon: float) -> mpf:
    """Return the divergence that the floats of ``loss_sum`` stand for, without rounding."""
    with workdps(60):
        losses = [(place + loss_sum.first, mass) for place, mass in enumerate(loss_sum.masses)]
        gains = [
            mpf(float(mass)) * (1 - exp(epsilon - mpf(loss_sum.width) * place))
            for place, mass in losses
            if loss_sum.width * place > epsilon
        ]
        return loss_sum.infinite + fsum(gains)


def test_a_sum_that_forgets_what_it_cuts_off_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    def dropping(loss_sum: LossSum, _tail: float) -> LossSum:
        kept = loss_sum.masses[: -len(loss_sum.masses) // 4]
        return LossSum(loss_sum.width, loss_sum.first, kept, loss_sum.infinite)

    sign = LossSum(0.125, -1, np.array([0.46875, 0.0, 0.53125]), 0.0)
    exact = binomial_delta(sign, 64, 1.0)
    assert exact <= divergence(sign.times(64, 1e-6), 1.0)
    monkeypatch.setattr(LossSum, "trimmed", dropping)
    assert divergence(sign.times(64, 1e-6), 1.0) < exact


ORACLES: dict[str, Callable[[], oracle.PrivacyLossDistribution]] = {
    "laplace": lambda: oracle.from_laplace_mechanism(8.0, value_discretization_interval=WIDTH),
    "gaussian": lambda: oracle.from_gaussian_mechanism(6.0, value_discretization_interval=WIDTH),
    "randomized response": lambda: oracle.from_randomized_response(
        0.8, 2, value_discretization_interval=WIDTH
    ),
}


def taken_over(distribution: oracle.PrivacyLossDistribution) -> LossSum:
    """Return the oracle's pessimistic masses under removal, as a sum of ours."""
    masses = distribution._pmf_remove.to_dense_pmf()
    return LossSum(masses._discretization, masses._lower_loss, masses._probs, masses._infinity_mass)


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("copies", [2, 7, 100])
def test_copies_come_to_what_dp_accounting_composes(name: str, copies: int) -> None:
    single = ORACLES[name]()
    theirs, ours = single.self_compose(copies, 1e-15), taken_over(single).times(copies, 1e-15)
    for delta in (1e-2, 1e-5, 1e-8, 1e-10):
        epsilon = theirs.get_epsilon_for_delta(delta)
        assert delta_of(ours, epsilon) == pytest.approx(delta, rel=1e-4)


def test_a_mix_comes_to_what_dp_accounting_composes() -> None:
    theirs = [make() for make in ORACLES.values()]
    ours = total_of([taken_over(distribution) for distribution in theirs], 1e-15)
    composed = theirs[0].compose(theirs[1], 1e-15).compose(theirs[2], 1e-15)
    for epsilon in (0.0, 0.5, 1.0, 1.7):
        assert delta_of(ours, epsilon) == pytest.approx(
            composed.get_delta_for_epsilon(epsilon), rel=1e-6
        )


@pytest.mark.parametrize("tail", [0.0, 1e-12, 0.4])
def test_what_is_hardly_ever_finite_can_be_trimmed_and_copied(tail: float) -> None:
    certain = LossSum(WIDTH, 3, np.array([1e-30, 1e-30]), 1.0)
    assert certain.trimmed(tail).infinite == 1
    assert certain.times(10, tail).infinite == 1


def test_the_upper_half_is_that_of_the_sum() -> None:
    summed = gaussian(0.6).plus(gaussian(0.8), TAIL)
    again = LossSum.of(summed.table())
    for epsilon in (0.0, 1.0, 4.0):
        assert delta_of(again, epsilon) == pytest.approx(delta_of(summed, epsilon), rel=1e-9)
