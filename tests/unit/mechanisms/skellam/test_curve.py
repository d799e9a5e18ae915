"""Test privacy curves and divergences of Skellam noise, against sums in many digits."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from tests.unit.mechanisms.skellam.exact import exact_mass

from penstock.mechanisms.skellam.curve import epsilon_of_shape, rough_epsilon
from penstock.mechanisms.skellam.tails import reach
from penstock.randomness.bessel.law import log_skellam


def _delta(variance: float, shift: int, epsilon: float) -> mpmath.mpf:
    """Return the hockey-stick divergence, value by value."""
    mass, far = exact_mass(variance), reach(variance)
    ratio = mpmath.exp(mpmath.mpf(epsilon))
    terms = (mass(k - shift) - ratio * mass(k) for k in range(-far - shift, far + shift))
    return mpmath.fsum(term for term in terms if term > 0)


@pytest.mark.parametrize(
    ("variance", "shift", "delta", "epsilon"),
    [
        (1000.0, 1, 1e-6, 0.115741),
        pytest.param(200.0, 1, 1e-6, None, marks=pytest.mark.nightly),
        (30.0, 3, 1e-9, None),
        (1.0, 1, 1e-3, None),
    ],
)
def test_one_shifted_value_has_its_exact_epsilon(
    variance: float, shift: int, delta: float, epsilon: float | None
) -> None:
    found = epsilon_of_shape(variance, ((shift, 1),), delta)
    if epsilon is not None:
        assert found == pytest.approx(epsilon, abs=5e-7)
    with mpmath.workdps(40):
        assert _delta(variance, shift, found) <= delta
        assert _delta(variance, shift, found * (1 - 1e-6)) > delta
        # the mirrored shift is the other direction
        assert _delta(variance, -shift, found) == pytest.approx(
            float(_delta(variance, shift, found)), rel=1e-9
        )


def _pairs(variance: float, shifts: tuple[int, ...], epsilon: float) -> float:
    """Return delta over all outcomes of two values, in floats."""
    far = reach(variance)
    values = np.arange(-far, far + 1, dtype=np.float64)
    moved = [np.exp(log_skellam(values - shift, variance)) for shift in shifts]
    plain = [np.exp(log_skellam(values, variance))] * 2
    gain = np.outer(*moved) - math.exp(epsilon) * np.outer(*plain)
    return float(gain[gain > 0].sum())


@pytest.mark.parametrize("shifts", [(2, 1), (3, 3), (4, 1)])
def test_several_shifted_values_have_the_epsilon_of_the_enumeration(
    shifts: tuple[int, int],
) -> None:
    variance, delta = 40.0, 1e-6
    shape = ((shifts[0], 2),) if shifts[0] == shifts[1] else ((shifts[0], 1), (shifts[1], 1))
    found = epsilon_of_shape(variance, shape, delta)
    signs = itertools.product((1, -1), repeat=2)
    worst = [_pairs(variance, (a * shifts[0], b * shifts[1]), found) for a, b in signs]
    assert max(worst) <= delta
    assert max(worst) == pytest.approx(min(worst), rel=1e-6)
    assert max(_pairs(variance, shifts, found * (1 - 1e-4)) for _ in (0,)) > delta


def test_where_noise_hides_nothing_no_epsilon_is_enough() -> None:
    assert epsilon_of_shape(1.0, ((200, 1),), 1e-6) == math.inf


@pytest.mark.parametrize("variance", [40.0, 440.0, 31_700.0])
@pytest.mark.parametrize("shape", [((1, 24),), ((5, 3),), ((2, 3), (1, 1))])
def test_a_rough_epsilon_is_close_to_the_exact_one(
    variance: float, shape: tuple[tuple[int, int], ...]
) -> None:
    exact = epsilon_of_shape(variance, shape, 1e-6)
    assert rough_epsilon(variance, shape, 1e-6) == pytest.approx(exact, rel=5e-3)
