"""Test the discrete Laplace process by exact enumeration, and its divergence against sums."""

from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction

import mpmath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.mechanisms.laplace.law import Bridge, half_width_steps, renyi_divergence, unchanged
from penstock.randomness.bernoulli import PRECISION

F = Fraction
LEVELS = [
    (F(1, 5), F(2, 5), F(3, 5)),
    (F(0), F(2, 5), F(3, 5)),
    (F(0), F(1, 10), F(1, 9)),
    (F(1, 2), F(9, 10), F(11, 12)),
    (F(8, 9), F(9, 10), F(19, 21)),
]
every_triple = pytest.mark.parametrize("levels", LEVELS, ids=lambda ps: "-".join(map(str, ps)))


def _increment(p: Fraction, q: Fraction, value: int) -> Fraction:
    """Return ``P(X(q) - X(p) = value)``."""
    stays = unchanged(p, q)
    return stays * (value == 0) + (1 - stays) * (1 - q) / (1 + q) * q ** abs(value)


def _bridged(law: Bridge[Fraction], difference: int, value: int) -> Fraction:
    """Return ``P(X(t) - X(a) = value)`` given ``difference``, as the bridge draws it."""

    def beyond(steps: int) -> Fraction:
        return (1 - law.outer) * law.outer ** (steps - 1) if steps > 0 else F(0)

    if difference == 0:
        return 1 - law.parted if value == 0 else law.parted * beyond(abs(value)) / 2
    if difference < 0:
        return _bridged(law, -difference, -value)
    onward = 1 - law.still - law.backward
    within = (1 - law.inner) * law.inner**value if 0 <= value <= difference else F(0)
    over = law.inner ** (difference + 1)
    after = law.arrived * (value == difference) + (1 - law.arrived) * beyond(value - difference)
    return (
        law.still * (value == 0) + law.backward * beyond(-value) + onward * (within + over * after)
    )


def _holds(levels: tuple[Fraction, Fraction, Fraction], law: Bridge[Fraction]) -> bool:
    """Return whether increment a to b, then bridge, is increment a to t, then t to b: exactly."""
    a, t, b = levels
    return all(
        _increment(a, b, v) * _bridged(law, v, x) == _increment(a, t, x) * _increment(t, b, v - x)
        for v in range(-7, 8)
        for x in range(-10, 11)
    )


def test_the_worked_example_has_its_values() -> None:
    assert unchanged(F(1, 5), F(3, 5)) == F(1, 12)
    found = [_increment(F(1, 5), F(3, 5), k) for k in range(3)]
    assert found == [F(3125, 10_000), F(1375, 10_000), F(825, 10_000)]


@every_triple
def test_two_increments_compose_to_one(levels: tuple[Fraction, Fraction, Fraction]) -> None:
    a, t, b = levels
    first, second = unchanged(a, t), unchanged(t, b)
    assert first * second == unchanged(a, b)
    reach = 400
    total = sum(_increment(a, t, k) * _increment(t, b, 2 - k) for k in range(-reach, reach + 1))
    assert abs(total - _increment(a, b, 2)) < F(1, 10**15)


@every_triple
def test_bridge_and_increment_compose_exactly(levels: tuple[Fraction, Fraction, Fraction]) -> None:
    assert _holds(levels, Bridge.between(*levels))


@every_triple
def test_a_bridge_is_a_law(levels: tuple[Fraction, Fraction, Fraction]) -> None:
    law = Bridge.between(*levels)
    for chance in (law.still, law.backward, law.arrived, law.parted):
        assert 0 <= chance < 1
    assert law.still + law.backward < 1
    assert (law.still == 0) == (levels[0] == 0)


@pytest.mark.parametrize("part", ["still", "backward", "arrived", "parted"])
def test_a_bridge_without_any_one_of_its_parts_is_found_out(part: str) -> None:
    law = Bridge.between(*LEVELS[0])
    assert not _holds(LEVELS[0], replace(law, **{part: F(0)}))


def test_neighboring_levels_keep_their_digits() -> None:
    with localcontext(PRECISION):
        ps = [(-1 / Decimal(2**41 + k) / (1 << 20)).exp() for k in range(3)]
        decimal = Bridge.between(*ps)
    exact = Bridge.between(*(Fraction(p) for p in ps))
    for name in ("still", "backward", "arrived", "parted"):
        assert abs(Fraction(getattr(decimal, name)) - getattr(exact, name)) < F(1, 2**193), name


def _summed(order: float, shift: int, p: float) -> float:
    with mpmath.workdps(50):
        q, a = mpmath.mpf(p), mpmath.mpf(order)
        mass = (1 - q) / (1 + q)
        reach = shift + int(60 / -mpmath.log(q)) + 10
        total = mpmath.fsum(
            mass * q ** (a * abs(k - shift) + (1 - a) * abs(k)) for k in range(-reach, reach)
        )
        return float(mpmath.log(total) / (a - 1))


@pytest.mark.parametrize(
    ("order", "epsilon", "steps", "expected"),
    [(4, 1.0, 1, 0.895883), (11, 0.5, 1, 0.452595), (2, 1.0, 4, 0.628588)],
)
def test_divergences_have_their_known_values(
    order: float, epsilon: float, steps: int, expected: float
) -> None:
    assert renyi_divergence(order, epsilon, epsilon / steps) == pytest.approx(expected, abs=5e-7)


@pytest.mark.parametrize("order", [1.5, 2.0, 11.0, 57.0, 1000.0])
@pytest.mark.parametrize("epsilon", [1e-3, 0.1, 1.0, 12.0])
@pytest.mark.parametrize("steps", [1, 3, 40])
def test_the_closed_form_is_the_sum_over_the_lattice(
    order: float, epsilon: float, steps: int
) -> None:
    with mpmath.workdps(50):
        p = mpmath.exp(-mpmath.mpf(epsilon) / steps)
        if p < 0.98:
            expected = _summed(order, steps, p)
            found = renyi_divergence(order, epsilon, epsilon / steps)
            assert found == pytest.approx(expected, rel=1e-9, abs=1e-13)
            assert found >= expected * (1 - 1e-13)


@given(
    order=st.floats(1.01, 2000),
    epsilon=st.floats(1e-9, 200),
    steps=st.integers(1, 1 << 40),
)
def test_divergences_are_between_zero_and_epsilon_and_grow_towards_the_continuous_limit(
    order: float, epsilon: float, steps: int
) -> None:
    found = renyi_divergence(order, epsilon, epsilon / steps)
    assert 0 < found <= epsilon
    finer = renyi_divergence(order, epsilon, epsilon / steps / 2)
    assert finer <= found * (1 + 1e-9) + 1e-14


def test_many_steps_cost_what_continuous_noise_costs() -> None:
    order, epsilon = 11.0, 0.5
    with mpmath.workdps(30):
        a, e = mpmath.mpf(order), mpmath.mpf(epsilon)
        first = a / (2 * a - 1) * mpmath.exp((a - 1) * e)
        limit = mpmath.log(first + (a - 1) / (2 * a - 1) * mpmath.exp(-a * e)) / (a - 1)
    assert renyi_divergence(order, epsilon, 1e-12) == pytest.approx(float(limit), rel=1e-11)


def test_at_infinite_order_the_divergence_is_the_pure_bound() -> None:
    assert renyi_divergence(float("inf"), 0.7, 0.1) == 0.7


@given(p=st.fractions(F(1, 100), F(999, 1000)), confidence=st.floats(0.01, 0.999))
def test_half_widths_are_the_least_that_cover(p: Fraction, confidence: float) -> None:
    with mpmath.workdps(30):
        step = float(-mpmath.log(mpmath.mpf(p.numerator) / p.denominator))
    h = half_width_steps(step, confidence)

    def covered(width: int) -> float:
        return float(1 - 2 * p ** (width + 1) / (1 + p)) if width >= 0 else 0.0

    assert covered(h) >= confidence - 1e-9
    assert covered(h - 1) <= confidence + 1e-9
