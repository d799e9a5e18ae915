"""Test that the quantile of a sum of noises that are not normal is at most what is taken for it."""

import math
from statistics import NormalDist

import numpy as np
import pytest
from scipy import stats

from penstock_client import InvalidArgument
from penstock_client._values.linear import CONSERVATIVE, EXACT, Term, factor_of, noise_of
from penstock_client.models import ErrorBars


def terms_of(mechanism: str, *weights: float) -> list[Term]:
    """Return values of noise of scale 1, weighted."""
    noise = noise_of("rel_1", mechanism, 2.0**-20, ErrorBars(math.sqrt(2), 0.95, 3.0), None)
    return [Term(noise, place, place, 1.0, weight) for place, weight in enumerate(weights)]


@pytest.mark.parametrize("confidence", [0.5, 0.8, 0.9, 0.92, 0.94, 0.96, 0.99, 0.999])
@pytest.mark.parametrize("ratio", [0.05, 0.2, 0.5, 0.8, 0.99])
def test_two_laplace_noises_are_covered(ratio: float, confidence: float) -> None:
    """Compare with ``P(|E_1 + r E_2| > t) = (e^-t - r^2 e^(-t/r)) / (1 - r^2)``."""
    factor, law = factor_of(terms_of("laplace", 1.0, ratio), confidence)
    t = factor * math.sqrt(2) * math.hypot(1, ratio)
    beyond = (math.exp(-t) - ratio**2 * math.exp(-t / ratio)) / (1 - ratio**2)
    assert beyond <= (1 - confidence) * (1 + 1e-3)
    assert law == CONSERVATIVE


@pytest.mark.parametrize("count", [2, 3, 10, 100])
@pytest.mark.parametrize("confidence", [0.8, 0.92, 0.96, 0.99])
def test_many_equal_laplace_noises_are_covered(count: int, confidence: float) -> None:
    """Compare with the characteristic function ``(1 + t^2)^-count``, inverted numerically."""
    factor, _ = factor_of(terms_of("laplace", *[1.0] * count), confidence)
    reach = factor * math.sqrt(2 * count)
    t = (np.arange(1 << 16) + 0.5) * 1e-3
    inside = 2 / math.pi * float(np.sum(np.sin(t * reach) / t * (1 + t * t) ** -count)) * 1e-3
    assert inside >= confidence - 1e-3


@pytest.mark.parametrize("variance", [1, 4, 100])
@pytest.mark.parametrize("count", [2, 5, 50])
def test_sums_of_skellam_noise_of_few_steps_are_covered(variance: int, count: int) -> None:
    one = stats.skellam(variance / 2, variance / 2)
    width = float(next(h for h in range(100) if one.cdf(h) - one.cdf(-h - 1) >= 0.95))
    noise = noise_of("rel_1", "skellam", 1.0, ErrorBars(math.sqrt(variance), 0.95, width), None)
    factor, _ = factor_of([Term(noise, place, place, 0.0, 1.0) for place in range(count)], 0.95)
    law = stats.skellam(count * variance / 2, count * variance / 2)
    reach = math.floor(factor * math.sqrt(count * variance))
    assert law.cdf(reach) - law.cdf(-reach - 1) >= 0.95


def test_gaussian_sums_have_the_normal_quantile() -> None:
    factor, law = factor_of(terms_of("gaussian", 1, 2), 0.9)
    assert factor == pytest.approx(NormalDist().inv_cdf(0.95))
    assert law == EXACT


@pytest.mark.parametrize("confidence", [0, 1, 1.5])
def test_a_confidence_that_is_none_is_refused(confidence: float) -> None:
    with pytest.raises(InvalidArgument, match="between 0 and 1"):
        factor_of(terms_of("gaussian", 1, 2), confidence)
