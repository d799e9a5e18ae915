"""Test moments, largest errors and divergences of the density, against integrals in many digits."""

import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest
from mpmath import mpf

from penstock.mechanisms.generalized_gaussian.law import (
    expected_maximum,
    information,
    loss,
    moments,
    reach_of,
    renyi_divergence,
    standard_deviation,
)

POWERS = (1.0, 1.25, 2.0, 2.5, 4.0, 16.0)
every_power = pytest.mark.parametrize("power", POWERS)


def mean_of(value: Callable[[mpmath.mpf], mpmath.mpf], power: float) -> float:
    """Return the mean of a function of the size of a value at scale 1."""
    p = mpf(power)
    places = [0, 0.25, 0.5, 0.75, 1, 1.25, 1.5, 2, 4, 8, 30, 100]
    whole = mpmath.quad(lambda z: value(z) * mpmath.exp(-(z**p)), places)
    return float(whole / mpmath.gamma(1 + 1 / p))


@every_power
def test_the_deviation_is_that_of_the_density(power: float) -> None:
    assert standard_deviation(power) ** 2 == pytest.approx(mean_of(lambda z: z * z, power))


@every_power
def test_the_reach_covers_its_confidence(power: float) -> None:
    for confidence in (0.5, 0.95, 0.999):
        end = reach_of(power, confidence)
        tail = mpmath.gammainc(1 / mpf(power), mpf(end) ** mpf(power), regularized=True)
        assert float(1 - tail) == pytest.approx(confidence, rel=1e-12)


@pytest.mark.parametrize(
    ("count", "power", "expected"),
    [(1, 2.0, 0.564189584), (10, 4.0, 1.004873190), (1000, 3.0, 1.734499848)],
)
def test_expected_maxima_have_their_known_values(count: int, power: float, expected: float) -> None:
    assert expected_maximum(power, count) == pytest.approx(expected, abs=2e-9)


def test_the_largest_of_exponential_sizes_is_a_harmonic_number() -> None:
    for count in (1, 2, 100, 10_000):
        harmonic = math.fsum(1 / n for n in range(1, count + 1))
        assert expected_maximum(1.0, count) == pytest.approx(harmonic, rel=1e-12)


@pytest.mark.parametrize(
    ("count", "power", "scale", "expected"),
    [
        (1, 4.0, 19.3506, 9.45996),
        (16, 2.0, 23.8984, 35.1021),
        (64, 2.5, 54.5456, 85.0172),
        (256, 3.0, 118.840, 188.539),
        (1024, 3.5, 255.535, 405.002),
        (4096, 4.0, 545.261, 856.068),
        (65536, 5.0, 2436.03, 3720.01),
        (1 << 20, 5.0, 9743.23, 15707.7),
    ],
)
def test_largest_errors_at_an_epsilon_of_1_have_their_known_values(
    count: int, power: float, scale: float, expected: float
) -> None:
    assert scale * expected_maximum(power, count) == pytest.approx(expected, rel=4e-6)


@every_power
def test_small_losses_have_the_information_as_their_variance(power: float) -> None:
    slope = mean_of(lambda z: (power * z ** (power - 1)) ** 2, power)
    assert information(power) == pytest.approx(slope, rel=1e-9)
    mean, variance = moments(power, 1e-4)
    assert variance == pytest.approx(1e-8 * slope, rel=2e-3)
    assert mean == pytest.approx(variance / 2, rel=2e-3)


@every_power
def test_losses_of_small_shifts_keep_their_digits(power: float) -> None:
    z = np.array([-2.7, -1.0, -1e-3, 3e-10, 1e-3, 0.9, 3.0])
    shift = 1e-9
    with mpmath.workdps(50):
        p, r = mpf(power), mpf(shift)
        exact = [float(abs(mpf(x) - r) ** p - abs(mpf(x)) ** p) for x in z.tolist()]
    assert loss(z, power, shift) == pytest.approx(exact, rel=1e-12, abs=1e-23)


def divergence(order: float, power: float, shift: float) -> float:
    """Return the divergence in 30 digits, as the mean of a power of the ratio of densities."""
    with mpmath.workdps(30):
        above, p, r = mpf(order) - 1, mpf(power), mpf(shift)

        def part(z: mpf) -> mpf:
            return mpmath.exp(above * (abs(z - r) ** p - abs(z) ** p) - abs(z) ** p)

        # Beyond the peak of the integrand there is nothing but its tail.
        far = 2 * above * p * r + r + mpf(90) ** (1 / p)
        places = sorted({mpf(0), r, *(far * mpf(j) / 40 for j in range(-40, 41))})
        near = [s * mpf(10) ** -j + k for j in range(1, 6) for s in (1, -1) for k in (0, r)]
        places = sorted({*places, *(place for place in near if -far < place < far)})
        return float(mpmath.log(mpmath.quad(part, places) / (2 * mpmath.gamma(1 + 1 / p))) / above)


ORDERS_AND_SHIFTS = ((1.01, 0.02), (2.0, 1e-6), (22.0, 0.01), (57.0, 0.05), (3.0, 0.06))
AT_EVERY_CHANGE = {
    1.0: (22.0, 0.01),
    1.25: (2.0, 1e-6),
    2.0: (1.01, 0.02),
    2.5: (3.0, 0.06),
    4.0: (1.01, 0.02),
    16.0: (57.0, 0.05),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("power", "order", "shift"),
    [
        pytest.param(
            power,
            *point,
            marks=[] if point == AT_EVERY_CHANGE[power] else pytest.mark.nightly,
        )
        for power in POWERS
        for point in ORDERS_AND_SHIFTS
    ],
)
def test_the_divergence_is_the_integral_rounded_up(
    order: float, power: float, shift: float
) -> None:
    exact = divergence(order, power, shift)
    assert exact < renyi_divergence(order, power, shift) <= exact * (1 + 3e-7)


def test_divergences_of_powers_1_and_2_are_in_closed_form() -> None:
    for order in (1.5, 22.0, 1024.0):
        assert renyi_divergence(order, 2.0, 0.1) == pytest.approx(order * 0.01, rel=2e-7)
    a, r = 11.0, 0.5
    laplace = a / (2 * a - 1) * math.exp((a - 1) * r) + (a - 1) / (2 * a - 1) * math.exp(-a * r)
    assert renyi_divergence(a, 1.0, r) == pytest.approx(math.log(laplace) / (a - 1), rel=2e-7)
    assert renyi_divergence(math.inf, 1.0, 0.5) == 0.5
    assert renyi_divergence(math.inf, 3.0, 0.5) == math.inf
