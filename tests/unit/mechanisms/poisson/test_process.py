"""Test the Poisson process: plans, draws, promises, charges."""

import math
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from penstock.errors import InvalidInput
from penstock.mechanisms import MultipleRelease, Poisson
from penstock.mechanisms.poisson.divergence import renyi_divergence
from penstock.mechanisms.poisson.tails import beyond_neighbor
from penstock.privacy import Definition, Sensitivity
from penstock.randomness import Stream

COUNTS = Poisson(Fraction(1))


def _sensitivity(l1: int, l2_squared: int, linf: int) -> Sensitivity:
    return Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(linf))


ONE = _sensitivity(1, 1, 1)


def _stream(label: str) -> Stream:
    return Stream.from_key(sha256(label.encode()).digest())


def test_a_plan_stays_on_the_lattice_of_the_values() -> None:
    mechanism, ladder = Poisson.plan(Fraction(1000), step=Fraction(1), bound=Fraction(10**6))
    assert mechanism == COUNTS
    assert ladder.unit == Fraction(1, 1 << 20)
    assert ladder.value(0) == Fraction(1000, 64)
    assert Poisson.plan(Fraction(9), Fraction(12), Fraction(0))[0].granularity == 4


def test_rung_zero_is_never_below_a_mean_of_one() -> None:
    for ceiling in (1, 5, 63):
        _, ladder = Poisson.plan(Fraction(ceiling), Fraction(1), Fraction(1))
        assert ladder.value(0) == 1


@given(
    ceiling=st.fractions(min_value=1, max_value=1 << 52),
    bound=st.integers(0, 1 << 52),
    exponent=st.integers(-4, 4),
)
def test_a_planned_range_holds_values_and_forty_deviations(
    ceiling: Fraction, bound: int, exponent: int
) -> None:
    try:
        mechanism, ladder = Poisson.plan(ceiling, Fraction(2) ** exponent, Fraction(bound))
    except InvalidInput:
        return
    last = ladder.value(ladder.last)
    room = 2**52 - math.ceil(bound / mechanism.granularity) - last
    assert room >= 0
    assert room * room >= 1600 * last
    assert ladder.value(0) <= ceiling <= last


@pytest.mark.parametrize(
    ("ceiling", "step", "bound"),
    [
        (Fraction(0), Fraction(1), 1),
        (Fraction(1, 2), Fraction(1), 1),
        (Fraction(10), Fraction(1, 3), 1),
        (Fraction(10), Fraction(1), -1),
        (Fraction(10), Fraction(1), 1 << 52),
        (Fraction(1 << 52), Fraction(1), 0),
    ],
)
def test_plans_that_cannot_be_are_refused(ceiling: Fraction, step: Fraction, bound: int) -> None:
    with pytest.raises(InvalidInput):
        Poisson.plan(ceiling, step, Fraction(bound))


def test_noise_goes_up_and_its_mean_is_the_bias() -> None:
    mechanism = Poisson(Fraction(1, 4))
    drawn = mechanism.increment(Fraction(10), Fraction(50), 50_000, _stream("up"))
    assert drawn.min() >= 0
    assert drawn.mean() == pytest.approx(40, abs=6 * 40**0.5 / 50_000**0.5)
    assert mechanism.bias(Fraction(50)) == Fraction(50, 4)


def test_bridges_stay_between_their_ends() -> None:
    stream = _stream("between")
    difference = COUNTS.increment(Fraction(10), Fraction(50), 50_000, stream)
    bridged = COUNTS.bridge(Fraction(10), Fraction(50), difference, Fraction(20), stream)
    assert ((bridged >= 0) & (bridged <= difference)).all()
    assert bridged.mean() == pytest.approx(10, abs=6 * 10**0.5 / 50_000**0.5)


@pytest.mark.parametrize("levels", [(2, 1, 3), (1, 1, 2), (1, 2, 2), (-1, 1, 2)])
def test_levels_out_of_order_are_refused(levels: tuple[int, int, int]) -> None:
    accurate, level, noisy = map(Fraction, levels)
    with pytest.raises(InvalidInput, match="must increase"):
        COUNTS.bridge(accurate, noisy, np.zeros(1, dtype=np.int64), level, _stream("order"))


def test_noise_that_went_down_is_refused() -> None:
    with pytest.raises(InvalidInput, match="trials"):
        COUNTS.bridge(Fraction(1), Fraction(3), np.array([-1]), Fraction(2), _stream("down"))


def test_the_promise_is_the_exact_epsilon_at_delta() -> None:
    promise = COUNTS.guarantee(Fraction(1000), ONE, 1e-6)
    assert promise.definition is Definition.APPROXIMATE
    assert promise.delta == 1e-6
    assert promise.epsilon == pytest.approx(0.1210, abs=5e-5)


def test_the_promise_is_that_of_the_worst_vector_in_lattice_steps() -> None:
    level = Fraction(1000)
    wide = COUNTS.guarantee(level, _sensitivity(4, 16, 4), 1e-6).epsilon
    assert wide == pytest.approx(0.535, abs=5e-4)
    assert COUNTS.guarantee(level, _sensitivity(4, 4, 1), 1e-6).epsilon == pytest.approx(
        0.249, abs=5e-4
    )
    quarters = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
    assert Poisson(Fraction(1, 4)).guarantee(level, quarters, 1e-6).epsilon == wide


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0])
def test_deltas_at_which_nothing_is_promised_are_refused(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta"):
        COUNTS.guarantee(Fraction(1000), ONE, delta)


def test_a_sensitivity_below_one_step_is_refused() -> None:
    coarse = Poisson(Fraction(2))
    for ask in (coarse.guarantee, coarse.cost):
        with pytest.raises(InvalidInput, match="below one step"):
            ask(Fraction(1000), ONE, 0.5 if ask == coarse.guarantee else 11.0)


def test_the_cost_is_the_conditional_divergence_and_the_chance_of_its_failing() -> None:
    cost = COUNTS.cost(Fraction(1000), ONE, 11.0)
    assert cost.loss == pytest.approx(0.005542, abs=5e-7)
    assert 0 < cost.failure < 1e-18
    low = COUNTS.cost(Fraction(20), _sensitivity(5, 9, 2), 2.0)
    chance = [math.exp(-20) * total for total in (1, 1 + 20)]
    assert low.failure == pytest.approx(2 * chance[1] + chance[0], rel=1e-8, abs=0)
    assert COUNTS.cost(Fraction(1000), ONE, math.inf).loss == math.inf


def test_the_cost_adds_up_over_the_most_concentrated_shift() -> None:
    level, order = Fraction(2000), 7.0
    cost = COUNTS.cost(level, _sensitivity(7, 21, 3), order).loss
    parts = [renyi_divergence(2000, shift, order) for shift in (3, 3, 1)]
    assert cost == pytest.approx(sum(parts), rel=1e-9)
    narrow = COUNTS.cost(level, _sensitivity(7, 10, 3), order).loss
    assert parts[0] + parts[2] <= narrow * (1 + 1e-9) < cost


def test_costs_at_the_noisiest_levels_are_next_to_nothing() -> None:
    wide = _sensitivity(12, 48, 4)
    for order in (1.5, 9.0, 40.0):
        assert COUNTS.cost(Fraction(1 << 51), wide, order).loss < 1e-12


def test_the_samplers_error_is_charged_in_two_ways() -> None:
    mechanism, ladder = Poisson.plan(Fraction(1000), Fraction(1), Fraction(1))
    small, factor = mechanism.numerical_charges(ladder, 256, 32, 11.0, 1.0)
    assert small.factor == 1.0
    n = 256 * 32
    assert small.failure == pytest.approx(
        (1 + math.e) * (math.sqrt(n) * 2.0**-43 + n * 2.0**-59), rel=1e-12, abs=0
    )
    assert factor.failure == n * 2.0**-59
    assert 1.02 < factor.factor < 1.04
    assert len(mechanism.numerical_charges(ladder, 256, 32, 600.0, 1.0)) == 1
    assert mechanism.numerical_charges(ladder, 1, 1, 11.0, 1e4)[0].failure == math.inf


@pytest.mark.parametrize("order", [1.77, 11.0, 57.0, 300.0])
def test_the_factor_covers_divergences_that_grow_faster_than_the_order(order: float) -> None:
    _, ladder = Poisson.plan(Fraction(1000), Fraction(1), Fraction(1))
    factor = COUNTS.numerical_charges(ladder, 1, 1, order, 1.0)[1].factor
    v = 2.0**10 / order
    raised = order * v / (v - 2)
    jumps = order * math.log(10 * order)
    for mean in (jumps / 2, jumps, 1.2 * jumps, 1.5 * jumps, 10 * jumps, 1e5 * order):
        level = Fraction(round(mean))
        charged = factor * COUNTS.cost(level, ONE, order).loss
        moment = (v - 2) / v * (raised - 1) * renyi_divergence(float(level), 1, raised)
        assert moment / (order - 1) <= charged * (1 + 1e-12)


def test_costs_are_the_divergence_itself_away_from_the_end_of_the_support() -> None:
    for order, mean in ((1.77, 50), (11.0, 100), (57.0, 1_000), (300.0, 10_000)):
        ideal = renyi_divergence(mean, 1, order)
        assert COUNTS.cost(Fraction(mean), ONE, order).loss == ideal


def test_error_bars_are_around_the_mean() -> None:
    bars = Poisson(Fraction(1, 2)).error(Fraction(400), 0.95)
    assert bars.standard_deviation == 10.0
    assert bars.half_width == pytest.approx(1.96 * 10, abs=0.5)
    for confidence in (0.0, 1.0):
        with pytest.raises(InvalidInput):
            COUNTS.error(Fraction(400), confidence)


def test_a_vector_is_released_at_any_levels_in_any_order() -> None:
    mechanism, ladder = Poisson.plan(Fraction(400), step=Fraction(1), bound=Fraction(100))
    released = MultipleRelease(mechanism, ladder, [50] * 10_000, ceiling=400)
    means = [released.at(level).mean() for level in (3_000, 500, 1_000)]
    assert means == pytest.approx([50] * 3, abs=6 * 3_000**0.5 / 100)
    released.raise_ceiling([50] * 10_000, 100)
    assert released.at(100).std() < released.at(500).std() < released.at(3_000).std()


def test_what_falls_where_the_neighbors_sampler_gives_out_is_charged() -> None:
    mean = 10_000
    values = np.arange(2 * mean)
    first = int(values[stats.poisson.cdf(values, mean) > 2.0**-61][0])
    last = int(values[stats.poisson.sf(values - 1, mean) > 2.0**-61][-1])
    for shift in (350, 500):
        failure = COUNTS.cost(Fraction(mean), _sensitivity(shift, shift**2, shift), 1.74).failure
        down = stats.poisson.cdf(first + shift - 1, mean)
        up = stats.poisson.sf(last - shift, mean)
        assert failure == pytest.approx(max(up, down), rel=1e-6, abs=0)
        # The support's own end is nowhere near.
        assert stats.poisson.cdf(shift - 1, mean) < 1e-300
    both = COUNTS.cost(Fraction(mean), _sensitivity(1_000, 500_000, 500), 1.74).failure
    assert both == pytest.approx(2 * failure, rel=1e-6)


def test_noise_by_inversion_gives_out_below_the_shift_alone() -> None:
    assert beyond_neighbor(15.0, 3) == pytest.approx(stats.poisson.cdf(2, 15.0), rel=1e-12)


def test_where_the_support_ends_too_often_no_loss_is_stated() -> None:
    # Two shifts of 5 would cost more than one of 8 and one of 2.
    assert COUNTS.cost(Fraction(117, 10), _sensitivity(10, 64, 8), 2.0).loss == math.inf
