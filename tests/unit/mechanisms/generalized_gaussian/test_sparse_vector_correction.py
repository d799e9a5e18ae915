"""Test counts that are searched and corrected: what they lose, how far off they are, refusals."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from tests.statistical.structures.searches import masses

from penstock.errors import InvalidInput
from penstock.mechanisms import GeneralizedGaussian
from penstock.mechanisms.gaussian.curve import delta_at
from penstock.mechanisms.generalized_gaussian.loss_distribution import Shifted, delta_of, epsilon_of
from penstock.mechanisms.generalized_gaussian.sparse_vector import SparseVector
from penstock.mechanisms.generalized_gaussian.sparse_vector_correction import SparseVectorCorrection
from penstock.privacy import Definition, Sensitivity
from penstock.randomness import Stream
from penstock.randomness.generalized_gaussian import ERROR
from penstock.randomness.saddle_point import Floats

ONE = Sensitivity(Fraction(1), Fraction(1), Fraction(1))
PART = Fraction(1, 2)


def planned(
    count: int = 64,
    *,
    scale: int = 50,
    threshold: int = 60,
    cutoff: int = 2,
    anew: tuple[int, int] = (2, 30),
    power: int = 2,
) -> SparseVectorCorrection:
    return SparseVectorCorrection.plan(
        (Fraction(power), Fraction(scale)),
        (Fraction(threshold), cutoff, PART / 3, PART * 2 / 3),
        (Fraction(anew[0]), Fraction(anew[1])),
        Sensitivity(Fraction(count), Fraction(count), Fraction(1)),
        step=Fraction(1),
        bound=Fraction(10**6),
    )


def true_delta(correction: SparseVectorCorrection, epsilon: float) -> float:
    """Return delta of one value and its neighbor 1 above.

    It counts every answer, found or not, and every answer again.
    """
    step, far = float(correction.first.granularity), 1_500
    own = masses(correction.search.query_scale, far)
    difference = np.convolve(own, masses(correction.search.threshold_scale, far))
    tails = np.cumsum(difference[::-1])[::-1]

    def normal(reach: float, shift: int, scale: Fraction) -> Floats:
        at = np.arange(-round(reach / step), round(reach / step) + 1) - shift
        law = np.exp(-((at * step / float(scale)) ** 2))
        return np.asarray(law / law.sum(), dtype=np.float64)

    def joint(shift: int) -> tuple[Floats, Floats]:
        answers = normal(24, shift, correction.scale)
        gaps = np.abs(np.arange(len(answers)) - len(answers) // 2 - shift)
        found = tails[correction.search.threshold - gaps + 2 * far]
        anew = normal(60, shift, correction.anew_scale)
        return answers * (1 - found), np.multiply.outer(answers * found, anew)

    return math.fsum(
        float(np.maximum(ours - math.exp(epsilon) * others, 0.0).sum())
        for ours, others in zip(joint(0), joint(round(1 / step)), strict=True)
    )


def tiny(search: float, anew_scale: int) -> SparseVectorCorrection:
    """Return one value in quarters, with noise of scale 4, and the threshold at 1."""
    quarter = GeneralizedGaussian.of(2)(Fraction(1, 4))
    return SparseVectorCorrection(
        first=quarter,
        scale=Fraction(4),
        search=SparseVector.of(4, 4, 1, search),
        anew=quarter,
        anew_scale=Fraction(anew_scale),
        sensitivity=ONE,
    )


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 1.5, 2.0])
def test_no_step_may_be_left_out_of_what_is_stated(epsilon: float) -> None:
    first = Shifted(2.0, 0.25, 1)
    searching = tiny(2.0, 12)
    truth = true_delta(searching, epsilon)
    assert truth <= searching.delta(epsilon)
    assert truth > delta_of((first, Shifted(2.0, 1 / 12, 1)), epsilon)
    answering = tiny(0.4, 2)
    truth = true_delta(answering, epsilon)
    assert truth <= answering.delta(epsilon)
    alone = tiny(0.4, 1_000_000)
    assert truth > alone.delta(epsilon)


@pytest.mark.parametrize("epsilon", [-0.2, 0.3, 1.0, 2.5])
def test_the_stated_divergence_is_that_of_normal_noise_and_randomized_response(
    epsilon: float,
) -> None:
    correction, s = planned(), float(PART)
    mu = math.sqrt(2 * (64 / 50**2 + 2 / 30**2))
    at = np.linspace(-10, 10, 400_001)
    weights = np.exp(-(at**2) / 2) * (at[1] - at[0]) / math.sqrt(2 * math.pi)
    chance = math.exp(s) / (1 + math.exp(s))
    sums = 0.0
    for own, likely in ((s, chance), (-s, 1 - chance)):
        losses = mu * at + mu * mu / 2 + own
        sums += likely * float(weights @ np.maximum(-np.expm1(epsilon - losses), 0.0))
    assert correction.delta(epsilon) == pytest.approx(sums, rel=2e-3)
    assert correction.delta(epsilon) >= sums * (1 - 1e-6)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("power", "delta"),
    [
        pytest.param(
            power,
            delta,
            marks=[]
            if (power, delta) in {(1, 1e-2), (2, 1e-9), (4, 1e-6)}
            else pytest.mark.nightly,
        )
        for power in (1, 2, 4)
        for delta in (1e-9, 1e-6, 1e-2)
    ],
)
def test_the_guarantee_is_below_the_sum_of_the_parts_and_above_the_largest(
    power: int, delta: float
) -> None:
    correction = planned(power=power)
    guarantee = correction.guarantee(delta)
    assert guarantee.definition is Definition.APPROXIMATE
    kinds = (Shifted(float(power), 0.02, 64), Shifted(2.0, 1 / 30, 2))
    alone = epsilon_of(kinds, delta)
    assert alone < guarantee.epsilon < alone + float(PART)
    assert correction.delta(guarantee.epsilon) <= delta
    assert correction.delta(guarantee.epsilon * (1 - 1e-5)) > delta


def test_a_search_that_tells_nothing_leaves_the_noise_alone() -> None:
    quiet = SparseVector(64, 64 * 60, 2, Fraction(1, 1 << 20), Fraction(1, 1 << 20))
    correction = replace(planned(), search=quiet)
    curve = delta_at(1.0, math.sqrt(2 * (64 / 50**2 + 2 / 30**2)))
    assert correction.delta(1.0) == pytest.approx(curve, rel=1e-3)


def test_no_more_values_move_anew_than_the_sensitivity_allows() -> None:
    one = replace(planned(cutoff=8), sensitivity=ONE)
    kinds = (Shifted(2.0, 0.02, 1), Shifted(2.0, 1 / 30, 1))
    assert epsilon_of(kinds, 1e-6) < one.guarantee(1e-6).epsilon
    assert one.guarantee(1e-6).epsilon < epsilon_of(kinds, 1e-6) + float(PART)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "correction"),
    [
        (64, planned()),
        (64, planned(power=4, threshold=40, cutoff=5, anew=(1, 20))),
        pytest.param(
            1_000,
            planned(1_000, scale=100, threshold=240, cutoff=1, anew=(3, 60)),
            marks=pytest.mark.nightly,
        ),
    ],
)
def test_the_expected_largest_error_is_what_releases_have(
    count: int, correction: SparseVectorCorrection
) -> None:
    stream = Stream.from_key(bytes(range(32)))
    values = np.arange(count)
    largest = np.array(
        [
            float(np.abs(correction.release(values, stream).values - values).max())
            for _ in range(1_500)
        ]
    )
    # A right mean is beyond 5 standard errors once in 1.7 million.
    error = float(largest.std()) / math.sqrt(len(largest))
    assert abs(float(largest.mean()) - correction.expected_maximum(count)) < 5 * error
    # As far off as another cutoff or threshold would be, it is not.
    assert abs(float(largest.mean()) - replaced(correction, count)) > 5 * error


def replaced(correction: SparseVectorCorrection, count: int) -> float:
    search = replace(correction.search, threshold=1 << 40)
    return replace(correction, search=search).expected_maximum(count)


def test_what_is_found_is_answered_anew_and_nothing_else_changes() -> None:
    correction = planned(threshold=0, cutoff=3, anew=(2, 1))
    values = np.arange(64)
    without = replace(correction, search=replace(correction.search, threshold=1 << 50))
    corrected = correction.release(values, Stream.from_key(bytes(32)))
    plain = without.release(values, Stream.from_key(bytes(32)))
    assert len(corrected.anew) == 3
    assert len(plain.anew) == 0
    assert np.flatnonzero(corrected.values != plain.values).tolist() == corrected.anew.tolist()
    assert np.abs(corrected.values - values)[corrected.anew].max() < 6
    assert np.all(np.ldexp(corrected.values, 10) % 1 == 0)


def test_the_samplers_are_charged_by_the_draw() -> None:
    correction = planned()
    charge = correction.numerical_charge(64, 1.0)
    assert charge == pytest.approx((1 + math.e) * 66 * ERROR, abs=0)
    assert correction.numerical_charge(64, 1e4) == math.inf


def test_noise_that_hides_next_to_nothing_is_told_by_its_number() -> None:
    correction = planned(scale=1, anew=(16, 1), power=16)
    epsilon = correction.guarantee(1e-6).epsilon
    assert 1e6 < epsilon < math.inf
    assert correction.delta(1.0) == 1.0


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"scale": 0}, "Scales are above 0"),
        ({"anew": (2, -1)}, "50, -1 and 1e\\+06"),
        ({"power": 17}, "is from 1 to 16"),
        ({"anew": (0, 30)}, "is from 1 to 16"),
        ({"cutoff": 0}, "a cutoff of at least 1"),
        ({"scale": 1 << 50}, "scales that are closer"),
        ({"threshold": -1}, "threshold from 0"),
    ],
)
def test_plans_that_cannot_be_are_refused(changes: dict[str, int], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        planned(64, **changes)  # type: ignore[arg-type]  # one value is a pair


def test_values_that_move_by_less_than_a_step_are_refused() -> None:
    small = Sensitivity(Fraction(1, 1 << 20), Fraction(1, 1 << 40), Fraction(1, 1 << 20))
    plan = ((Fraction(2), Fraction(50)), (Fraction(60), 2, PART, PART), (Fraction(2), Fraction(30)))
    with pytest.raises(InvalidInput, match="is 0 whole lattice steps of 1/64"):
        SparseVectorCorrection.plan(*plan, small, step=Fraction(1), bound=Fraction(10))


def test_a_search_for_smaller_moves_and_a_second_lattice_are_refused() -> None:
    correction = planned()
    with pytest.raises(InvalidInput, match="is 64 whole lattice steps of 1/64"):
        replace(correction, search=replace(correction.search, shift=63))
    other = GeneralizedGaussian.of(2)(Fraction(1, 128))
    with pytest.raises(InvalidInput, match="steps of 1/64 and 1/128"):
        replace(correction, anew=other)


def test_values_off_the_lattice_and_too_few_are_refused() -> None:
    correction, stream = planned(cutoff=3), Stream.from_key(bytes(32))
    with pytest.raises(InvalidInput, match="finite multiples"):
        correction.release([0.1] * 64, stream)
    with pytest.raises(InvalidInput, match="cutoff of 3 is above the number of values, 2; take"):
        correction.release([1, 2], stream)


@pytest.mark.parametrize("delta", [0.0, 1.0, -1.0])
def test_a_delta_is_between_0_and_1(delta: float) -> None:
    with pytest.raises(InvalidInput, match="delta is between 0 and 1"):
        planned().guarantee(delta)


def test_there_are_no_levels_to_be_drawn_from_each_other() -> None:
    for process in ("increment", "bridge", "at"):
        assert not hasattr(SparseVectorCorrection, process)
