"""Privacy curves and divergences of Skellam noise, against sums in many digits."""

import itertools
import math
from collections.abc import Callable

import mpmath
import numpy as np
import pytest

from penstock.mechanisms.skellam.curve import epsilon_of_shape
from penstock.mechanisms.skellam.divergence import (
    _given,
    _points,
    farthest,
    refinement_divergence,
    renyi_divergence,
)
from penstock.mechanisms.skellam.tails import Progression, reach
from penstock.randomness.bessel.law import EXPANDED, log_skellam


def _mass(variance: float) -> Callable[[int], mpmath.mpf]:
    known: dict[int, mpmath.mpf] = {}

    def mass(k: int) -> mpmath.mpf:
        k = abs(k)
        if k not in known:
            known[k] = mpmath.besseli(k, variance) * mpmath.exp(-mpmath.mpf(variance))
        return known[k]

    return mass


def _delta(variance: float, shift: int, epsilon: float) -> mpmath.mpf:
    """The hockey-stick divergence, value by value."""
    mass, far = _mass(variance), reach(variance)
    ratio = mpmath.exp(mpmath.mpf(epsilon))
    terms = (mass(k - shift) - ratio * mass(k) for k in range(-far - shift, far + shift))
    return mpmath.fsum(term for term in terms if term > 0)


@pytest.mark.parametrize("variance", [0.3, 5.0, EXPANDED - 1e-9, EXPANDED, 300.0])
def test_logarithms_of_probabilities_are_right_to_1e_13(variance: float) -> None:
    orders = np.unique(np.rint(np.linspace(0, reach(variance), 12)))
    with mpmath.workdps(40):
        exact = [mpmath.log(_mass(variance)(int(k))) for k in orders]
        errors = np.array(
            [
                abs(float(a - mpmath.mpf(float(b))))
                for a, b in zip(exact, log_skellam(orders, variance), strict=True)
            ]
        )
    assert errors.max() < 1e-13


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
    """Over all outcomes of two values, in floats."""
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


@pytest.mark.parametrize(
    "variance", [float(1 << 24), pytest.param(float(1 << 30), marks=pytest.mark.nightly)]
)
def test_sums_over_every_nth_integer_are_those_over_all(variance: float) -> None:
    whole = Progression.between(variance, 0, reach(variance), 1).at_least()
    coarse = Progression.between(variance, 0, reach(variance), 4).at_least()
    kept = whole[::4][: len(coarse)]
    near = kept > 1e-18
    assert coarse[near] == pytest.approx(kept[near], rel=1e-9)


@pytest.mark.parametrize(
    ("variance", "shift", "order"),
    [
        pytest.param(1000.0, 1, 11.0, marks=pytest.mark.nightly),
        (50.0, 3, 2.0),
        (4.0, 1, 30.0),
        pytest.param(200.0, 2, 1.5, marks=pytest.mark.nightly),
        (0.5, 1, 4.0),
    ],
)
def test_the_divergence_is_the_sum_in_many_digits(
    variance: float, shift: int, order: float
) -> None:
    mass = _mass(variance)
    far = 3 * reach(variance) + math.ceil(4 * order * shift)
    with mpmath.workdps(60):
        moment = mpmath.fsum(
            mass(k) ** order * mass(k - shift) ** (1 - order) for k in range(-far, far)
        )
        exact = mpmath.log(moment) / (order - 1)
    found = renyi_divergence(variance, shift, order)
    assert exact <= found
    assert found == pytest.approx(float(exact), rel=1e-8)


@pytest.mark.parametrize(
    ("old", "new", "shift", "order"),
    [(100, 50, 1, 11), (100, 20, 4, 3), (40, 10, 7, 20), (8, 2, 1, 50), (1000, 900, 3, 11)],
)
def test_no_known_noise_makes_a_refinement_tell_more_than_is_charged(
    old: float, new: float, shift: int, order: float
) -> None:
    tail = 1e-9
    values, _ = _points(new * (old - new) / old, shift, order)
    wide = np.arange(values[0] - 600, values[-1] + 600)
    far = farthest(old, tail)
    worst = max(
        _given(old, new, shift, known, order, wide, 1) for known in range(-far, far + shift + 1)
    )
    found = refinement_divergence(old, new, shift, order, tail)
    assert worst <= found <= worst * (1 + 2.0**-8)


def test_noise_is_hardly_ever_farther_than_it_is_taken_to_be() -> None:
    for variance in (0.5, 40.0, 1e6):
        far = farthest(variance, 1e-6)
        beyond = 2 * Progression.between(variance, far + 1, far + reach(variance), 1).masses.sum()
        assert beyond <= 1e-6
