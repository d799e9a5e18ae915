"""Test the Skellam process: plans, draws, what its path keeps, promises, charges."""

import math
from fractions import Fraction
from hashlib import sha256

import numpy as np
import pytest
from scipy import stats

from penstock.errors import InvalidInput
from penstock.mechanisms import MultipleRelease, Skellam, draw_anchor, place, raise_anchor, released
from penstock.mechanisms.shifts import Shifts
from penstock.mechanisms.skellam.curve import epsilon_of_shape
from penstock.mechanisms.skellam.divergence import renyi_divergence
from penstock.mechanisms.skellam.tails import UNCLAIMED, above, beyond_neighbor, half_width
from penstock.privacy import Definition, Sensitivity
from penstock.randomness import Stream
from penstock.randomness.rejection import TAIL_ERROR
from penstock.randomness.saddle_point import log_poisson

COUNTS = Skellam(Fraction(1))


def _sensitivity(l1: int, l2_squared: int, linf: int) -> Sensitivity:
    return Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(linf))


ONE = _sensitivity(1, 1, 1)


def _stream(label: str) -> Stream:
    return Stream.from_key(sha256(label.encode()).digest())


def test_a_plan_stays_on_the_lattice_of_the_values() -> None:
    mechanism, ladder = Skellam.plan(Fraction(1000), step=Fraction(1), bound=Fraction(10**6))
    assert mechanism == COUNTS
    assert ladder.value(0) == Fraction(1000, 64)
    fine, ladder = Skellam.plan(Fraction(1000), step=Fraction(1, 4), bound=Fraction(10**6))
    assert fine.granularity == Fraction(1, 4)
    assert ladder.value(0) == Fraction(1000, 64)
    last = ladder.value(ladder.last)
    assert 10**6 + 40 * math.sqrt(last) <= 2**52 * fine.granularity
    assert Skellam.plan(Fraction(2), Fraction(1), Fraction(0))[1].value(0) == Fraction(1, 16)


@pytest.mark.parametrize(
    ("ceiling", "step", "bound"),
    [
        (Fraction(0), Fraction(1), 1),
        (Fraction(1, 32), Fraction(1), 1),
        (Fraction(10), Fraction(1, 3), 1),
        (Fraction(10), Fraction(1), -1),
        (Fraction(10), Fraction(1), 1 << 52),
        (Fraction(1 << 54), Fraction(1), 0),
    ],
)
def test_plans_that_cannot_be_are_refused(ceiling: Fraction, step: Fraction, bound: int) -> None:
    with pytest.raises(InvalidInput):
        Skellam.plan(ceiling, step, Fraction(bound))


def test_a_path_keeps_releases_and_jumps_since_the_anchor_and_nothing_of_its_own() -> None:
    exact = np.array([5, -5, 10**6] * 1000)
    anchor = draw_anchor(COUNTS, exact, Fraction(90), _stream("anchor"))
    assert not anchor[len(exact) :].any()
    noisy = place(COUNTS, (Fraction(90), anchor), None, Fraction(200), _stream("noisy"))
    middle = place(
        COUNTS, (Fraction(90), anchor), (Fraction(200), noisy), Fraction(120), _stream("middle")
    )
    for near, far in ((anchor, middle), (middle, noisy)):
        net, up = np.split(far - near, 2)
        assert (up >= 0).all()
        assert (up - net >= 0).all()


def test_a_raised_anchor_forgets_its_own_jumps() -> None:
    """What is kept beside it is the increment to the old one, which it is independent of."""
    size = 200_000
    exact = np.full(size, 12)
    old = draw_anchor(COUNTS, exact, Fraction(90), _stream("old"))
    raised = raise_anchor(COUNTS, exact, (Fraction(90), old), Fraction(40), _stream("raised"))
    noise = released(COUNTS, raised) - exact
    between = old - raised
    net, up = np.split(between, 2)
    assert (up >= 0).all()
    assert (up - net >= 0).all()
    assert noise.var() == pytest.approx(40, rel=6 * (2 / size) ** 0.5)
    assert up.mean() == pytest.approx(25, rel=6 / (25 * size) ** 0.5)
    for part in (up, up - net):
        assert abs(np.corrcoef(part, noise)[0, 1]) < 6 / size**0.5
    again = place(
        COUNTS, (Fraction(40), raised), (Fraction(90), old), Fraction(60), _stream("again")
    )
    assert (released(COUNTS, again) - exact).var() == pytest.approx(60, rel=0.02)


def test_releases_in_memory_are_raised_and_kept_as_bytes() -> None:
    mechanism, ladder = Skellam.plan(Fraction(64), Fraction(1), Fraction(1000))
    values = [12, -7, 0]
    path = MultipleRelease(mechanism, ladder, values, 64, streams=lambda: _stream("memory"))
    coarse = path.at(200)
    assert coarse.shape == (3,)
    path.raise_ceiling(values, 16)
    resumed = MultipleRelease.from_state(path.state(), mechanisms={"skellam": Skellam})
    np.testing.assert_array_equal(resumed.at(200), coarse)
    np.testing.assert_array_equal(resumed.at(16), path.at(16))


@pytest.mark.parametrize("levels", [(2, 1, 3), (1, 1, 2), (1, 2, 2), (-1, 1, 2)])
def test_levels_out_of_order_are_refused(levels: tuple[int, int, int]) -> None:
    accurate, level, noisy = map(Fraction, levels)
    with pytest.raises(InvalidInput, match="must increase"):
        COUNTS.bridge(accurate, noisy, np.zeros(2, dtype=np.int64), level, _stream("order"))


@pytest.mark.parametrize("difference", [[3, 2], [-1, -1], [0, -1]])
def test_a_negative_number_of_jumps_is_refused(difference: list[int]) -> None:
    with pytest.raises(InvalidInput, match="trials"):
        COUNTS.bridge(
            Fraction(1), Fraction(3), np.array(difference), Fraction(2), _stream("negative")
        )


def test_the_promise_is_the_exact_epsilon_at_delta() -> None:
    promise = COUNTS.guarantee(Fraction(1000), ONE, 1e-6)
    assert promise.definition is Definition.APPROXIMATE
    assert promise.epsilon == pytest.approx(0.115741, abs=5e-7)
    steps = Skellam(Fraction(1, 4)).guarantee(Fraction(1000, 16), ONE, 1e-6)
    assert steps == COUNTS.guarantee(Fraction(1000), _sensitivity(4, 16, 4), 1e-6)


@pytest.mark.parametrize("norms", [(8, 16, 3), (6, 10, 3), (8, 18, 4)])
def test_the_promise_for_a_vector_is_that_of_the_worst_shift(norms: tuple[int, int, int]) -> None:
    each = [epsilon_of_shape(4.0, shape, 1e-9) for shape in Shifts(*norms).worst]
    assert max(each) > min(each) * 1.01
    promise = COUNTS.guarantee(Fraction(4), _sensitivity(*norms), 1e-9)
    assert promise.epsilon == pytest.approx(max(each), rel=1e-12)


def test_no_delta_and_no_sensitivity_is_refused() -> None:
    for delta in (0.0, 1.0):
        with pytest.raises(InvalidInput, match="delta"):
            COUNTS.guarantee(Fraction(1000), ONE, delta)
    with pytest.raises(InvalidInput, match="below one step"):
        Skellam(Fraction(2)).guarantee(Fraction(1000), ONE, 1e-6)


def test_the_cost_is_the_divergence_of_the_most_concentrated_shift() -> None:
    level = Fraction(1000)
    assert COUNTS.cost(level, ONE, 11.0).loss == pytest.approx(
        renyi_divergence(1000, 1, 11.0), rel=1e-3
    )
    spread = COUNTS.cost(level, _sensitivity(4, 4, 1), 11.0).loss
    whole = COUNTS.cost(level, _sensitivity(4, 16, 4), 11.0).loss
    assert spread == pytest.approx(4 * COUNTS.cost(level, ONE, 11.0).loss)
    assert whole > 3.9 * spread
    assert COUNTS.cost(level, ONE, math.inf).loss == math.inf


def test_what_falls_where_the_neighbors_sampler_gives_out_is_charged() -> None:
    for variance in (32.0, 1000.0):
        law = stats.skellam(variance / 2, variance / 2)
        last = next(x for x in range(int(12 * variance**0.5), 0, -1) if law.sf(x - 1) >= UNCLAIMED)
        assert beyond_neighbor(variance, 3) == pytest.approx(
            above(variance, last - 3) - above(variance, last), rel=0.3
        )
    assert beyond_neighbor(31.0, 3) == 0
    assert 0 < COUNTS.cost(Fraction(1000), ONE, 2.0).failure < 2.0**-55


@pytest.mark.parametrize("variance", [32.0, 40.0, 100.0, 1e4])
def test_parts_in_their_tails_hardly_matter_for_values_that_are_claimed(variance: float) -> None:
    """What they add to a divergence at the highest order, and would for all values."""
    mean = variance / 2
    parts = np.arange(int(mean + 14 * mean**0.5) + 60, dtype=np.float64)
    logs = log_poisson(parts, mean, parts - mean)
    mass = np.exp(logs)
    claimed = (np.cumsum(mass) > TAIL_ERROR / 2) & (np.cumsum(mass[::-1])[::-1] > TAIL_ERROR / 2)

    def lost(value: int) -> float:
        joint = logs[value:] + logs[: len(logs) - value]
        weight = np.exp(joint - joint.max())
        both = claimed[value:] & claimed[: len(logs) - value]
        outside = float(weight[~both].sum() / weight.sum())
        raised = math.expm1(-1024 * math.log1p(-outside)) if outside < 0.5 else math.inf
        return float(np.exp(joint.max()) * weight.sum()) * raised

    last = next(x for x in range(10**6) if above(variance, x) < UNCLAIMED)
    step = max(1, last // 200)
    assert 2 * step * sum(lost(value) for value in range(0, last, step)) < 2.0**-48
    if variance < 100:
        beyond = last + round(3 * variance**0.5)
        assert 2 * sum(lost(value) for value in range(last, beyond)) > 2.0**-48


def test_three_draws_a_value_and_level_are_charged() -> None:
    _, ladder = Skellam.plan(Fraction(1000), Fraction(1), Fraction(0))
    plain, factor = COUNTS.numerical_charges(ladder, 100, 20, 11.0, 1.0)
    assert plain.factor == 1
    expected = (1 + math.e) * (6000**0.5 * 2.0**-43 + 6000 * 2.0**-59)
    assert plain.failure == pytest.approx(expected, abs=0)
    assert factor.factor > 1
    assert factor.failure == pytest.approx(6000 * 2.0**-59, abs=0)


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(3), Fraction(1000), Fraction(10**9)])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_error_bars_end_at_the_first_integer_that_covers_enough(
    variance: Fraction, confidence: float
) -> None:
    bars = COUNTS.error(variance, confidence)
    assert bars.standard_deviation == pytest.approx(math.sqrt(variance))
    law = stats.skellam(float(variance) / 2, float(variance) / 2)
    if variance <= 1000:
        inside = law.cdf(bars.half_width) - law.cdf(-bars.half_width - 1)
        less = law.cdf(bars.half_width - 1) - law.cdf(-bars.half_width)
        assert inside >= confidence > less or bars.half_width == 0
    else:
        normal = stats.norm.isf((1 - confidence) / 2) * math.sqrt(variance)
        assert bars.half_width == pytest.approx(normal, rel=1e-3)


def test_the_half_width_of_no_confidence_is_none() -> None:
    assert half_width(1000.0, 1e-9) == 0


@pytest.mark.parametrize(
    ("old", "new", "order"), [(100, 50, 11.0), (40, 10, 3.0), (1000, 900, 20.0)]
)
def test_a_refinement_costs_about_the_difference_and_no_less(
    old: int, new: int, order: float
) -> None:
    found = COUNTS.refinement(Fraction(old), Fraction(new), ONE, order, 1e-9)
    difference = renyi_divergence(new, 1, order) - renyi_divergence(old, 1, order)
    assert found.failure == 1e-9
    assert difference < found.loss < 1.5 * difference
