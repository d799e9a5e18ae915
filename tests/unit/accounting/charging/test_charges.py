"""Test that a charge is the ideal law's plus the cheapest valid charge for the sampler."""

import math
from collections.abc import Sequence
from fractions import Fraction
from itertools import product

import mpmath
import numpy as np
import pytest

from penstock.accounting import Account, account_of, charge, converted_epsilon, pure_loss
from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, Laplace, NumericalCharge
from penstock.privacy import Cost, Ladder, Sensitivity

ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
PLANNED = Gaussian.plan(Fraction(100), Fraction(1), Fraction(10**6))


class TwoWays(Gaussian):
    """Stand for Gaussian noise whose sampler's error is charged as a test says."""

    ways: Sequence[NumericalCharge] = ()

    def numerical_charges(
        self,
        ladder: Ladder,  # noqa: ARG002 - asked as every mechanism is
        dimension: int,  # noqa: ARG002
        levels: int,  # noqa: ARG002
        order: float,  # noqa: ARG002
        epsilon: float,  # noqa: ARG002
    ) -> Sequence[NumericalCharge]:
        return self.ways


def charged(ways: Sequence[NumericalCharge], account: Account) -> Cost:
    class Stated(TwoWays):
        pass

    Stated.ways = ways
    mechanism = Stated(PLANNED[0].granularity)
    return charge(mechanism, PLANNED[1], Fraction(100), ONE, account, 1, 1)


def test_the_way_that_takes_the_smaller_part_of_the_account_is_charged() -> None:
    account = account_of(1, 1e-6)
    ideal = PLANNED[0].cost(Fraction(100), ONE, account.order)
    share = ideal.loss / account.limit
    by_failure = NumericalCharge(1.0, 0.1 * share * account.failure_limit)
    by_loss = NumericalCharge(1.2, 0.0)
    failure = ideal.failure + by_failure.failure
    assert charged([by_loss, by_failure], account) == Cost(ideal.loss, failure)
    dearer = NumericalCharge(1.0, 0.3 * share * account.failure_limit)
    assert charged([dearer, by_loss], account) == Cost(ideal.loss * 1.2, ideal.failure)


def test_a_mechanism_that_states_no_way_is_not_charged_for_nothing() -> None:
    with pytest.raises(InvalidInput, match="states no way"):
        charged([], account_of(1, 1e-6))


@pytest.mark.parametrize("epsilon", [1.0, 20.0])
def test_a_sampler_is_charged_at_the_epsilon_of_the_whole_account(epsilon: float) -> None:
    """What other queries lose multiplies what a sampler is off, so that its own is too little."""
    account = account_of(epsilon, 1e-6)

    class Inflated(TwoWays):
        def numerical_charges(
            self,
            ladder: Ladder,  # noqa: ARG002 - asked as every mechanism is
            dimension: int,  # noqa: ARG002
            levels: int,  # noqa: ARG002
            order: float,  # noqa: ARG002
            epsilon: float,
        ) -> Sequence[NumericalCharge]:
            return [NumericalCharge(1.0, (1 + math.exp(epsilon)) * 2.0**-60)]

    mechanism, level = Inflated(PLANNED[0].granularity), Fraction(100)
    assert mechanism.guarantee(level, ONE, account.delta).epsilon < epsilon / 2
    cost = charge(mechanism, PLANNED[1], level, ONE, account, 1, 1)
    own = mechanism.cost(level, ONE, account.order).failure
    stated = own + (1 + math.exp(epsilon)) * 2.0**-60
    assert cost.failure == pytest.approx(stated, rel=1e-9, abs=0)


def test_an_infinite_failure_is_never_the_cheapest() -> None:
    account = account_of(1, 1e-6)
    cost = charged([NumericalCharge(1.0, math.inf), NumericalCharge(1.5, 0.0)], account)
    assert cost.failure < 1e-20


@pytest.mark.parametrize(
    ("dimension", "levels", "failure"), [(256, 32, 3.1e-10), (10**6, 64, 2.7e-8)]
)
def test_small_budgets_pay_for_gaussian_samplers_with_failure(
    dimension: int, levels: int, failure: float
) -> None:
    account = account_of(1, 1e-6, order=29)
    cost = charge(*PLANNED, Fraction(10**4), ONE, account, dimension, levels)
    pinsker = PLANNED[0].numerical_charges(PLANNED[1], dimension, levels, 29, 1.0)[0]
    assert pinsker.failure == pytest.approx(failure, rel=0.05)
    assert cost.failure <= pinsker.failure


@pytest.mark.parametrize(("order", "factor"), [(1.77, 0.008), (11, 0.024), (57, 0.13)])
def test_large_budgets_pay_for_gaussian_samplers_with_loss(order: float, factor: float) -> None:
    account = account_of(60, 1e-6, order=order)
    cost = charge(*PLANNED, Fraction(100), ONE, account, 256, 32)
    ideal = PLANNED[0].cost(Fraction(100), ONE, order).loss
    assert cost.loss / ideal - 1 == pytest.approx(factor, rel=0.06)
    assert cost.failure < 1e-18


@pytest.mark.parametrize("epsilon", [300.0, 1e6])
def test_budgets_too_large_for_exp_are_charged_all_the_same(epsilon: float) -> None:
    account = account_of(epsilon, 1e-6)
    for family in (Gaussian, Laplace):
        mechanism, ladder = family.plan(Fraction(1), Fraction(1), Fraction(1000))
        cost = charge(mechanism, ladder, Fraction(1), ONE, account, 256, 32)
        assert 0 < cost.loss < 4
        assert cost.failure < 1e-18


@pytest.mark.parametrize("epsilon", [1e-6, 1e-2, 0.3, 1.0, 4.0, 50.0])
@pytest.mark.parametrize("order", [1.01, 1.77, 9.0, 168.0, 1024.0])
def test_the_pure_loss_is_that_of_randomized_response(epsilon: float, order: float) -> None:
    with mpmath.workdps(60):
        e, a = mpmath.mpf(epsilon), mpmath.mpf(order)
        exact = mpmath.log((mpmath.exp(a * e) + mpmath.exp((1 - a) * e)) / (1 + mpmath.exp(e)))
        exact /= a - 1
        assert pure_loss(epsilon, order) >= exact
        assert pure_loss(epsilon, order) == pytest.approx(float(exact), rel=1e-6, abs=2e-13)


@pytest.mark.parametrize("order", [1.26, 9.0, 168.0])
def test_laplace_noise_never_costs_more_than_a_pure_promise_may(order: float) -> None:
    mechanism = Laplace(Fraction(1, 1024))
    for scale in (Fraction(1, 50), Fraction(1), Fraction(40)):
        own = mechanism.guarantee(scale, ONE, 1e-6).epsilon
        assert mechanism.cost(scale, ONE, order).loss <= pure_loss(own, order)


def test_a_pure_loss_with_failure_covers_a_sampler_that_loses_its_tails() -> None:
    """Three draws of a law without its tails, whose own divergences are infinite.

    The exact divergence of all three stays within what the pure loss and the failures
    imply, and is above what the pure loss alone would.
    """
    epsilon, order, reach = 0.25, 22.0, 20
    support = np.arange(-reach, reach + 1)
    cut = np.exp(-epsilon * np.abs(support))
    cut /= cut.sum()
    first, second = np.append(cut, 0.0), np.append(0.0, cut)
    failure = max(
        float(np.maximum(one - math.exp(epsilon) * other, 0).sum())
        for one, other in ((first, second), (second, first))
    )
    goal = 1e-6
    bound = converted_epsilon(order, 3 * pure_loss(epsilon, order), goal)
    exact = sum(
        max(first[i] * first[j] * first[k] - math.exp(bound) * second[i] * second[j] * second[k], 0)
        for i, j, k in product(range(2 * reach + 2), repeat=3)
    )
    assert goal < exact <= goal + 3 * failure
