"""Test that no shift of a vector tells more than the one with as few values moving as possible."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement

import pytest

from penstock.mechanisms import GeneralizedGaussian
from penstock.mechanisms.generalized_gaussian.law import renyi_divergence
from penstock.mechanisms.generalized_gaussian.loss_distribution import Shifted, delta_of
from penstock.privacy import Sensitivity

SCALE = Fraction(5)
POWERS = (1.25, 2.5, 4.0, 16.0)
every_power = pytest.mark.parametrize("power", POWERS)

Shape = tuple[Fraction, ...]


def kinds_of(shape: Shape, power: float) -> tuple[Shifted, ...]:
    moved = Counter(shift for shift in shape if shift)
    return tuple(Shifted(power, float(shift / SCALE), times) for shift, times in moved.items())


def shapes(l1: Fraction, linf: Fraction, count: int, parts: int) -> list[Shape]:
    """Return all shifts of ``count`` values up to order, in multiples of ``linf / parts``."""
    steps = [linf * part / parts for part in range(parts + 1)]
    found = combinations_with_replacement(steps, count)
    return [shape for shape in found if 0 < sum(shape) <= l1]


def worst(l1: Fraction, linf: Fraction, power: float) -> tuple[Shifted, ...]:
    sensitivity = Sensitivity(l1, min(l1 * linf, l1 * l1), linf)
    law = GeneralizedGaussian.of(power)(Fraction(1, 8))
    return law.worst_shift(SCALE, sensitivity)


AT_EVERY_CHANGE = {
    (1.25, "2.5", 0.6),
    (2.5, "2.5", 0.0),
    (4.0, "2.5", 0.6),
    (2.5, "1.5", 0.6),
    (16.0, "1.5", 0.0),
}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("power", "l1", "linf", "epsilon"),
    [
        pytest.param(
            power,
            l1,
            linf,
            epsilon,
            marks=[] if (power, l1, epsilon) in AT_EVERY_CHANGE else pytest.mark.nightly,
        )
        for power in POWERS
        for l1, linf in (("2.5", "1"), ("1.5", "2"))
        for epsilon in (0.0, 0.6)
    ],
)
def test_no_enumerated_shift_has_a_larger_delta(
    power: float, l1: str, linf: str, epsilon: float
) -> None:
    total, most = Fraction(l1), min(Fraction(linf), Fraction(l1))
    bound = delta_of(worst(total, most, power), epsilon)
    for shape in shapes(total, most, 3, 4):
        assert delta_of(kinds_of(shape, power), epsilon) <= bound * (1 + 1e-5) + 1e-15


@every_power
@pytest.mark.parametrize("order", [1.5, 5.0, 22.0])
def test_no_enumerated_shift_has_a_larger_divergence(power: float, order: float) -> None:
    def divergence(kinds: tuple[Shifted, ...]) -> float:
        return sum(kind.times * renyi_divergence(order, power, kind.shift) for kind in kinds)

    bound = divergence(worst(Fraction("2.5"), Fraction(1), power))
    for shape in shapes(Fraction("2.5"), Fraction(1), 3, 4):
        assert divergence(kinds_of(shape, power)) <= bound * (1 + 1e-9)


@every_power
def test_an_even_shift_taken_for_the_worst_is_found_out(power: float) -> None:
    even = kinds_of((Fraction(1, 2),) * 4, power)
    assert delta_of(even, 0.3) < 0.99 * delta_of(worst(Fraction(2), Fraction(1), power), 0.3)


def test_the_worst_shift_has_as_many_of_the_largest_as_fit_and_one_with_the_rest() -> None:
    assert worst(Fraction("2.5"), Fraction(1), 4.0) == (Shifted(4.0, 0.2, 2), Shifted(4.0, 0.1, 1))
    assert worst(Fraction(3), Fraction(1), 4.0) == (Shifted(4.0, 0.2, 3),)
