"""Test divergences of Skellam noise, against sums in many digits and all that may be known."""

import math

import mpmath
import numpy as np
import pytest
from tests.unit.mechanisms.skellam.exact import exact_mass

from penstock.mechanisms.skellam.divergence import (
    _given,
    _points,
    farthest,
    refinement_divergence,
    renyi_divergence,
)
from penstock.mechanisms.skellam.tails import Progression, reach


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
    mass = exact_mass(variance)
    far = 3 * reach(variance) + math.ceil(4 * order * shift)
    with mpmath.workdps(60):
        moment = mpmath.fsum(
            mass(k) ** order * mass(k - shift) ** (1 - order) for k in range(-far, far)
        )
        exact = mpmath.log(moment) / (order - 1)
    charged = renyi_divergence(variance, shift, order)
    assert exact <= charged
    assert charged == pytest.approx(float(exact), rel=1e-8)


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
    charged = refinement_divergence(old, new, shift, order, tail)
    assert worst <= charged <= worst * (1 + 2.0**-8)


def test_noise_is_hardly_ever_farther_than_it_is_taken_to_be() -> None:
    for variance in (0.5, 40.0, 1e6):
        far = farthest(variance, 1e-6)
        beyond = 2 * Progression.between(variance, far + 1, far + reach(variance), 1).masses.sum()
        assert beyond <= 1e-6
