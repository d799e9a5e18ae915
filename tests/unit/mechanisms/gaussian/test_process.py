import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mpmath import mp, mpf

from penstock.errors import InvalidInput
from penstock.mechanisms import Gaussian, Mechanism
from penstock.mechanisms.lattice import LARGEST_STEPS
from penstock.privacy import Definition, Ladder, Sensitivity
from penstock.randomness import Stream
from penstock.randomness.normal import LARGEST_VARIANCE, SMALLEST_VARIANCE

KEY = bytes(range(32))
UNIT = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
STEPS = Gaussian(Fraction(1))

ceilings = st.fractions(min_value=Fraction(1, 10**6), max_value=10**9)
steps = st.builds(
    lambda odd, power: odd * Fraction(2) ** power, st.integers(1, 100), st.integers(-10, 10)
)


def _bridge_variance(low: Fraction, level: Fraction, high: Fraction) -> Fraction:
    return (level - low) * (high - level) / (high - low)


@given(ceilings, steps, st.integers(min_value=0, max_value=10**6))
def test_a_plan_keeps_every_draw_within_the_range_of_exact_laws(
    ceiling: Fraction, step: Fraction, bound: int
) -> None:
    mechanism, ladder = Gaussian.plan(ceiling, step, Fraction(bound))
    squared_step = mechanism.granularity**2
    for rung in (0, 1, 1000, ladder.last - 2):
        low, level, high = (ladder.value(rung + i) / squared_step for i in range(3))
        for narrow in (_bridge_variance(low, level, high), level - low):
            assert narrow >= SMALLEST_VARIANCE
        assert _bridge_variance(Fraction(0), low, level) >= SMALLEST_VARIANCE
    assert ladder.value(ladder.last) / squared_step <= LARGEST_VARIANCE


@given(ceilings, steps, st.integers(min_value=0, max_value=10**6))
def test_a_plan_divides_the_step_and_leaves_40_deviations_of_room(
    ceiling: Fraction, step: Fraction, bound: int
) -> None:
    mechanism, ladder = Gaussian.plan(ceiling, step, Fraction(bound))
    assert (step / mechanism.granularity).denominator == 1
    assert mechanism.granularity**2 * 4**14 <= ladder.value(1)
    deviation = math.sqrt(ladder.value(ladder.last))
    assert bound + 40 * deviation <= LARGEST_STEPS * mechanism.granularity * (1 + 1e-9)
    assert ladder.value(ladder.last) >= ceiling
    assert ceiling / 64 * Fraction(1023, 1024) <= ladder.value(0) <= ceiling / 64


def test_chained_draws_cannot_leave_64_bits() -> None:
    # numpy's normals end at 3.65 + 53 ln 2 / 3.65 < 14
    assert 3.6542 + 53 * math.log(2) / 3.6541 < 14
    deviation = LARGEST_STEPS / 40
    assert LARGEST_STEPS + 4096 * 14 * deviation < 2**63


@pytest.mark.parametrize(
    ("ceiling", "step", "bound", "message"),
    [
        ("0", "1", "1", "variance is above 0"),
        ("-1", "1", "1", "variance is above 0"),
        ("1", "1", "-1", "bound at least 0"),
        ("1", "1/3", "1", "no lattice of powers of two"),
        ("1", "1", str(2**60), "coarser step or a smaller bound"),
        (str(10**40), "1/1024", "1", "coarser step or a smaller bound"),
    ],
)
def test_plans_that_cannot_hold_are_refused(
    ceiling: str, step: str, bound: str, message: str
) -> None:
    with pytest.raises(InvalidInput, match=message):
        Gaussian.plan(Fraction(ceiling), Fraction(step), Fraction(bound))


def test_increments_have_the_variance_of_the_gap() -> None:
    drawn = STEPS.increment(Fraction(1 << 20), Fraction(5 << 20), 300_000, Stream.from_key(KEY))
    assert drawn.var() == pytest.approx(4 << 20, rel=0.02)


def test_bridges_have_the_mean_and_variance_of_the_conditional_law() -> None:
    low, level, high = (Fraction(n << 20) for n in (1, 2, 5))
    difference = np.full(300_000, 40_000, dtype=np.int64)
    drawn = STEPS.bridge(low, high, difference, level, Stream.from_key(KEY))
    assert drawn.mean() == pytest.approx(10_000, abs=10)
    assert drawn.var() == pytest.approx(float(_bridge_variance(low, level, high)), rel=0.02)


@pytest.mark.parametrize("levels", [(2, 3, 1), (1, 3, 3), (1, 3, 1), (3, 1, 2), (-1, 3, 2)])
def test_levels_out_of_order_are_refused(levels: tuple[int, int, int]) -> None:
    low, high, level = (Fraction(n << 30) for n in levels)
    with pytest.raises(InvalidInput, match="must increase"):
        STEPS.bridge(low, high, np.zeros(1, dtype=np.int64), level, Stream.from_key(KEY))


def test_levels_too_close_for_the_lattice_are_refused() -> None:
    with pytest.raises(InvalidInput, match="levels further apart"):
        STEPS.increment(Fraction(1 << 20), Fraction((1 << 20) + 1), 1, Stream.from_key(KEY))


@given(st.fractions(min_value=Fraction(1, 1000), max_value=1000))
def test_the_guarantee_is_that_of_the_analytic_curve(level: Fraction) -> None:
    guarantee = Gaussian(Fraction(1, 1 << 20)).guarantee(level, UNIT, 1e-6)
    assert guarantee.definition is Definition.ZCDP
    assert guarantee.rho is not None
    assert guarantee.mu is not None
    assert Fraction(guarantee.rho) >= 1 / (2 * level)
    assert guarantee.rho == pytest.approx(float(1 / (2 * level)))
    assert guarantee.mu == pytest.approx(float(level) ** -0.5)
    with mp.workdps(40):
        e, m = mpf(guarantee.epsilon), 1 / mp.sqrt(mpf(level.numerator) / level.denominator)
        assert mp.ncdf(m / 2 - e / m) - mp.exp(e) * mp.ncdf(-m / 2 - e / m) <= 1e-6


def test_the_guarantee_counts_the_euclidean_norm() -> None:
    wide = Sensitivity(Fraction(7), Fraction(25), Fraction(4))
    guarantee = STEPS.guarantee(Fraction(100), wide, 1e-6)
    assert guarantee.rho == 0.125
    assert guarantee.mu == 0.5


@pytest.mark.parametrize("delta", [0.0, 1.0])
def test_no_epsilon_is_promised_without_a_delta(delta: float) -> None:
    with pytest.raises(InvalidInput):
        STEPS.guarantee(Fraction(1), UNIT, delta)


def test_the_cost_is_order_times_rho_rounded_up() -> None:
    cost = STEPS.cost(Fraction(3), UNIT, 11.0)
    assert Fraction(cost.loss) >= Fraction(11, 6)
    assert cost.loss == pytest.approx(11 / 6, rel=1e-15)
    assert 0 < cost.failure < 1e-20
    assert STEPS.cost(Fraction(3), UNIT, math.inf).loss == math.inf


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999999])
def test_error_bars_hold_their_confidence_on_the_lattice_and_no_step_more(
    confidence: float,
) -> None:
    variance = Fraction(90_000)
    bars = STEPS.error(variance, confidence)
    assert bars.standard_deviation == 300
    values = np.arange(-3000, 3001)
    masses = np.exp(-(values**2) / 180_000)
    masses /= masses.sum()
    half_width = int(bars.half_width)
    assert masses[np.abs(values) <= half_width].sum() >= confidence - 1e-9
    assert masses[np.abs(values) < half_width].sum() < confidence


def test_error_bars_are_in_units_of_values() -> None:
    bars = Gaussian(Fraction(1, 64)).error(Fraction(4), 0.95)
    assert bars.standard_deviation == 2
    assert bars.half_width == pytest.approx(3.92, abs=1 / 64)
    assert (bars.half_width * 64).is_integer()


def test_it_has_no_bias_and_follows_the_protocol() -> None:
    mechanism: Mechanism = STEPS
    assert mechanism.bias(Fraction(5)) == 0
    assert (mechanism.name, mechanism.parameter) == ("gaussian", "variance")


def test_granularities_that_are_no_power_of_two_are_refused() -> None:
    with pytest.raises(InvalidInput, match="power of two"):
        Gaussian(Fraction(3))


def test_the_ladder_is_in_squared_steps() -> None:
    mechanism, ladder = Gaussian.plan(Fraction(100), Fraction(1), Fraction(1000))
    assert isinstance(ladder, Ladder)
    assert ladder.unit == mechanism.granularity**2
