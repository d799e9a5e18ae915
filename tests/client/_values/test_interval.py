"""Test that intervals at any confidence cover as often as they state."""

import math

import pytest

from penstock_client import InvalidArgument
from penstock_client._values.interval import AS_STATED, LAPLACE, NEARLY_NORMAL, NORMAL, half_width
from penstock_client.models import ErrorBars

CONFIDENCES = (0.01, 0.3, 0.5, 0.68, 0.9, 0.99, 0.999, 1 - 1e-9)


def bars(standard_deviation: float) -> ErrorBars:
    return ErrorBars(standard_deviation, 0.95, 123.0)


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace", "poisson", "something_new"])
def test_at_the_stated_confidence_the_servers_width_is_taken(mechanism: str) -> None:
    assert half_width(mechanism, 1.0, bars(3.0), 0.95) == (123.0, AS_STATED)


@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_gaussian_intervals_cover_by_the_error_function(confidence: float) -> None:
    width, law = half_width("gaussian", 2.0**-14, bars(3.0), confidence)
    missed = math.erfc(width / 3.0 / math.sqrt(2))
    assert missed == pytest.approx(1 - confidence, rel=1e-6)
    assert law == NORMAL


def lattice_laplace(scale: float, granularity: float) -> tuple[float, float]:
    """Return the ratio of neighboring probabilities, and the standard deviation."""
    ratio = math.exp(-granularity / scale)
    return ratio, granularity * math.sqrt(2 * ratio) / (1 - ratio)


def coverage(ratio: float, steps: int) -> float:
    """Return P(|k| <= steps) of the discrete Laplace law, summed term by term."""
    mass = (1 - ratio) / (1 + ratio)
    return mass + 2 * math.fsum(mass * ratio**k for k in range(1, steps + 1))


@pytest.mark.parametrize("confidence", CONFIDENCES[:-1])
@pytest.mark.parametrize("scale", [0.3, 1.0, 2.5, 40.0])
def test_laplace_intervals_are_the_narrowest_on_the_lattice_that_cover(
    scale: float, confidence: float
) -> None:
    ratio, deviation = lattice_laplace(scale, 1.0)
    width, law = half_width("laplace", 1.0, bars(deviation), confidence)
    steps = round(width)
    assert width == steps
    assert coverage(ratio, steps) >= confidence
    assert steps == 0 or coverage(ratio, steps - 1) < confidence
    assert law == LAPLACE


def test_the_continuous_law_would_be_wrong_on_a_coarse_lattice() -> None:
    ratio, _ = lattice_laplace(2.5, 1.0)
    continuous = -2.5 * math.log(1 - 0.3)
    assert coverage(ratio, math.floor(continuous)) < 0.3


@pytest.mark.parametrize("granularity", [2.0**-10, 2.0**-40])
@pytest.mark.parametrize("confidence", CONFIDENCES)
def test_on_a_fine_lattice_it_is_the_continuous_law(confidence: float, granularity: float) -> None:
    _, deviation = lattice_laplace(1.0, granularity) if granularity > 2**-20 else (0, 2**0.5)
    width, _ = half_width("laplace", granularity, bars(deviation), confidence)
    assert width == pytest.approx(-math.log(1 - confidence), abs=granularity, rel=1e-6)


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
def test_poisson_intervals_are_called_an_approximation_and_are_a_good_one(
    confidence: float,
) -> None:
    mean = 1000.0
    width, law = half_width("poisson", 1.0, bars(math.sqrt(mean)), confidence)
    inside = range(math.ceil(mean - width), math.floor(mean + width) + 1)
    covered = math.fsum(math.exp(k * math.log(mean) - mean - math.lgamma(k + 1)) for k in inside)
    assert covered == pytest.approx(confidence, abs=0.015)
    assert law == NEARLY_NORMAL


def test_an_unknown_law_is_not_guessed() -> None:
    with pytest.raises(InvalidArgument, match=r"interval\(0\.95\)"):
        half_width("something_new", 1.0, bars(1.0), 0.5)


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 95, float("nan"), float("inf")])
def test_a_confidence_is_between_0_and_1(confidence: float) -> None:
    with pytest.raises(InvalidArgument, match="between 0 and 1"):
        half_width("gaussian", 1.0, bars(1.0), confidence)
