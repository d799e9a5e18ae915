"""Test Laplace noise read by l2: the closed forms have their known values and hold."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.curve import mu_at
from penstock.mechanisms.laplace.laplace_readings import (
    l2_epsilon,
    theorem_epsilon,
    theorem_scale,
    variance_over_gaussian,
)


@pytest.mark.parametrize(
    ("count", "shift", "scale", "delta", "pure", "by_l2"),
    [
        (1, 1, 1, 1e-6, 1, 5.756522),
        (4, 1, 2, 1e-3, 2, 4.216922),
        (16, 1, 16, 1e-6, 1, 1.345380),
        (100, 1, 50, 1e-6, 2, 1.071304),
        (100, 1, 10, 1e-6, 10, 5.756522),
        (400, 1, 100, 1e-5, 4, 0.979705),
        (1000, 1, 300, 1e-9, 3.333333, 0.684170),
        (25, 1, 5, 0.1, 5, 2.645966),
        (64, 0.5, 20, 1e-4, 1.6, 0.878386),
    ],
)
def test_theorem_1_3_has_its_known_values(
    count: int, shift: float, scale: float, delta: float, pure: float, by_l2: float
) -> None:
    l1, l2 = count * shift, math.sqrt(count) * shift
    assert l2_epsilon(l2, scale, delta) == pytest.approx(by_l2, abs=6e-7)
    assert theorem_epsilon(l1, l2, scale, delta) == pytest.approx(min(pure, by_l2), abs=6e-7)


@pytest.mark.parametrize(
    ("epsilon", "delta", "scale", "classical"),
    [
        (1, 1e-5, 4.900555, 2.046293),
        (1, 1e-6, 5.349980, 2.038820),
        (0.5, 1e-6, 10.607318, 2.003668),
        (0.1, 1e-6, 52.660166, 1.975327),
        (0.1, 1e-9, 64.456552, 1.983465),
        (1, 1e-15, 8.371021, 2.015826),
    ],
)
def test_lemma_5_4_and_corollary_5_5_have_their_known_values(
    epsilon: float, delta: float, scale: float, classical: float
) -> None:
    assert theorem_scale(math.inf, 1, epsilon, delta) == pytest.approx(scale, abs=6e-7)
    to_classical, to_tight = variance_over_gaussian(epsilon, delta)
    assert to_classical == pytest.approx(classical, abs=6e-7)
    assert 2.5 < to_tight < 4.3
    assert to_tight == pytest.approx(2 * scale**2 * mu_at(epsilon, delta) ** 2, rel=1e-6)


def test_the_ratio_to_classical_gaussian_noise_tends_to_2() -> None:
    ratios = [variance_over_gaussian(1.0, 10.0**-digits)[0] for digits in (5, 50, 250)]
    assert [abs(ratio - 2) for ratio in ratios] == sorted(
        (abs(ratio - 2) for ratio in ratios), reverse=True
    )
    assert ratios[-1] == pytest.approx(2, abs=1e-3)


@given(
    l1=st.floats(1, 1e4),
    part=st.floats(1e-2, 1),
    epsilon=st.floats(1e-3, 50),
    delta=st.floats(1e-12, 0.1),
)
def test_the_scale_keeps_the_epsilon_that_it_was_made_for(
    l1: float, part: float, epsilon: float, delta: float
) -> None:
    scale = theorem_scale(l1, part * l1, epsilon, delta)
    assert theorem_epsilon(l1, part * l1, scale, delta) <= epsilon * (1 + 1e-12)
    assert theorem_epsilon(l1, part * l1, scale * (1 - 1e-9), delta) > epsilon * (1 - 1e-12)


@given(scale=st.floats(0.01, 1e4), delta=st.floats(1e-12, 0.6))
def test_one_changed_value_is_read_by_l1(scale: float, delta: float) -> None:
    assert theorem_epsilon(1, 1, scale, delta) == pytest.approx(1 / scale)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-6, math.nan])
def test_a_delta_that_is_none_is_refused(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta between 0 and 1"):
        theorem_epsilon(1, 1, 1, delta)
    with pytest.raises(InvalidInput, match="delta between 0 and 1"):
        theorem_scale(1, 1, 1, delta)


@pytest.mark.parametrize("value", [0.0, -1.0, math.nan])
def test_norms_scales_and_epsilons_that_are_none_are_refused(value: float) -> None:
    for l2, scale in ((value, 1.0), (1.0, value)):
        with pytest.raises(InvalidInput, match="above 0"):
            l2_epsilon(l2, scale, 1e-6)
        with pytest.raises(InvalidInput, match="above 0"):
            theorem_scale(l2, 1.0, scale, 1e-6)
