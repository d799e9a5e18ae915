"""Test that the guarantee that names a level holds at its delta; long vectors gain by it."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom
from tests.unit.accounting.exact_losses import laplace

from penstock.accounting import ORDERS, composed_epsilon, converted_epsilon, level_for, rung_for
from penstock.accounting.guarantees import guarantee_at, renyi_epsilon
from penstock.accounting.reporting.coordinates import PlacedRelease
from penstock.mechanisms import MECHANISMS, Laplace
from penstock.privacy import Definition, Sensitivity
from penstock.privacy.target import Target, TargetKind

FINE = Fraction(1, 2**12)
DELTA = 1e-6


def equal(count: int, shift: Fraction = Fraction(1)) -> Sensitivity:
    """Return ``count`` coordinates that move by ``shift`` each."""
    return Sensitivity(count * shift, count * shift**2, shift)


def exact_delta(count: int, scale: int, epsilon: float) -> float:
    """Return the divergence of ``count`` coordinates that move by a step, by sums of their losses.

    A step's loss is ``1/scale`` or its negative, so that sums of losses are binomial.
    """
    one, other = laplace(1 / scale, 1)
    law = binom.pmf(np.arange(count + 1), count, one[1])
    losses = np.log(one[0] / other[0]) * (count - 2 * np.arange(count + 1))
    return float(np.sum(law * np.maximum(-np.expm1(epsilon - losses), 0)))


@pytest.mark.parametrize(("count", "scale"), [(16, 8), (50, 20), (100, 45), (1000, 145)])
def test_the_guarantee_of_a_long_vector_is_above_its_exact_loss(count: int, scale: int) -> None:
    """Sum the losses of discrete Laplace noise on the integers, one step a coordinate."""
    printed = guarantee_at(Laplace(Fraction(1)), Fraction(scale), equal(count), DELTA)
    assert printed.definition is Definition.APPROXIMATE
    assert printed.epsilon < count / scale
    assert 0 < exact_delta(count, scale, printed.epsilon) <= DELTA
    # A fifth less would be wrong.
    assert exact_delta(count, scale, 0.8 * printed.epsilon) > DELTA


@pytest.mark.parametrize(
    ("count", "epsilon", "known"), [(100, 1.0, 44.2769), (1000, 1.0, 142.844), (100, 0.1, 388.610)]
)
def test_levels_of_long_vectors_have_their_known_scales(
    count: int, epsilon: float, known: float
) -> None:
    """By l1 alone a hundred columns would need scale 100, by Theorem 1.3 alone 53.5."""
    target = Target(TargetKind.EPSILON, epsilon)
    level = level_for(Laplace(Fraction(1)), target, equal(count), DELTA)
    assert float(level) == pytest.approx(known, rel=1e-5)
    law, ladder = Laplace.plan(level, Fraction(1), Fraction(0))
    rung = rung_for(law, ladder, target, equal(count), DELTA)
    at, finer = (
        guarantee_at(law, ladder.value(each), equal(count), DELTA) for each in (rung, rung - 1)
    )
    assert at.epsilon <= epsilon < finer.epsilon
    placed = PlacedRelease("laplace", law.granularity, ladder.value(rung), equal(count))
    assert composed_epsilon([placed], DELTA) < at.epsilon


@pytest.mark.parametrize("count", [1, 10, 1000])
@pytest.mark.parametrize("epsilon", [1e-9, 1e-3, 0.5])
@pytest.mark.parametrize("delta", [1e-6, 1e-2, 0.3])
def test_an_epsilon_names_a_level_also_where_delta_covers_all_that_is_lost(
    count: int, epsilon: float, delta: float
) -> None:
    """At the scale of the pure loss nothing may be lost beyond delta, and its logarithm is none."""
    target, law = Target(TargetKind.EPSILON, epsilon), Laplace(Fraction(1))
    level = level_for(law, target, equal(count), delta)
    planned, ladder = Laplace.plan(level, Fraction(1), Fraction(0))
    rung = rung_for(planned, ladder, target, equal(count), delta)
    at = ladder.value(rung)
    assert guarantee_at(planned, at, equal(count), delta).epsilon <= epsilon
    if rung:
        finer = guarantee_at(planned, ladder.value(rung - 1), equal(count), delta)
        assert finer.epsilon > epsilon
    assert level <= equal(count).l1 / Fraction(epsilon) * (1 + Fraction(1, 2**40))


@pytest.mark.parametrize("count", [64, 100, 1000])
@pytest.mark.parametrize("epsilon", [0.05, 0.5, 1.0, 2.0])
def test_a_level_has_a_rung_that_loses_nearly_the_epsilon_of_it(count: int, epsilon: float) -> None:
    """The next rung would lose a thousandth less."""
    target = Target(TargetKind.EPSILON, epsilon)
    level = level_for(Laplace(Fraction(1)), target, equal(count), DELTA)
    planned, ladder = Laplace.plan(level, Fraction(1), Fraction(0))
    rung = rung_for(planned, ladder, target, equal(count), DELTA)
    lost = guarantee_at(planned, ladder.value(rung), equal(count), DELTA).epsilon
    assert epsilon * (1 - 1e-5) <= lost <= epsilon


@pytest.mark.parametrize("count", [1, 2, 8])
def test_short_vectors_and_a_delta_of_0_have_the_pure_loss(count: int) -> None:
    for moved, delta in ((equal(count), DELTA), (equal(100), 0.0)):
        law, target = Laplace(Fraction(1)), Target(TargetKind.EPSILON, 0.5)
        assert level_for(law, target, moved, delta) == 2 * moved.l1
        printed = guarantee_at(law, 2 * moved.l1, moved, delta)
        assert (printed.definition, printed.delta) == (Definition.PURE, 0.0)
        assert printed == law.guarantee(2 * moved.l1, moved, delta)


@pytest.mark.parametrize("name", sorted(set(MECHANISMS) - {"laplace"}))
def test_other_noise_keeps_its_own_guarantee(name: str) -> None:
    law, level = MECHANISMS[name](Fraction(1, 16)), Fraction(5000)
    assert guarantee_at(law, level, equal(4), DELTA) == law.guarantee(level, equal(4), DELTA)


@given(
    count=st.integers(1, 10_000),
    spread=st.fractions(Fraction(1, 8), 1),
    scale=st.integers(1, 1 << 16),
    delta=st.sampled_from([1e-12, 1e-9, 1e-6, 1e-2]),
)
def test_few_orders_give_what_all_orders_give(
    count: int, spread: Fraction, scale: int, delta: float
) -> None:
    moved = Sensitivity(Fraction(count), max(count * spread, Fraction(1)), Fraction(1))
    law, level = Laplace(Fraction(1, 64)), Fraction(scale, 16)
    every = min(
        converted_epsilon(order, law.cost(level, moved, order).loss, delta) for order in ORDERS
    )
    assert every <= renyi_epsilon(law, level, moved, delta) <= every * (1 + 1e-9)


@given(count=st.integers(2, 2_000), scale=st.integers(1, 1 << 14), step=st.integers(1, 64))
def test_more_noise_never_has_a_larger_guarantee(count: int, scale: int, step: int) -> None:
    law, moved = Laplace(FINE), equal(count)
    noisy, noisier = Fraction(scale, 8), Fraction(scale + step, 8)
    most = guarantee_at(law, noisy, moved, DELTA).epsilon
    assert guarantee_at(law, noisier, moved, DELTA).epsilon <= most
