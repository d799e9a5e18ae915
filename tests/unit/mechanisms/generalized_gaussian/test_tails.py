"""Test the chances of outcomes of generalized Gaussian noise, against integrals in many digits."""

import math

import mpmath
import numpy as np
import pytest

from penstock.mechanisms.generalized_gaussian.tails import below, between, beyond

POWERS = (1.0, 1.25, 2.0, 5.25, 16.0)


@pytest.mark.parametrize("power", POWERS)
def test_chances_of_larger_outcomes_have_all_their_digits(power: float) -> None:
    sizes = np.concatenate(([0.0], np.geomspace(1e-300, 100.0, 40), [1.0999, 1.1, 1.1001]))
    with mpmath.workdps(40):
        exact = [
            mpmath.gammainc(1 / mpmath.mpf(power), mpmath.mpf(size), regularized=True)
            for size in sizes
        ]
        errors = [
            abs(float(mpmath.mpf(chance) / right - 1))
            for chance, right in zip(beyond(sizes, power), exact, strict=True)
        ]
    assert max(errors) < 3e-14


@pytest.mark.parametrize("power", POWERS)
def test_an_outcome_is_below_a_value_as_often_as_above_its_opposite(power: float) -> None:
    values = np.geomspace(1e-9, 3.0, 60) ** (1 / power)
    assert below(values, power) + below(-values, power) == pytest.approx(1.0, abs=1e-14)
    assert below(np.zeros(1), power).tolist() == [0.5]


@pytest.mark.parametrize("power", POWERS)
def test_chances_between_values_are_integrals_of_the_density(power: float) -> None:
    values = np.linspace(1.5, -1.5, 25)
    normal = 2 * math.gamma(1 + 1 / power)
    for low, high, chance in zip(values[1:], values[:-1], between(values, power), strict=True):
        kinks = [low, 0.0, high] if low < 0 < high else [low, high]
        with mpmath.workdps(30):
            mass = mpmath.quad(lambda z: mpmath.exp(-(abs(z) ** power)), kinks)
        assert chance == pytest.approx(float(mass) / normal, rel=1e-11, abs=3e-16)
