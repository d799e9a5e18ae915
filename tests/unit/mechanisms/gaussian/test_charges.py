"""Test the engineering bounds on the float sampler's error, recomputed where they can be."""

import math
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from penstock.mechanisms import Gaussian
from penstock.privacy import Ladder, Sensitivity

LADDER = Ladder(finest=1 << 28, unit=Fraction(1), last=1000)
STEPS = Gaussian(Fraction(1))
ETA = mpf(2) ** -39
HIGHEST_ORDER = 1024


def _charges(
    dimension: int, levels: int, order: float, epsilon: float
) -> list[tuple[float, float]]:
    charges = STEPS.numerical_charges(LADDER, dimension, levels, order, epsilon)
    return [(charge.factor, charge.failure) for charge in charges]


def _moments(deviation: int, correction: mpf) -> tuple[mpf, mpf]:
    """Return the relative entropy and Rényi divergence of order 2^10, within 10 deviations.

    Of ``rint(c + r N)`` from the discrete Gaussian, at 50 digits, every 8th value being
    taken for 8 (the error is a polynomial on the scale of the deviation).
    """
    with mp.workdps(50):
        spread = mp.sqrt(mpf(deviation) ** 2 - correction)
        norm = mp.sqrt(2 * mp.pi) * deviation
        entropy, moment = mpf(0), mpf(0)
        for value in range(-10 * deviation, 10 * deviation + 1, 8):
            offset = abs(value - mpf("0.3"))
            half = mpf(1) / 2
            drawn = mp.ncdf((half - offset) / spread) - mp.ncdf((-half - offset) / spread)
            ideal = mp.exp(-(offset**2) / (2 * mpf(deviation) ** 2)) / norm
            ratio = drawn / ideal
            entropy += 8 * drawn * (mp.log(ratio) - 1 + 1 / ratio)
            moment += 8 * ideal * (ratio**HIGHEST_ORDER - 1 - HIGHEST_ORDER * (ratio - 1))
        return entropy, mp.log1p(moment) / (HIGHEST_ORDER - 1)


def test_a_narrowest_draw_is_within_the_stated_relative_entropy_and_divergence() -> None:
    entropy, divergence = _moments(256, mpf(1) / 12)
    assert 0 < entropy < ETA**2 / 2 / 16
    assert 0 < divergence < HIGHEST_ORDER * ETA**2 / 2 / 16


def test_a_draw_without_sheppards_correction_is_not() -> None:
    entropy, divergence = _moments(256, mpf(0))
    assert entropy > ETA**2 / 2
    assert divergence > HIGHEST_ORDER * ETA**2 / 2


def test_beyond_ten_deviations_lies_less_than_the_stated_failure() -> None:
    assert 2 * mp.ncdf(-10) < mpf(2) ** -75


@pytest.mark.parametrize(("dimension", "levels", "failure"), [(256, 32, 3e-10), (10**6, 64, 3e-8)])
def test_the_charge_by_probability_alone_is_as_stated(
    dimension: int, levels: int, failure: float
) -> None:
    factor, charged = _charges(dimension, levels, 11.0, 1.0)[0]
    assert factor == 1
    assert charged == pytest.approx(failure, rel=0.1)
    draws = dimension * levels
    distance = math.sqrt(draws * float(ETA) ** 2 / 4)
    assert charged == pytest.approx((1 + math.e) * (distance + draws * 2.0**-75), rel=1e-9, abs=0)


@pytest.mark.parametrize(("order", "factor"), [(1.77, 1.008), (11.0, 1.024), (57.0, 1.13)])
def test_the_charge_by_a_factor_is_as_stated(order: float, factor: float) -> None:
    charged, failure = _charges(100, 10, order, 1.0)[1]
    assert charged == pytest.approx(factor, abs=3e-3)
    assert failure == 1000 * 2.0**-75


@pytest.mark.parametrize("order", [1.01, 1.77, 2.0, 11.0, 57.0, 300.0, 511.0])
def test_the_factor_follows_from_hoelders_inequality(order: float) -> None:
    a, highest = mpf(order), mpf(HIGHEST_ORDER)
    v = highest / a
    moved = (a * v - 1) / (v - 2)
    assert (a - 1 / v) * v / (v - 2) == pytest.approx(moved, rel=1e-12)
    # the moment of R: exponent 1/u = (v-2)/v of order a', divided by a - 1 and by a rho
    needed = (v - 2) / v * (moved - 1) * moved / (a - 1) / a
    spare = (a / (a - 1) + 1) / highest
    charged = mpf(_charges(1, 1, order, 1.0)[1][0])
    assert needed + spare <= charged * (1 + mpf(10) ** -12)
    draws = 10**6
    others = (a * v - 1) / v / (a - 1) * highest * ETA**2 / 2 + ((a - 1) * v + 1) * ETA**2 / 2
    stated = STEPS.numerical_charges(LADDER, draws, 1, order, 1.0)[1].loss
    assert others * draws <= stated * (1 + mpf(10) ** -12)


@pytest.mark.parametrize("order", [1.0, 512.0, 1024.0, math.inf])
def test_no_factor_is_offered_where_it_would_not_hold(order: float) -> None:
    assert len(_charges(100, 10, order, 1.0)) == 1


def test_a_budget_without_bound_leaves_only_the_factor() -> None:
    by_probability, by_factor = _charges(100, 10, 11.0, 1e6)
    assert by_probability[1] == math.inf
    assert by_factor[1] < 1e-15


def _deviations_reached() -> float:
    """Return how far numpy's normals go: beyond the last strip ``x - r`` is ``-ln(u) / r``.

    It is kept if ``-2 ln(v)`` is above its square; ``u`` and ``v`` are at least 2^-53.
    """
    last_strip, longest = 3.6541528853610088, 53 * math.log(2)
    return last_strip + min(longest / last_strip, math.sqrt(2 * longest))


@pytest.mark.parametrize("deviations", [3, 5, 7])
def test_what_falls_beyond_the_neighbors_sampler_is_charged(deviations: int) -> None:
    one = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    failure = STEPS.cost(Fraction(1, deviations**2), one, 1.74).failure
    assert 12 < _deviations_reached() < 12.3
    assert failure > mp.ncdf(deviations - _deviations_reached())
    assert failure == pytest.approx(float(mp.ncdf(deviations - 10)), rel=1e-9, abs=0)


@pytest.mark.parametrize("deviations", [10, 20])
def test_neighbors_that_share_no_values_of_the_sampler_fail_surely(deviations: int) -> None:
    one = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    assert STEPS.cost(Fraction(1, deviations**2), one, 1.26).failure == 1


@given(st.lists(st.integers(1, 900), min_size=1, max_size=6))
def test_no_shift_goes_beyond_the_neighbors_sampler_more_often(shift: list[int]) -> None:
    squares = sum(part * part for part in shift)
    sensitivity = Sensitivity(Fraction(sum(shift)), Fraction(squares), Fraction(max(shift)))
    charged = STEPS.cost(Fraction(100**2), sensitivity, 9.0).failure
    here = mp.ncdf(-10)
    assert sum(mp.ncdf(part / 100 - 10) - here for part in shift) <= charged * (1 + 1e-9)
    # Any one-sided tail that is left is within what every draw is charged.
    assert 3 * here < mpf(2) ** -75
