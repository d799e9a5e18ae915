"""Test that the composed epsilon is never below the exact one, and hardly above."""

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution
from scipy.stats import binom
from tests.unit.accounting import exact_losses

from penstock.accounting import (
    PlacedRelease,
    account_of,
    composed_epsilon,
    converted_epsilon,
    level_for_share,
)
from penstock.errors import InvalidInput
from penstock.mechanisms import MECHANISMS, Poisson
from penstock.mechanisms.gaussian.curve import delta_at, epsilon_at
from penstock.mechanisms.laplace.laplace_readings import theorem_epsilon
from penstock.privacy import Sensitivity

ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
FINE = Fraction(1, 2**20)


def norms(l1: int, l2_squared: int, linf: int) -> Sensitivity:
    return Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(linf))


def gaussian(variance: float, sensitivity: Sensitivity = ONE) -> PlacedRelease:
    return PlacedRelease("gaussian", FINE, Fraction(variance), sensitivity)


def laplace(
    scale: float, granularity: Fraction = FINE, sensitivity: Sensitivity = ONE
) -> PlacedRelease:
    return PlacedRelease("laplace", granularity, Fraction(scale), sensitivity)


def poisson(mean: float, sensitivity: Sensitivity = ONE) -> PlacedRelease:
    return PlacedRelease("poisson", Fraction(1), Fraction(mean), sensitivity)


def never_below(given: float, exact: float, relative: float) -> None:
    assert exact * (1 - 1e-9) <= given <= exact * (1 + relative)


def test_what_either_hypothesis_almost_always_tells_has_no_epsilon() -> None:
    assert composed_epsilon([poisson(0.001)] * 10, 1e-6) == math.inf
    assert composed_epsilon([poisson(0.001)] * 10 + [laplace(3)] * 3, 1e-6) == math.inf


def test_no_release_is_no_loss() -> None:
    assert composed_epsilon([], 1e-6) == 0
    assert composed_epsilon([], 0) == 0


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-10, 1e-14])
def test_gaussian_releases_add_up_in_squares(delta: float) -> None:
    releases = [gaussian(100.0)] * 7 + [gaussian(900.0, norms(4, 16, 4))]
    exact = epsilon_at(delta, math.sqrt(7 / 100 + 16 / 900))
    never_below(composed_epsilon(releases, delta), exact, 1e-8)


@pytest.mark.parametrize("steps", [1, 4, 8])
@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-7, 1e-10])
def test_coarse_laplace_releases_match_an_enumeration(delta: float, steps: int) -> None:
    scales = [2.0, 2.0, 3.5, 11.0]
    step = Fraction(1, steps)
    releases = [laplace(scale, step) for scale in scales]
    exact = exact_losses.epsilon_at(
        exact_losses.joint([exact_losses.laplace(float(step) / s, steps) for s in scales]), delta
    )
    never_below(composed_epsilon(releases, delta), exact, 2e-4)


@pytest.mark.parametrize("copies", [2, 10, 100])
def test_fine_laplace_releases_match_an_independent_composition(copies: int) -> None:
    single = privacy_loss_distribution.from_laplace_mechanism(
        10.0, value_discretization_interval=1e-5
    )
    other = single.self_compose(copies).get_epsilon_for_delta(1e-6)
    assert composed_epsilon([laplace(10.0)] * copies, 1e-6) == pytest.approx(other, rel=1e-4)


def test_a_million_steps_of_shift_are_no_harder_than_one() -> None:
    fine = composed_epsilon([laplace(1.0, Fraction(1, 2**24))] * 3, 1e-6)
    rough = composed_epsilon([laplace(1.0, Fraction(1, 2**12))] * 3, 1e-6)
    assert fine == pytest.approx(rough, rel=1e-5)


@pytest.mark.parametrize("delta", [0.0, 1e-300, 1e-12, 1e-6, 0.3])
def test_pure_releases_never_add_up_to_more_than_their_sum(delta: float) -> None:
    releases = [laplace(10.0), laplace(3.0), laplace(3.0), laplace(0.25)]
    simple = 0.1 + 1 / 3 + 1 / 3 + 4
    composed = composed_epsilon(releases, delta)
    assert composed <= simple * (1 + 1e-15)
    if delta <= 1e-300:
        assert composed == pytest.approx(simple, rel=1e-15)


@pytest.mark.parametrize("delta", [1e-1, 1e-2, 1e-4, 1e-7])
def test_one_laplace_release_has_its_closed_form(delta: float) -> None:
    """``delta(epsilon) = 1 - e^((epsilon - 1)/2)`` for scale 1, solved for epsilon."""
    exact = 1 + 2 * math.log1p(-delta)
    assert composed_epsilon([laplace(1.0)], delta) == pytest.approx(exact, rel=1e-6)


@pytest.mark.parametrize(
    ("mean", "epsilon"),
    [(200, 0.3052), (500, 0.1789), (900, 0.1284), (1000, 0.1210), (4000, 0.0563), (20000, 0.02336)],
)
def test_one_poisson_release_has_its_known_epsilon(mean: float, epsilon: float) -> None:
    composed = composed_epsilon([poisson(mean)], 1e-6)
    assert composed == pytest.approx(epsilon, abs=6e-5)
    promised = Poisson(Fraction(1)).guarantee(Fraction(mean), ONE, 1e-6).epsilon
    assert composed == pytest.approx(promised, rel=1e-5)


@pytest.mark.parametrize(
    ("sensitivity", "epsilon"),
    [(norms(4, 4, 1), 0.249), (norms(4, 8, 2), 0.364), (norms(4, 16, 4), 0.535)],
)
def test_one_poisson_vector_has_its_known_epsilon(sensitivity: Sensitivity, epsilon: float) -> None:
    composed = composed_epsilon([poisson(1000, sensitivity)], 1e-6)
    assert composed == pytest.approx(epsilon, abs=6e-4)


def test_a_poisson_vector_has_the_worst_of_its_shapes() -> None:
    both = composed_epsilon([poisson(1000, norms(10, 20, 3))] * 2, 1e-6)
    promised = Poisson(Fraction(1)).guarantee(Fraction(1000), norms(10, 20, 3), 1e-6).epsilon
    single = composed_epsilon([poisson(1000, norms(10, 20, 3))], 1e-6)
    never_below(single, promised, 2e-3)
    assert single < both < 2 * single


@pytest.mark.parametrize("delta", [1e-2, 1e-4, 1e-7])
def test_poisson_releases_cover_every_combination_of_directions(delta: float) -> None:
    first = exact_losses.poisson_noise(30.0, 1, 110)
    second = exact_losses.poisson_noise(45.0, 2, 140)
    turned = exact_losses.turned
    exact = [
        exact_losses.epsilon_at(exact_losses.joint([one, other]), delta)
        for one in (first, turned(first))
        for other in (second, turned(second))
    ]
    given = composed_epsilon([poisson(30.0), poisson(45.0, norms(2, 4, 2))], delta)
    never_below(given, max(exact), 0.005)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_laplace_beside_gaussian_matches_a_sum_over_the_laplace_losses(delta: float) -> None:
    mu, decay, shift = 0.7, 0.2, 5
    one, other = exact_losses.laplace(decay, shift)

    def exact_delta(epsilon: float) -> float:
        # delta_G(e) for any sign of e: below 0 the other order's, turned round
        total = 0.0
        for p, q in zip(one, other, strict=True):
            left = epsilon - math.log(p / q)
            if left >= 0:
                total += p * delta_at(left, mu)
            else:
                total += p * (-math.expm1(left) + math.exp(left) * delta_at(-left, mu))
        return total

    releases = [gaussian(1 / mu**2), laplace(5.0, Fraction(1), norms(5, 25, 5))]
    given = composed_epsilon(releases, delta)
    assert exact_delta(given) <= delta * (1 + 1e-9)
    assert exact_delta(given * (1 - 2e-4)) > delta


@pytest.mark.parametrize("name", sorted(MECHANISMS))
@pytest.mark.parametrize("epsilon", [0.5, 3.0, 60.0])
def test_what_the_filter_admits_never_amounts_to_more_than_the_budget(
    name: str, epsilon: float
) -> None:
    account = account_of(epsilon, 1e-6)
    sensitivity = norms(40, 160, 4)
    step, bound = Fraction(1), Fraction(10**6)
    level = level_for_share(MECHANISMS[name], 0.2, sensitivity, account, 20, 8, step, bound)
    mechanism, _ = MECHANISMS[name].plan(level, step, bound)
    placed = PlacedRelease(name, mechanism.granularity, level, sensitivity)
    composed = composed_epsilon([placed] * 5, 1e-6)
    loss = 5 * mechanism.cost(level, sensitivity, account.order).loss
    assert composed <= converted_epsilon(account.order, loss, 0.9e-6) <= epsilon
    assert composed > 0.6 * epsilon


def test_more_releases_or_a_smaller_delta_never_amount_to_less() -> None:
    releases = [gaussian(50.0), laplace(8.0), poisson(2000.0), laplace(9.0), gaussian(60.0)]
    composed = [composed_epsilon(releases[:count], 1e-6) for count in range(6)]
    assert composed == sorted(composed)
    by_delta = [composed_epsilon(releases, delta) for delta in (1e-2, 1e-4, 1e-6, 1e-9)]
    assert by_delta == sorted(by_delta)


def test_the_order_of_releases_does_not_matter() -> None:
    releases = [gaussian(50.0), laplace(8.0), poisson(2000.0), laplace(9.0)]
    assert composed_epsilon(releases[::-1], 1e-6) == pytest.approx(
        composed_epsilon(releases, 1e-6), rel=1e-9
    )


def test_below_the_smallest_delta_simple_sums_are_given() -> None:
    assert composed_epsilon([gaussian(100.0), laplace(10.0)], 1e-13) == pytest.approx(
        epsilon_at(1e-13, 0.1) + 0.1, rel=1e-9
    )
    two = composed_epsilon([poisson(5000.0)] * 2, 1e-13)
    half = Poisson(Fraction(1)).guarantee(Fraction(5000), ONE, 0.5e-13).epsilon
    assert two == pytest.approx(2 * half, rel=1e-9)


def test_no_epsilon_is_enough_where_a_support_ends_too_often() -> None:
    assert composed_epsilon([poisson(3.0)], 1e-6) == math.inf
    assert composed_epsilon([gaussian(100.0)], 0.0) == math.inf
    assert composed_epsilon([poisson(1000.0)], 0.0) == math.inf


def test_a_hundred_different_releases_of_all_kinds_compose() -> None:
    releases = [laplace(10 + i) for i in range(34)]
    releases += [poisson(1000 + 10 * i) for i in range(33)]
    releases += [gaussian(100 + i) for i in range(33)]
    squares = sum(float(1 / r.level) for r in releases if r.mechanism != "laplace")
    squares += sum(float(1 / r.level) ** 2 for r in releases if r.mechanism == "laplace")
    assert composed_epsilon(releases, 1e-6) == pytest.approx(
        epsilon_at(1e-6, math.sqrt(squares)), rel=0.02
    )


def test_shifts_below_one_step_lose_nothing() -> None:
    assert composed_epsilon([laplace(1.0, Fraction(2))], 1e-6) == 0


def test_huge_losses_do_not_overflow() -> None:
    assert composed_epsilon([laplace(1 / 4096)] * 2, 1e-6) == pytest.approx(8192, rel=1e-3)
    mixed = composed_epsilon([gaussian(1 / 3000), laplace(1 / 400), poisson(50.0)], 1e-6)
    assert 1500 < mixed < 2500
    wide = norms(10**6, 10**9, 1000)
    assert 1100 < composed_epsilon([poisson(500_000.0, wide)], 1e-6) < 1300


@pytest.mark.parametrize("delta", [-1e-9, 1.0, math.nan])
def test_a_delta_that_is_none_is_refused(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta"):
        composed_epsilon([laplace(1.0)], delta)


def test_an_unknown_mechanism_is_refused_by_name() -> None:
    with pytest.raises(InvalidInput, match="'uniform'"):
        composed_epsilon([PlacedRelease("uniform", FINE, Fraction(1), ONE)], 1e-6)


def test_a_lattice_gaussian_of_few_steps_stays_within_the_figure() -> None:
    """The engineering bound ``1 + 4 (g/sigma)^2``, against an enumeration at 3 steps."""
    sigma, reach, copies = 3.0, 60, 2
    support = np.arange(-reach, reach + 1)
    masses = np.exp(-(support**2) / (2 * sigma**2))
    masses /= masses.sum()
    pair = (np.append(masses, 0.0), np.append(0.0, masses))
    placed = PlacedRelease("gaussian", Fraction(1), Fraction(9), ONE)
    for delta in (1e-3, 1e-6, 1e-9):
        exact = exact_losses.epsilon_at(exact_losses.joint([pair] * copies), delta)
        never_below(composed_epsilon([placed] * copies, delta), exact, 0.15)


@pytest.mark.parametrize("scale", [20, 100, 1000])
def test_a_small_l2_bounds_laplace_vectors_alone_and_beside_gaussian_ones(scale: int) -> None:
    declared = norms(100, 100, 10)
    theorem = theorem_epsilon(100, 10, scale, 1e-6)
    alone = composed_epsilon([laplace(scale, sensitivity=declared)], 1e-6)
    assert alone <= theorem
    # A vector within these norms: a hundred shifts of 1.
    assert alone >= composed_epsilon([laplace(scale, sensitivity=norms(100, 100, 1))], 1e-6)
    both = [laplace(scale, sensitivity=declared), gaussian(scale**2 / 2)]
    rho = 101 / (2 * scale**2) + 0.5 / scale**2
    assert composed_epsilon(both, 1e-6) <= rho + 2 * math.sqrt(rho * math.log(1e6))
    beside_poisson = [laplace(scale, sensitivity=declared), poisson(10_000)]
    assert composed_epsilon(beside_poisson, 1e-6) > composed_epsilon([poisson(10_000)], 1e-6)
    # Orders say nothing of what happens where a support ends.
    narrow = [laplace(scale, sensitivity=declared), poisson(12, norms(3, 9, 3))]
    assert composed_epsilon(narrow, 1e-6) == math.inf


def test_several_laplace_vectors_do_not_each_have_all_of_delta() -> None:
    """Two hundred vectors of 16 are one of 3,200; at this delta each alone would lose nothing."""
    step = Fraction(1)
    several = [laplace(100, step, norms(16, 16, 1))] * 200
    assert composed_epsilon(several[:1], 0.1) == 0
    losses, low, high = composed_law(3_200, 100), 0.0, 8.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if losses(middle) <= 0.1 else (middle, high)
    assert low > 0.1
    never_below(composed_epsilon(several, 0.1), low, 1e-2)


def composed_law(count: int, scale: int) -> Callable[[float], float]:
    """Return the exact delta of an epsilon, for ``count`` coordinates that move by a step each."""
    one, other = exact_losses.laplace(1 / scale, 1)
    losses = np.log(one / other)
    law = binom.pmf(np.arange(count + 1), count, one[1])
    total = losses[0] * (count - 2 * np.arange(count + 1))
    return lambda epsilon: float(np.sum(law * np.maximum(-np.expm1(epsilon - total), 0)))
