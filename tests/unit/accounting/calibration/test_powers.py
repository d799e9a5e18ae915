"""Test the best power of generalized Gaussian noise against known figures and a full search."""

from fractions import Fraction

import pytest

from penstock.accounting import (
    best_power,
    power_choice,
)
from penstock.accounting.calibration import powers as calibrated
from penstock.accounting.calibration.powers import POWERS
from penstock.errors import InvalidInput
from penstock.mechanisms import GeneralizedGaussian
from penstock.privacy import Sensitivity

DELTA = 1e-6


def counts(dimension: int) -> Sensitivity:
    return Sensitivity(Fraction(dimension), Fraction(dimension), Fraction(1))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("dimension", "power", "largest"),
    [
        (1, "1", 1.0000),
        pytest.param(4, "1", 8.3334, marks=pytest.mark.nightly),
        pytest.param(16, "2", 35.1023, marks=pytest.mark.nightly),
        (64, "2.5", 85.0180),
        pytest.param(256, "3.25", 188.539, marks=pytest.mark.nightly),
        pytest.param(1024, "3.75", 405.002, marks=pytest.mark.nightly),
        (16384, "4.25", 1793.50),
        pytest.param(65536, "4.5", 3720.01, marks=pytest.mark.nightly),
    ],
)
def test_the_best_power_rises_with_the_number_of_counts(
    dimension: int, power: str, largest: float
) -> None:
    """At epsilon 1: ``largest`` is that of the best power of a coarser grid, or the same."""
    best = best_power(counts(dimension), dimension, 1.0, DELTA)
    assert best.power == Fraction(power)
    assert best.expected_maximum <= largest
    assert best.expected_maximum >= 0.995 * largest


def test_going_downhill_finds_what_trying_all_powers_finds() -> None:
    tried = [power_choice(power, counts(64), 64, 1.0, DELTA) for power in POWERS[4:10]]
    assert best_power(counts(64), 64, 1.0, DELTA) == min(tried, key=lambda c: c.expected_maximum)
    normal = power_choice(Fraction(2), counts(64), 64, 1.0, DELTA)
    assert normal.expected_maximum == pytest.approx(87.7419, rel=1e-5)
    assert float(normal.level) == pytest.approx(47.7968, rel=1e-5)


@pytest.mark.parametrize("moved", [1, 3, 24])
@pytest.mark.parametrize("epsilon", [0.1, 3.0])
def test_rough_curves_lead_to_the_best_power(moved: int, epsilon: float) -> None:
    """They may leave a tie, but never a worse power."""
    powers = POWERS[:8]
    tried = [power_choice(power, counts(moved), 24, epsilon, DELTA) for power in powers]
    best = best_power(counts(moved), 24, epsilon, DELTA, powers)
    assert best == min(tried, key=lambda choice: choice.expected_maximum)


def test_where_rough_curves_leave_a_tie_exact_ones_choose(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rough errors are all within the tie here, and the first is the least of them."""
    powers = POWERS[4:9]
    monkeypatch.setattr(calibrated, "_about", lambda power, *_: 1 + float(power) / 1e4)
    best = best_power(counts(64), 64, 1.0, DELTA, powers)
    tried = [power_choice(power, counts(64), 64, 1.0, DELTA) for power in powers]
    assert best == min(tried, key=lambda choice: choice.expected_maximum) == tried[2]


@pytest.mark.parametrize("moved", [Sensitivity(Fraction(7, 2), Fraction(25, 4), Fraction(1))])
def test_power_2_in_closed_form_keeps_the_epsilon_of_its_losses(moved: Sensitivity) -> None:
    for epsilon in (0.05, 1.0, 8.0):
        choice = power_choice(Fraction(2), moved, 24, epsilon, DELTA)
        noise = GeneralizedGaussian.of(2)(Fraction(1))
        exact = noise.guarantee(choice.level, moved, DELTA).epsilon
        assert epsilon * (1 - 1e-9) <= exact <= epsilon * (1 + 1e-4)


@pytest.mark.nightly
def test_many_counts_are_compared_by_what_a_normal_sum_would_lose() -> None:
    dimension = 1 << 14
    nearby = [Fraction(p, 4) for p in (15, 16, 17, 18, 19)]
    tried = [power_choice(power, counts(dimension), dimension, 1.0, DELTA) for power in nearby]
    least = min(tried, key=lambda choice: choice.expected_maximum)
    assert best_power(counts(dimension), dimension, 1.0, DELTA) == least


def test_a_power_without_a_dimension_or_an_epsilon_is_refused() -> None:
    with pytest.raises(InvalidInput, match="at least 1, not 0"):
        best_power(counts(1), 0, 1.0, DELTA)
    with pytest.raises(InvalidInput, match="epsilon must be a number"):
        best_power(counts(4), 4, 0.0, DELTA)
