"""Test how geometric noise splits, in fractions: increments and bridges compose exactly."""

from dataclasses import replace
from fractions import Fraction

import pytest

from penstock.mechanisms.exponential.law import Bridge, half_width_steps, moved

F = Fraction
LEVELS = [
    (F(1, 5), F(2, 5), F(3, 5)),
    (F(0), F(2, 5), F(3, 5)),
    (F(0), F(1, 10), F(1, 9)),
    (F(8, 9), F(9, 10), F(19, 21)),
]
every_triple = pytest.mark.parametrize("levels", LEVELS, ids=lambda ps: "-".join(map(str, ps)))


def geometric(p: Fraction, value: int) -> Fraction:
    return (1 - p) * p**value if value >= 0 else F(0)


def increment(p: Fraction, q: Fraction, value: int) -> Fraction:
    """Return ``P(X(q) - X(p) = value)``, as it is drawn."""
    if value == 0:
        return 1 - moved(p, q)
    return moved(p, q) * geometric(q, value - 1)


def bridged(law: Bridge[Fraction], difference: int, value: int) -> Fraction:
    """Return ``P(X(t) - X(a) = value)`` given ``difference``, as the bridge draws it."""
    if difference == 0:
        return F(value == 0)
    if value == 0:
        return 1 - law.left
    if value == difference:
        return law.left * law.inner ** (difference - 1)
    return law.left * geometric(law.inner, value - 1) if 0 < value < difference else F(0)


def holds(levels: tuple[Fraction, Fraction, Fraction], law: Bridge[Fraction]) -> bool:
    a, t, b = levels
    return all(
        increment(a, b, v) * bridged(law, v, x) == increment(a, t, x) * increment(t, b, v - x)
        for v in range(9)
        for x in range(v + 1)
    )


@every_triple
def test_noise_and_an_increment_are_the_noise_of_the_wider_scale(
    levels: tuple[Fraction, Fraction, Fraction],
) -> None:
    _, p, q = levels
    for value in range(12):
        total = sum(geometric(p, k) * increment(p, q, value - k) for k in range(value + 1))
        assert total == geometric(q, value)


@every_triple
def test_bridge_and_increment_compose_exactly(levels: tuple[Fraction, Fraction, Fraction]) -> None:
    law = Bridge.between(*levels)
    assert holds(levels, law)
    assert not holds(levels, replace(law, left=law.left * F(101, 100)))
    assert not holds(levels, replace(law, inner=law.inner * F(99, 100)))


@every_triple
def test_the_atom_is_that_of_the_continuous_law_as_the_lattice_becomes_finer(
    levels: tuple[Fraction, Fraction, Fraction],
) -> None:
    # Claim F.7: with rates l1 > l2 nothing is added with probability l2 / l1
    fast, slow = 1 / (1 - levels[1]), 1 / (1 - levels[2])
    fine = 10**6
    p, q = 1 - 1 / (fast * fine), 1 - 1 / (slow * fine)
    assert abs((1 - moved(p, q)) - fast / slow) < F(1, 10**5)


@pytest.mark.parametrize("confidence", [0.3, 0.683, 0.95, 0.999])
@pytest.mark.parametrize("step", [0.004, 0.3, 2.0, 50.0])
def test_an_interval_covers_its_confidence_and_no_shorter_one_to_a_lattice_point_does(
    step: float, confidence: float
) -> None:
    from math import exp, expm1

    p, mean = exp(-step), 1 / expm1(step)
    half = half_width_steps(step, confidence)
    masses = [(1 - p) * p**k for k in range(int(40 / step) + 2)]

    def covered(h: float) -> float:
        return sum(m for k, m in enumerate(masses) if abs(k - mean) <= h + 1e-9)

    assert covered(half) >= confidence - 1e-9
    assert round(half + mean, 6).is_integer()
    if half > 1:
        assert covered(half - 1) < confidence
