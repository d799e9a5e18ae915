"""Test sums of Poisson probabilities, over every integer and over every n-th."""

import math

import mpmath
import numpy as np
import pytest
from scipy import special, stats

from penstock.mechanisms.poisson.tails import OUTSIDE, Progression, below, half_width, reach, stride


@pytest.mark.parametrize("mean", [0.3, 7.0, 1_000.0, 1e5])
def test_tails_are_those_of_the_law(mean: float) -> None:
    low = max(0, math.floor(mean) - reach(mean))
    points = Progression.between(mean, low, math.ceil(mean) + reach(mean), 1)
    at_least, at_most = points.at_least(), points.at_most()
    likely = (at_least > 1e-18) & (at_most > 1e-18)
    upper = stats.poisson.sf(points.values - 1, mean)
    lower = stats.poisson.cdf(points.values, mean)
    assert at_least[likely] == pytest.approx(upper[likely], rel=1e-11)
    assert at_most[likely] == pytest.approx(lower[likely], rel=1e-11)


@pytest.mark.parametrize("mean", [5e6, pytest.param(5e8, marks=pytest.mark.nightly)])
def test_every_second_integer_gives_the_same_tails(mean: float) -> None:
    low, high = math.floor(mean) - reach(mean), math.ceil(mean) + reach(mean)
    whole, part = (Progression.between(mean, low, high, step) for step in (1, 2))
    for all_, some in (
        (whole.at_least()[::2], part.at_least()),
        (whole.at_most()[::2], part.at_most()),
    ):
        likely = all_ > 1e-17
        assert some[likely] == pytest.approx(all_[likely], rel=1e-11)


def test_tails_of_large_means_are_those_of_the_gaussian_where_scipys_are_not() -> None:
    mean = 1e9
    at = int(mean + 5 * mean**0.5)
    points = Progression.between(mean, at, at + reach(mean), stride(mean))
    tail = float(points.at_least()[0])
    normal = float(stats.norm.sf(5))
    assert tail == pytest.approx(normal, rel=2e-3)
    assert special.pdtrc(at - 1, mean) < 0.5 * normal


@pytest.mark.parametrize("mean", [1.0, 10.0, 1e3, 1e6])
def test_the_noise_is_hardly_ever_out_of_reach(mean: float) -> None:
    far = math.ceil(mean) + reach(mean)
    with mpmath.workdps(40):
        m = mpmath.mpf(mean)
        first = mpmath.exp(far * mpmath.log(m) - m - mpmath.loggamma(far + 1))
        # the terms fall by a factor of at most mean / far each
        assert first / (1 - m / far) < OUTSIDE


def test_below_is_the_chance_of_falling_short() -> None:
    assert below(10.0, 0) == 0.0
    assert below(10.0, 1) == pytest.approx(math.exp(-10))
    assert below(10.0, 3) == pytest.approx(61 * math.exp(-10))
    assert below(1_000.0, 1) == 0.0
    assert below(10.0, 1_000) == 1.0
    deviations = np.array([below(1e12, int(1e12 + z * 1e6)) for z in (-5, -1, 0, 2)])
    assert deviations == pytest.approx(stats.norm.cdf([-5, -1, 0, 2]), rel=1e-4)


@pytest.mark.parametrize("mean", [0.5, 3.0, 100.25, 1e6])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_half_widths_are_the_least_that_cover(mean: float, confidence: float) -> None:
    h = half_width(mean, confidence)

    def covered(width: float) -> float:
        low, high = math.ceil(mean - width) - 1, math.floor(mean + width)
        return float(stats.poisson.cdf(high, mean) - stats.poisson.cdf(low, mean))

    assert covered(h) >= confidence
    assert covered(h * (1 - 1e-7) - 1e-7) < confidence
