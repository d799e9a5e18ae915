"""Test the Laplace process on its lattice: plans, draws, charges."""

import math
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import InvalidInput
from penstock.mechanisms import IntVector, Laplace, MultipleRelease, draw_anchor, place
from penstock.mechanisms.laplace.process import LARGEST_SCALE, _bridge_rule, _step_rule
from penstock.mechanisms.multiple_release import FARTHEST
from penstock.privacy import Definition, Sensitivity
from penstock.randomness import Stream
from penstock.randomness.geometric import ERROR as GEOMETRIC_ERROR

ONE = Sensitivity(l1=Fraction(1), l2_squared=Fraction(1), linf=Fraction(1))
LEVELS = tuple(Fraction(n, 2) for n in (3, 4, 9, 20))


def _stream(label: str) -> Stream:
    return Stream.from_key(sha256(label.encode()).digest())


def test_a_plan_gives_the_finest_scale_a_thousand_steps() -> None:
    mechanism, ladder = Laplace.plan(Fraction(100), step=Fraction(1), bound=Fraction(10**6))
    assert mechanism.granularity == Fraction(1, 128)
    assert ladder.value(0) == Fraction(100, 8)
    assert 1 << 10 <= ladder.value(0) / mechanism.granularity < 1 << 11
    assert ladder.unit == mechanism.granularity / (1 << 20)


def test_a_plan_keeps_the_step_of_the_values() -> None:
    mechanism, _ = Laplace.plan(Fraction(10**6), step=Fraction(12), bound=Fraction(10**6))
    assert mechanism.granularity == 4
    mechanism, _ = Laplace.plan(Fraction(1), step=Fraction(1, 1 << 20), bound=Fraction(1))
    assert mechanism.granularity == Fraction(1, 1 << 20)


@given(
    ceiling=st.fractions(min_value=Fraction(1, 1000), max_value=10**9),
    exponent=st.integers(-20, 10),
    bound=st.integers(0, 10**6),
)
def test_a_planned_range_holds_values_and_forty_deviations(
    ceiling: Fraction, exponent: int, bound: int
) -> None:
    try:
        mechanism, ladder = Laplace.plan(ceiling, Fraction(2) ** exponent, Fraction(bound))
    except InvalidInput:
        return
    last = ladder.value(ladder.last)
    deviation = mechanism.error(last, 0.95).standard_deviation
    assert bound + 40 * deviation <= 2**52 * mechanism.granularity
    assert last <= LARGEST_SCALE * mechanism.granularity
    assert ladder.value(ladder.rung_at_or_above(ceiling)) >= ceiling
    assert ladder.value(0) * 8 <= ceiling


@pytest.mark.parametrize(
    ("ceiling", "step", "bound"),
    [(0, 1, 1), (-1, 1, 1), (1, 1, -1), (1, Fraction(1, 3), 1), (1, 1, 1 << 60), (1 << 60, 1, 0)],
)
def test_plans_that_cannot_be_are_refused(ceiling: int, step: Fraction, bound: int) -> None:
    if ceiling == 1 << 60:
        step = Fraction(1, 1 << 10)
    with pytest.raises(InvalidInput):
        Laplace.plan(Fraction(ceiling), Fraction(step), Fraction(bound))


@pytest.mark.parametrize("granularity", [Fraction(0), Fraction(-1), Fraction(1, 3), Fraction(3)])
def test_a_granularity_is_a_power_of_two(granularity: Fraction) -> None:
    with pytest.raises(InvalidInput):
        Laplace(granularity)


def test_increments_stay_put_as_often_as_the_law_says() -> None:
    mechanism = Laplace(Fraction(1, 1 << 10))
    drawn = mechanism.increment(Fraction(1), Fraction(2), 200_000, _stream("stay"))
    assert (drawn == 0).mean() == pytest.approx(0.25, abs=6 * 0.44 / 200_000**0.5 + 1e-3)


def test_bridged_releases_tie_with_their_neighbors_bit_for_bit() -> None:
    mechanism, stream = Laplace(Fraction(1, 1 << 10)), _stream("ties")
    a, t, b = Fraction(1), Fraction(2), Fraction(4)
    difference = mechanism.increment(a, b, 200_000, stream)
    bridged = mechanism.bridge(a, b, difference, t, stream)
    moved = difference != 0
    assert (bridged[~moved] == 0).mean() > 0.99
    # w1 (1-w2) and (1-w1) w2 over 1-w, for w1 = w2 = 1/4 and w = 1/16
    assert (bridged[moved] == 0).mean() == pytest.approx(0.2, abs=0.006)
    assert (bridged[moved] == difference[moved]).mean() == pytest.approx(0.2, abs=0.006)


def test_a_difference_of_zero_can_come_apart_on_coarse_lattices() -> None:
    mechanism, stream = Laplace(Fraction(1)), _stream("apart")
    nothing = np.zeros(100_000, dtype=np.int64)
    for accurate in (Fraction(0), Fraction(1)):
        bridged = mechanism.bridge(accurate, Fraction(4), nothing, Fraction(2), stream)
        assert 0.01 < (bridged != 0).mean() < 0.7
        assert abs(bridged.mean()) < 6 * bridged.std() / len(bridged) ** 0.5


@pytest.mark.parametrize("size", [0, 1, 32_768, 40_000])
def test_draws_have_the_shape_and_type_asked_for(size: int) -> None:
    mechanism, stream = Laplace(Fraction(1)), _stream("shape")
    drawn = mechanism.increment(Fraction(2), Fraction(5), size, stream)
    bridged = mechanism.bridge(Fraction(2), Fraction(5), drawn, Fraction(3), stream)
    for values in (drawn, bridged):
        assert values.shape == (size,)
        assert values.dtype == np.int64


def test_a_bridge_leaves_the_difference_as_it_was() -> None:
    mechanism, stream = Laplace(Fraction(1)), _stream("unchanged")
    difference = mechanism.increment(Fraction(2), Fraction(5), 1_000, stream)
    before = difference.copy()
    mechanism.bridge(Fraction(2), Fraction(5), difference, Fraction(3), stream)
    assert (difference == before).all()


def test_four_thousand_chained_draws_cannot_leave_the_integers() -> None:
    scale = Fraction(LARGEST_SCALE)
    rates = [1 / (scale * part) for part in (Fraction(1, 3), Fraction(1, 2), Fraction(1))]
    likely = max(
        1 << len(_step_rule(None, rates[2]).far.digits),
        1 << len(_bridge_rule(rates[0], rates[1], rates[2]).outer.digits),
    )
    assert 4_096 * (likely + 1) + 2 * 2**52 < 2**63


class _Far(Laplace):
    """Draw noise that comes out as large as a draw can be."""

    def increment(
        self,
        accurate: Fraction,  # noqa: ARG002 - it does not depend on levels
        noisy: Fraction,  # noqa: ARG002 - nor on this one
        size: int,
        stream: Stream,  # noqa: ARG002 - nothing is drawn
    ) -> IntVector:
        return np.resize(np.array([2**61 + 1, -(2**61) - 1]), size)


def test_what_leaves_the_range_ends_at_the_same_place_whatever_the_exact_value() -> None:
    far, stream = _Far(Fraction(1)), _stream("ends")
    exact = np.array([2**52, 2**52, -(2**52), -(2**52)])
    ends = [FARTHEST, -FARTHEST] * 2
    anchor = draw_anchor(far, exact, Fraction(1), stream)
    assert anchor.tolist() == ends
    noisier = place(far, (Fraction(1), anchor), None, Fraction(2), stream)
    assert noisier.tolist() == ends
    lost = np.array([2**61 + 1]) + np.array([2**52, -(2**52)])
    assert len(set(lost.tolist())) == 2


def test_levels_next_to_each_other_at_the_end_of_the_ladder_can_be_bridged() -> None:
    mechanism, stream = Laplace(Fraction(1)), _stream("far")
    low = LARGEST_SCALE - Fraction(3, 1 << 20)
    levels = [low + Fraction(k, 1 << 20) for k in range(4)]
    wide = np.array([0, 1, -1, 1 << 53, -(1 << 53)] * 100, dtype=np.int64)
    bridged = mechanism.bridge(levels[0], levels[3], wide, levels[1], stream)
    assert (np.abs(bridged) <= np.abs(wide) + (1 << 50)).all()


@pytest.mark.parametrize("levels", [(2, 1, 3), (1, 1, 2), (1, 2, 2), (-1, 1, 2)])
def test_levels_out_of_order_are_refused(levels: tuple[int, int, int]) -> None:
    accurate, level, noisy = map(Fraction, levels)
    with pytest.raises(InvalidInput, match="must increase"):
        Laplace(Fraction(1)).bridge(
            accurate, noisy, np.zeros(1, dtype=np.int64), level, _stream("order")
        )


def test_scales_beyond_the_integers_are_refused() -> None:
    with pytest.raises(InvalidInput, match=r"2\^41 steps"):
        Laplace(Fraction(1)).increment(
            Fraction(0), Fraction(LARGEST_SCALE + 1), 1, _stream("beyond")
        )


def test_the_promise_is_pure_and_the_same_at_every_delta() -> None:
    one = Sensitivity(l1=Fraction(3), l2_squared=Fraction(9), linf=Fraction(3))
    vector = Sensitivity(l1=Fraction(3), l2_squared=Fraction(3), linf=Fraction(1))
    for sensitivity in (one, vector):
        for delta in (0.0, 1e-6):
            found = Laplace(Fraction(1)).guarantee(Fraction(6), sensitivity, delta)
            assert (found.definition, found.epsilon, found.delta) == (Definition.PURE, 0.5, 0.0)


def test_the_cost_is_that_of_the_lattice_and_not_of_continuous_noise() -> None:
    coarse = Laplace(Fraction(1)).cost(Fraction(1), ONE, 4.0)
    fine = Laplace(Fraction(1, 1 << 20)).cost(Fraction(1), ONE, 4.0)
    assert coarse.loss == pytest.approx(0.895883, abs=1e-6)
    assert coarse.loss > 1.05 * fine.loss
    assert coarse.failure == fine.failure == 0.0


def test_the_cost_of_a_vector_is_that_of_its_most_concentrated_shift() -> None:
    mechanism, order = Laplace(Fraction(1)), 5.0

    def cost(l1: int, linf: int) -> float:
        sensitivity = Sensitivity(Fraction(l1), Fraction(l1 * linf), Fraction(linf))
        return mechanism.cost(Fraction(8), sensitivity, order).loss

    assert cost(7, 3) == pytest.approx(2 * cost(3, 3) + cost(1, 1), rel=1e-9)
    assert cost(7, 7) > cost(7, 3) > cost(7, 1)
    assert cost(7, 1) == pytest.approx(7 * cost(1, 1), rel=1e-9)
    spread = [(3, 3, 1), (3, 2, 2), (3, 2, 1, 1), (2, 2, 2, 1)]
    assert all(sum(cost(s, s) for s in shape) <= cost(7, 3) * (1 + 1e-9) for shape in spread)


def test_costs_never_exceed_the_pure_bound() -> None:
    for order in (1.5, 57.0, math.inf):
        loss = Laplace(Fraction(1)).cost(Fraction(1, 4), ONE, order).loss
        assert loss <= 4.0
    assert Laplace(Fraction(1)).cost(Fraction(1, 4), ONE, math.inf).loss == 4.0


def test_the_samplers_error_is_charged_by_probability_alone() -> None:
    mechanism, ladder = Laplace.plan(Fraction(1), Fraction(1), Fraction(1))
    (charge,) = mechanism.numerical_charges(ladder, 10**7, 1_024, 11.0, 12.0)
    assert charge.factor == 1.0
    # far below what 80 bits would ask for, J = 62 digits at most:
    # (1 + e^E) (2 d k J 2^-80 + d k 2^-80)
    stated = (1 + math.exp(12)) * 10**7 * 1_024 * (2 * 62 + 1) * 2.0**-80
    assert 0 < charge.failure < stated * 1e-20
    (hopeless,) = mechanism.numerical_charges(ladder, 1, 1, 11.0, 1e4)
    assert hopeless.failure == math.inf


def test_every_value_at_every_level_is_charged_its_draw() -> None:
    mechanism, ladder = Laplace.plan(Fraction(1), Fraction(1), Fraction(1))
    (one,) = mechanism.numerical_charges(ladder, 1, 1, 11.0, 1.0)
    (all_,) = mechanism.numerical_charges(ladder, 10, 8, 11.0, 1.0)
    # Two geometric numbers and up to four events, each within half a unit of 192 bits.
    stated = (1 + math.e) * (2 * GEOMETRIC_ERROR + 4 * 2.0**-193)
    assert one.failure == pytest.approx(stated, rel=1e-9, abs=0)
    assert all_.failure == pytest.approx(80 * stated, rel=1e-9, abs=0)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(5), Fraction(1000)])
def test_error_bars_are_those_of_the_lattice_law(scale: Fraction) -> None:
    mechanism = Laplace(Fraction(1, 2))
    p = math.exp(-0.5 / float(scale))
    values = np.arange(-200_000, 200_001)
    masses = (1 - p) / (1 + p) * p ** np.abs(values)
    bars = mechanism.error(scale, 0.9)
    deviation = 0.5 * math.sqrt(float((masses * values.astype(float) ** 2).sum()))
    assert bars.standard_deviation == pytest.approx(deviation, rel=1e-9)
    within = np.abs(values) * 0.5 <= bars.half_width
    assert masses[within].sum() >= 0.9 - 1e-12
    assert masses[np.abs(values) * 0.5 < bars.half_width].sum() < 0.9
    for confidence in (0.0, 1.0):
        with pytest.raises(InvalidInput):
            mechanism.error(scale, confidence)


def test_a_vector_is_released_at_any_levels_in_any_order() -> None:
    mechanism, ladder = Laplace.plan(Fraction(10), step=Fraction(1), bound=Fraction(100))
    released = MultipleRelease(mechanism, ladder, [1, 2, 3] * 1_000, ceiling=10)
    public, partner, research = released.at(80), released.at(20), released.at(40)
    assert (released.at(80) == public).all()
    assert ((research == partner) | (research == public)).mean() > 0.2
    released.raise_ceiling([1, 2, 3] * 1_000, 5)
    assert released.at(5).std() < partner.std()
