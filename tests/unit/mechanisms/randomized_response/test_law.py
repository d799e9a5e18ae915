"""Test how randomized response splits, in fractions, and what it costs, by enumeration."""

import math
from dataclasses import replace
from fractions import Fraction
from itertools import permutations

import pytest

from penstock.mechanisms.randomized_response.law import Bridge, epsilon_of, renyi_divergence

F = Fraction
KEEPS = [
    (F(9, 10), F(1, 2), F(1, 7)),
    (F(1), F(2, 3), F(1, 100)),
    (F(4, 5), F(1, 3), F(0)),
]
every_triple = pytest.mark.parametrize("keeps", KEEPS, ids=lambda ps: "-".join(map(str, ps)))
every_size = pytest.mark.parametrize("categories", [2, 3, 5])


def increment(a: Fraction, b: Fraction, categories: int, value: int) -> Fraction:
    """Return ``P(X(b) - X(a) = value)``: kept with probability ``b/a``, else uniform."""
    return b / a * (value % categories == 0) + (1 - b / a) / categories


def bridged(law: Bridge, categories: int, difference: int, value: int) -> Fraction:
    """Return ``P(X(t) - X(a) = value)`` given ``difference``, as the bridge draws it."""
    if difference == 0:
        return (1 - law.parted) * (value == 0) + law.parted / categories
    uniform = 1 - law.still - law.arrived
    return law.still * (value == 0) + law.arrived * (value == difference) + uniform / categories


def holds(keeps: tuple[Fraction, Fraction, Fraction], categories: int, law: Bridge) -> bool:
    a, t, b = keeps
    return all(
        increment(a, b, categories, v) * bridged(law, categories, v, x)
        == increment(a, t, categories, x) * increment(t, b, categories, v - x)
        for v in range(categories)
        for x in range(categories)
    )


@every_triple
@every_size
def test_increments_compose_and_bridges_are_their_exact_condition(
    keeps: tuple[Fraction, Fraction, Fraction], categories: int
) -> None:
    a, t, b = keeps
    for value in range(categories):
        total = sum(
            increment(a, t, categories, x) * increment(t, b, categories, value - x)
            for x in range(categories)
        )
        assert total == increment(a, b, categories, value)
    law = Bridge.between(*keeps, categories)
    assert holds(keeps, categories, law)
    for part in ("still", "arrived", "parted"):
        wrong = replace(law, **{part: getattr(law, part) * F(9, 10) + F(1, 50)})
        assert not holds(keeps, categories, wrong)


def _joint(order: tuple[int, ...], keeps: tuple[Fraction, ...]) -> dict[tuple[int, ...], Fraction]:
    """Return the joint law of the noise at three levels that are drawn in this order, of 3."""
    joint: dict[tuple[int, ...], Fraction] = {}
    for values in ((x, y, z) for x in range(3) for y in range(3) for z in range(3)):
        chance, known = F(1), {-1: 0}
        level = {-1: F(1)} | dict(enumerate(keeps))
        for place in order:
            below = max(other for other in known if other < place)
            above = min((other for other in known if other > place), default=None)
            step = (values[place] - known[below]) % 3
            if above is None:
                chance *= increment(level[below], level[place], 3, step)
            else:
                law = Bridge.between(level[below], level[place], level[above], 3)
                chance *= bridged(law, 3, (known[above] - known[below]) % 3, step)
            known[place] = values[place]
        joint[values] = chance
    return joint


def test_every_order_of_levels_has_the_same_joint_law() -> None:
    keeps = KEEPS[0]
    laws = [_joint(order, keeps) for order in permutations(range(3))]
    assert sum(laws[0].values()) == 1
    assert all(law == laws[0] for law in laws)


@every_size
@pytest.mark.parametrize("order", [1.25, 2.0, 9.0, 64.0])
@pytest.mark.parametrize("keep", [F(1, 10**6), F(1, 3), F(99, 100)])
def test_the_divergence_is_the_sum_over_all_answers(
    keep: Fraction, order: float, categories: int
) -> None:
    import mpmath

    with mpmath.workdps(80):
        kept, other = (
            mpmath.mpf(p.numerator) / p.denominator
            for p in (keep + (1 - keep) / categories, (1 - keep) / categories)
        )
        total = (
            kept**order * other ** (1 - order)
            + other**order * kept ** (1 - order)
            + (categories - 2) * other
        )
        exact = float(mpmath.log(total) / (order - 1))
    stated = renyi_divergence(keep, categories, order)
    assert exact <= stated <= exact * (1 + 1e-9)


@every_size
def test_epsilon_is_the_largest_ratio_of_two_answers_laws(categories: int) -> None:
    keep = F(2, 5)
    true = [increment(F(1), keep, categories, x) for x in range(categories)]
    other = [increment(F(1), keep, categories, x - 1) for x in range(categories)]
    worst = max(p / q for p, q in zip(true, other, strict=True))
    epsilon = epsilon_of(keep, categories)
    assert renyi_divergence(keep, categories, math.inf) == epsilon
    assert math.log(worst) <= epsilon < math.log(worst) * (1 + 1e-9)
    assert renyi_divergence(keep, categories, 1e6) == pytest.approx(epsilon, rel=1e-5)
    assert renyi_divergence(keep, categories, 1e12) == pytest.approx(epsilon, rel=1e-10)
