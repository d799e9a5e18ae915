"""Test that (epsilon, delta) fix a budget's order, and that its conversion is conservative."""

import math
from fractions import Fraction

import mpmath
import pytest
from scipy.optimize import brentq
from scipy.stats import norm

from penstock.accounting import (
    ORDERS,
    Account,
    account_of,
    best_order,
    converted_epsilon,
    renyi_budget,
)
from penstock.errors import InvalidInput


def exact_gaussian_epsilon(mu: float, delta: float) -> float:
    """Return the analytic curve of Balle, Wang (2018), Theorem 8, solved for epsilon."""

    def excess(epsilon: float) -> float:
        upper = norm.logsf(epsilon / mu - mu / 2)
        lower = epsilon + norm.logsf(epsilon / mu + mu / 2)
        return float(math.exp(upper) * -math.expm1(lower - upper)) - delta

    if excess(0.0) <= 0:
        return 0.0
    return float(brentq(excess, 0.0, mu * mu / 2 + 40 * mu, xtol=1e-13))


@pytest.mark.parametrize(("epsilon", "order"), [(0.5, 57), (1.0, 29), (3.0, 11), (60.0, 1.77)])
def test_the_simple_conversion_has_the_known_best_orders(epsilon: float, order: float) -> None:
    kept = 0.9e-6

    def simple(at: float) -> float:
        return epsilon - math.log(1 / kept) / (at - 1)

    assert best_order(simple) == order


@pytest.mark.parametrize(
    ("epsilon", "order", "limit"),
    [(0.1, 168, 0.05329), (0.5, 40, 0.26296), (1, 22, 0.53081), (3, 9, 1.65233), (10, 3.9, 5.9653)],
)
def test_the_order_and_limit_of_usual_budgets(epsilon: float, order: float, limit: float) -> None:
    account = account_of(epsilon, 1e-6)
    assert account.order == order
    assert account.limit == pytest.approx(limit, rel=1e-4)
    assert account.failure_limit == pytest.approx(1e-7)


@pytest.mark.parametrize(("epsilon", "order"), [(60, 1.74), (300, 1.26), (1e4, 1.04)])
def test_large_budgets_keep_most_of_their_epsilon(epsilon: float, order: float) -> None:
    account = account_of(epsilon, 1e-6)
    assert account.order == order
    assert 0.7 * epsilon < account.limit < epsilon


@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1, 3, 60, 300])
def test_the_sharper_conversion_grants_more_than_the_simple_one(epsilon: float) -> None:
    account = account_of(epsilon, 1e-6)
    simple = epsilon - math.log(1 / 0.9e-6) / (account.order - 1)
    assert account.limit > simple


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-12])
@pytest.mark.parametrize("mu", [0.01, 0.1, 0.5, 1, 3, 10, 25])
def test_a_converted_gaussian_is_never_below_its_exact_curve(mu: float, delta: float) -> None:
    exact = exact_gaussian_epsilon(mu, delta)
    converted = [converted_epsilon(order, order * mu * mu / 2, delta) for order in ORDERS]
    assert min(converted) >= exact
    # It would not be worth having if it were far off.
    assert min(converted) <= 1.35 * exact + 0.02


@pytest.mark.parametrize("order", [1.26, 1.74, 2.0, 9.0, 22.0, 168.0])
@pytest.mark.parametrize("epsilon", [0.3, 2.0, 40.0])
def test_the_conversion_is_the_worst_case_of_two_point_laws(order: float, epsilon: float) -> None:
    """Of the laws with one finite loss z and the rest at no loss, the best z meets the bound.

    For a loss z with probability w, delta = w (1 - e^(epsilon - z)) and the Rényi moment
    is at least w e^((order-1) z); the conversion must hold for all of them, and a
    sharper one must fail for some.
    """
    delta = 1e-6
    budget = renyi_budget(order, epsilon, delta)
    worst = epsilon - math.log1p(-1 / order)
    weight = delta / -math.expm1(epsilon - worst)
    assert math.log(weight) / (order - 1) + worst == pytest.approx(budget, abs=1e-9)
    for step in (-0.5, -0.1, 0.1, 1.0, 5.0):
        other = worst + step * (worst - epsilon)
        weight = delta / -math.expm1(epsilon - other)
        assert math.log(weight) / (order - 1) + other > budget


def in_many_digits(order: float, loss: float, delta: Fraction) -> mpmath.mpf:
    """Return the epsilon that a loss implies at delta.

    The source is Canonne, Kamath, Steinke 2020, Proposition 12.
    """
    a, at = mpmath.mpf(order), mpmath.mpf(delta.numerator) / delta.denominator
    return mpmath.mpf(loss) + mpmath.log(1 - 1 / a) - mpmath.log(at * a) / (a - 1)


def test_a_budget_is_rounded_down_and_an_epsilon_up() -> None:
    """Floats by themselves would be too kind about every other time."""
    for number in range(500):
        part, other, third = (number * step % 1 for step in (0.8192, 0.6711, 0.5497))
        order, epsilon, delta = 1 + 10 ** (5 * part - 2), 10 ** (5 * other - 2), 10 ** (-10 * third)
        delta /= 100
        with mpmath.workdps(50):
            budget = renyi_budget(order, epsilon, delta)
            assert in_many_digits(order, budget, Fraction(delta)) <= epsilon
            exact = in_many_digits(order, epsilon, Fraction(delta))
            assert converted_epsilon(order, epsilon, delta) >= max(exact, 0)


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 1e-2])
@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0, 60.0])
def test_the_conversion_has_what_failures_leave_of_delta(epsilon: float, delta: float) -> None:
    """All that an account allows, losses and failures, is within its epsilon and delta."""
    account = account_of(epsilon, delta)
    left = Fraction(delta) - Fraction(account.failure_limit)
    assert account.failure_limit > 0
    with mpmath.workdps(50):
        assert in_many_digits(account.order, account.limit, left) <= epsilon


@pytest.mark.parametrize("order", [1.01, 1.77, 2.0, 57.0, 1024.0])
def test_the_conversion_and_its_inverse_agree(order: float) -> None:
    budget = renyi_budget(order, 20.0, 1e-9)
    if budget > 0:
        assert 20.0 - 1e-9 <= converted_epsilon(order, budget, 1e-9) <= 20.0 + 1e-9


def test_a_raised_budget_keeps_its_first_order() -> None:
    first = account_of(1.0, 1e-6)
    raised = account_of(3.0, 1e-6, order=first.order)
    assert raised.order == first.order
    assert raised.limit == pytest.approx(first.limit + 2.0, rel=1e-12)
    assert raised.limit / raised.order < account_of(3.0, 1e-6).limit / account_of(3.0, 1e-6).order


def test_a_budget_too_small_for_its_delta_is_refused_with_the_least_that_is_not() -> None:
    with pytest.raises(InvalidInput, match=r"0\.001 .* 0\.00591 or more"):
        account_of(0.001, 1e-6)
    assert account_of(0.00592, 1e-6).limit > 0


def test_a_budget_lowered_below_its_order_is_refused_with_the_order() -> None:
    order = account_of(60.0, 1e-6).order
    with pytest.raises(InvalidInput, match=r"at the order 1\.74") as refusal:
        account_of(3.0, 1e-6, order=order)
    least = float(refusal.value.detail.split("epsilon of ")[1].split()[0])
    assert account_of(least, 1e-6, order=order).limit > 0


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.nan, math.inf, -math.inf, 1e7])
def test_an_epsilon_that_is_no_budget_is_refused(epsilon: float) -> None:
    with pytest.raises(InvalidInput, match="epsilon"):
        account_of(epsilon, 1e-6)


@pytest.mark.parametrize("delta", [1.0, 2.0, -1e-6, math.nan, math.inf, 1e-300])
def test_a_delta_that_is_no_small_probability_is_refused(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta"):
        account_of(1.0, delta)


def test_delta_zero_is_an_account_of_pure_losses() -> None:
    account = account_of(0.7, 0.0)
    assert account == Account(0.7, 0.0, math.inf, 0.7, 0.0)
    assert converted_epsilon(math.inf, 0.3, 0.0) == 0.3
    assert account_of(0.9, 0.0, math.inf).limit == 0.9
