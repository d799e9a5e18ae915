"""Test exponential noise: what it costs, by enumeration, and how it is released."""

import math
from fractions import Fraction
from hashlib import sha256
from itertools import product

import numpy as np
import pytest

from penstock.errors import InvalidInput
from penstock.mechanisms import Exponential, MultipleRelease
from penstock.privacy import Definition, Sensitivity
from penstock.randomness import Stream

SCALE = Fraction(5, 2)
RATIO = math.exp(-1 / SCALE)
REACH = 90


def _stream(label: str) -> Stream:
    return Stream.from_key(sha256(label.encode()).digest())


def _law(exact: tuple[int, int]) -> dict[tuple[int, int], float]:
    """Return the law of a release of two values, up to noise that hardly ever happens."""
    masses = [(1 - RATIO) * RATIO**k for k in range(REACH)]
    return {
        (exact[0] + i, exact[1] + j): masses[i] * masses[j]
        for i, j in product(range(REACH), repeat=2)
    }


def _delta(first: tuple[int, int], second: tuple[int, int], epsilon: float) -> float:
    here, there = _law(first), _law(second)
    factor = math.exp(epsilon)
    return sum(max(mass - factor * there.get(at, 0.0), 0.0) for at, mass in here.items())


SHIFTS = [(2, 1), (-1, -2), (2, -1), (-2, 1), (-2, 0)]
THREE = Sensitivity(l1=Fraction(3), l2_squared=Fraction(5), linf=Fraction(2))


@pytest.mark.parametrize("epsilon", [0.0, 0.4, 1.1, 3.0])
def test_delta_is_the_chance_to_leave_the_range_at_every_epsilon(epsilon: float) -> None:
    worst = max(_delta((3, 3), (3 + up, 3 + side), epsilon) for up, side in SHIFTS)
    exact = -math.expm1(-3 / float(SCALE))
    assert worst == pytest.approx(exact, abs=1e-12)
    mechanism = Exponential(Fraction(1))
    enough = mechanism.guarantee(SCALE, THREE, exact * (1 + 1e-12))
    assert (enough.definition, enough.epsilon) == (Definition.APPROXIMATE, 0.0)
    assert mechanism.guarantee(SCALE, THREE, exact * (1 - 1e-9)).epsilon == math.inf


@pytest.mark.parametrize("order", [1.5, 4.0, 64.0])
def test_the_cost_is_the_divergence_where_the_neighbor_can_be_and_the_rest_its_failure(
    order: float,
) -> None:
    cost = Exponential(Fraction(1)).cost(SCALE, THREE, order)
    losses, failures = [], []
    for up, side in SHIFTS:
        here, there = _law((3, 3)), _law((3 + up, 3 + side))
        both = {at: mass for at, mass in here.items() if at in there}
        failures.append(sum(here.values()) - sum(both.values()))
        ratios = sum(mass * (mass / there[at]) ** (order - 1) for at, mass in both.items())
        losses.append(math.log(ratios / sum(both.values())) / (order - 1))
    assert max(losses) == pytest.approx(cost.loss, rel=1e-9)
    assert max(failures) == pytest.approx(cost.failure, rel=1e-9)


def test_the_cost_is_the_same_at_every_order_and_thresholds_alone_are_charged() -> None:
    mechanism, ladder = Exponential.plan(Fraction(4), Fraction(1), Fraction(100))
    costs = {mechanism.cost(SCALE, THREE, order) for order in (2.0, 30.0, math.inf)}
    assert len(costs) == 1
    (charge,) = mechanism.numerical_charges(ladder, 1000, 8, 8.0, 1.0)
    assert 0 < charge.failure < 1e-50
    (charge,) = mechanism.numerical_charges(ladder, 1000, 8, math.inf, 1.0)
    assert charge.failure == 0


def test_a_release_has_no_bias_at_any_level() -> None:
    mechanism, ladder = Exponential.plan(Fraction(4), Fraction(1), Fraction(100))
    path = MultipleRelease(
        mechanism, ladder, np.full(40_000, 7), 4, streams=lambda: _stream("bias")
    )
    for level in (4, 32, 8):
        drawn = path.at(level)
        bars = mechanism.error(Fraction(level), 0.95)
        assert abs(drawn.mean() - 7) < 6 * bars.standard_deviation / 200
        assert drawn.std() == pytest.approx(bars.standard_deviation, rel=0.1)
        assert (np.abs(drawn - 7) <= bars.half_width).mean() == pytest.approx(0.95, abs=0.01)


def test_the_law_that_is_listed_has_the_mean_and_the_deviation_that_are_stated() -> None:
    mechanism, level = Exponential(Fraction(1, 8)), Fraction(4)
    law = mechanism.distribution(level)
    masses, middles = np.diff(law.at_most), (law.values[1:] + law.values[:-1]) / 2
    assert masses.sum() == pytest.approx(1, abs=1e-9)
    assert masses @ middles == pytest.approx(0, abs=1e-6)
    deviation = mechanism.error(level, 0.9).standard_deviation
    assert masses @ middles**2 == pytest.approx(deviation**2, rel=1e-5)


def test_differences_and_levels_that_cannot_be_are_refused() -> None:
    mechanism, stream = Exponential(Fraction(1)), _stream("refused")
    with pytest.raises(InvalidInput, match="only rises"):
        mechanism.bridge(Fraction(1), Fraction(3), np.array([2, -1]), Fraction(2), stream)
    with pytest.raises(InvalidInput, match="must increase"):
        mechanism.increment(Fraction(3), Fraction(2), 4, stream)
    with pytest.raises(InvalidInput, match="above 2\\^41 steps"):
        mechanism.increment(Fraction(3), Fraction(1 << 42), 4, stream)
    with pytest.raises(InvalidInput, match="power of two"):
        Exponential(Fraction(3))
