"""Test generalized Gaussian noise as a mechanism: families, plans, draws, promises, refusals."""

import math
from fractions import Fraction

import numpy as np
import pytest
from scipy.special import gammainc

from penstock.errors import InvalidInput
from penstock.mechanisms import (
    MECHANISMS,
    Gaussian,
    GeneralizedGaussian,
    Laplace,
    MultipleRelease,
    draw_anchor,
    family_of,
)
from penstock.mechanisms.gaussian.curve import epsilon_at
from penstock.mechanisms.generalized_gaussian.law import renyi_divergence
from penstock.privacy import Definition, Sensitivity
from penstock.randomness import Stream
from penstock.randomness.generalized_gaussian import ERROR

FOUR = GeneralizedGaussian.of(4)
COUNTS = Sensitivity(Fraction(64), Fraction(64), Fraction(1))
STEP = Fraction(1, 64)


@pytest.fixture
def stream() -> Stream:
    return Stream.from_key(bytes(range(32)))


def test_a_family_is_one_class_for_each_power() -> None:
    assert family_of("generalized_gaussian", Fraction(4)) is FOUR
    assert FOUR.power == 4
    assert FOUR.name == "generalized_gaussian"
    assert FOUR(STEP) == FOUR(STEP)
    assert FOUR(STEP) != GeneralizedGaussian.of(3)(STEP)


def test_a_family_in_use_stays_one_class_whatever_others_are_asked_for() -> None:
    """A cache of the families asked for last would make a second class, unequal to the first."""
    for power in range(200):
        GeneralizedGaussian.of(Fraction(3) + Fraction(power + 1, 1000))
    assert GeneralizedGaussian.of(4) is FOUR
    assert GeneralizedGaussian.of(4)(STEP) == FOUR(STEP)


def test_powers_1_and_2_are_the_processes_that_have_tiers() -> None:
    assert family_of("generalized_gaussian", Fraction(1)) is Laplace
    assert family_of("generalized_gaussian", Fraction(2)) is Gaussian
    assert [family_of(name) for name in MECHANISMS] == list(MECHANISMS.values())


@pytest.mark.parametrize(
    ("name", "power", "message"),
    [
        ("generalized_gaussian", None, "needs its power p"),
        ("generalized_gaussian", Fraction("0.5"), "from 1 to 16, not 0.5"),
        ("generalized_gaussian", Fraction(17), "from 1 to 16, not 17"),
        ("gaussian", Fraction(2), "gaussian mechanism has no power p"),
        ("cauchy", None, "'cauchy'; there are gaussian"),
    ],
)
def test_a_power_that_cannot_be_is_refused_with_the_number(
    name: str, power: Fraction | None, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        family_of(name, power)


@pytest.mark.parametrize("power", [math.nan, math.inf])
def test_a_power_that_is_no_number_is_refused(power: float) -> None:
    with pytest.raises(InvalidInput, match=f"finite number, not {power}"):
        GeneralizedGaussian.of(power)


@pytest.mark.parametrize("power", ["1.5", "4", "16"])
def test_a_plan_has_room_to_raise_and_for_every_draw(power: str) -> None:
    family, bound = GeneralizedGaussian.of(Fraction(power)), Fraction(10**6)
    mechanism, ladder = family.plan(Fraction(73), step=Fraction(1), bound=bound)
    assert type(mechanism) is family
    finest, last = ladder.value(0), ladder.value(ladder.last)
    assert Fraction(73, 8) * (1 - Fraction(1, 2**20)) <= finest <= Fraction(73, 8)
    assert 2**10 <= finest / mechanism.granularity < 2**12
    assert last / mechanism.granularity <= 2**46
    # 140 scales is as far as a draw ever is.
    assert bound / mechanism.granularity + 140 * (last / mechanism.granularity) < 2**60


@pytest.mark.parametrize(
    ("ceiling", "step", "bound", "message"),
    [
        (Fraction(0), Fraction(1), 1, "A scale is above 0"),
        (Fraction(10), Fraction(1), -1, "a bound at least 0"),
        (Fraction(10), Fraction(1, 3), 1, "lattice of powers of two"),
        (Fraction(1, 1000), Fraction(1), 1 << 50, "do not fit"),
        (Fraction(1 << 47), Fraction(1), 0, "do not fit"),
    ],
)
def test_a_plan_that_does_not_fit_is_refused(
    ceiling: Fraction, step: Fraction, bound: int, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        FOUR.plan(ceiling, step, Fraction(bound))


def test_a_release_is_the_exact_vector_and_a_draw(stream: Stream) -> None:
    mechanism, ladder = FOUR.plan(Fraction(73), Fraction(1), Fraction(1000))
    exact = np.arange(5_000) * int(1 / mechanism.granularity)
    drawn = draw_anchor(mechanism, exact, Fraction(73), stream)
    errors = (drawn - exact) * float(mechanism.granularity)
    bars = mechanism.error(Fraction(73), 0.95)
    assert np.std(errors) == pytest.approx(bars.standard_deviation, rel=0.05)
    assert np.mean(np.abs(errors) <= bars.half_width) == pytest.approx(0.95, abs=0.02)
    assert mechanism.bias(ladder.value(0)) == 0


def test_there_is_no_way_from_one_release_to_another(stream: Stream) -> None:
    mechanism, ladder = FOUR.plan(Fraction(73), Fraction(1), Fraction(1000))
    zero = np.zeros(3, dtype=np.int64)
    with pytest.raises(InvalidInput, match="power 4 has no lossless levels"):
        mechanism.increment(Fraction(73), Fraction(80), 3, stream)
    with pytest.raises(InvalidInput, match="power 4 has no lossless levels"):
        mechanism.bridge(Fraction(73), Fraction(90), zero, Fraction(80), stream)
    released = MultipleRelease(mechanism, ladder, [1, 2, 3], 73)
    assert np.array_equal(released.at(73), released.at(73))
    with pytest.raises(InvalidInput, match="take power 2"):
        released.at(100)
    with pytest.raises(InvalidInput, match="no lossless levels"):
        released.raise_ceiling([1, 2, 3], 60)


@pytest.mark.slow
@pytest.mark.parametrize("power", ["1", "1.5", "4", "16"])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
@pytest.mark.parametrize("level", [Fraction(2), Fraction(101, 2)])
def test_error_bars_are_those_of_the_rounded_law(
    power: str, confidence: float, level: Fraction
) -> None:
    mechanism = GeneralizedGaussian.of(Fraction(power))(Fraction(1, 32))
    scale, step, p = float(level), 1 / 32, float(Fraction(power))
    ends = (np.arange(0, 2_000_000) + 0.5) * step / scale
    within = gammainc(1 / p, ends**p)
    bars = mechanism.error(level, confidence)
    reach = round(bars.half_width / step)
    assert within[reach] >= confidence > within[reach - 1]
    masses = np.diff(within, prepend=0.0)
    variance = float(masses @ (np.arange(len(masses)) * step) ** 2)
    assert bars.standard_deviation == pytest.approx(math.sqrt(variance), rel=1e-6)


def test_the_guarantee_is_read_at_delta_and_that_of_power_2_is_the_normal_curves() -> None:
    promise = FOUR(STEP).guarantee(Fraction("73.0979"), COUNTS, 1e-6)
    assert promise.definition is Definition.APPROXIMATE
    assert (promise.rho, promise.mu, promise.delta) == (None, None, 1e-6)
    assert promise.epsilon == pytest.approx(1, rel=1e-5)
    normal = GeneralizedGaussian(STEP).guarantee(Fraction(40), COUNTS, 1e-6).epsilon
    exact = epsilon_at(1e-6, math.sqrt(2 * 64) / 40)
    assert exact <= normal <= exact * (1 + 2e-5)


def test_the_cost_adds_the_divergences_of_the_worst_shift_and_has_no_failure() -> None:
    uneven = Sensitivity(Fraction("64.5"), Fraction("64.25"), Fraction(1))
    cost = FOUR(STEP).cost(Fraction(50), uneven, 22.0)
    each, rest = (renyi_divergence(22.0, 4.0, shift) for shift in (1 / 50, 0.5 / 50))
    assert 64 * each + rest <= cost.loss <= (64 * each + rest) * (1 + 1e-12)
    assert cost.failure == 0.0
    assert FOUR(STEP).cost(Fraction(50), uneven, math.inf).loss == math.inf


def test_the_samplers_distance_is_charged_for_the_draws_of_one_release() -> None:
    mechanism, ladder = FOUR.plan(Fraction(73), Fraction(1), Fraction(1000))
    (way,) = mechanism.numerical_charges(ladder, 4096, 30, 22.0, 1.0)
    assert way.factor == 1.0
    assert way.failure == pytest.approx((1 + math.e) * 4096 * ERROR, abs=0)
    (far,) = mechanism.numerical_charges(ladder, 4096, 30, 1.01, 1e6)
    assert far.failure == math.inf


@pytest.mark.parametrize("delta", [0.0, 1.0, math.nan])
def test_a_promise_needs_a_delta(delta: float) -> None:
    with pytest.raises(InvalidInput, match=f"between 0 and 1, not {delta}"):
        FOUR(STEP).guarantee(Fraction(50), COUNTS, delta)


def test_a_confidence_and_a_granularity_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidInput, match="confidence is between 0 and 1, not 1"):
        FOUR(STEP).error(Fraction(50), 1.0)
    with pytest.raises(InvalidInput, match="power of two, not 3/4"):
        FOUR(Fraction(3, 4))


@pytest.mark.parametrize(
    ("l1", "l2_squared", "linf", "message"),
    [(1, 4, 1, "l2 .* above l1"), (4, 4, 3, "linf .* above l2"), (4, 4, 0, "above 0")],
)
def test_sensitivities_that_contradict_each_other_are_refused(
    l1: int, l2_squared: int, linf: int, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        FOUR(STEP).guarantee(
            Fraction(50), Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(linf)), 1e-6
        )
