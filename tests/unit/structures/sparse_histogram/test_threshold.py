"""Test that thresholds are a public function of the level, at every rung."""

import math
from fractions import Fraction

import pytest
from scipy.stats import norm
from tests.unit.structures.small_histogram import CEILING, LADDER, MECHANISM

from penstock.errors import InvalidInput
from penstock.mechanisms import Laplace
from penstock.structures.sparse_histogram import LaplaceThresholds, Thresholds, next_crossing
from penstock.structures.sparse_histogram.threshold import COARSENESS

G = MECHANISM.granularity


def _thresholds(size: int, false_keys: dict[int, float]) -> Thresholds:
    return Thresholds(LADDER, G, size, false_keys)


@pytest.mark.parametrize("size", [8, 10**6, 1 << 64])
@pytest.mark.parametrize("expected", [1e-6, 1.0, 2.0])
def test_as_many_false_keys_are_expected_as_are_asked_for_and_hardly_fewer(
    size: int, expected: float
) -> None:
    thresholds = _thresholds(size, {CEILING: expected})
    for rung in (CEILING, CEILING + 1, CEILING + 500):
        level = float(LADDER.value(rung))
        found = size * norm.sf((float(thresholds.at(rung)) + float(G) / 2) / math.sqrt(level))
        assert expected * (1 - 1e-3) < found <= expected


def test_the_first_value_that_is_reported_is_a_step_above_the_threshold() -> None:
    """So that what lies above is integrated from half a step on, for all keys alike."""
    thresholds = _thresholds(10**6, {CEILING: 1.0})
    for rung in (CEILING, CEILING + 69):
        deviation = math.sqrt(LADDER.value(rung) / G**2)
        chance = next_crossing(thresholds, [], rung).probability
        threshold = thresholds.steps(rung)
        assert chance == pytest.approx(norm.sf((threshold + 0.5) / deviation), rel=1e-11)
        assert abs(chance / norm.sf(threshold / deviation) - 1) > 1e-7


def test_between_tiers_false_keys_go_in_a_straight_line_of_their_logarithm() -> None:
    thresholds = _thresholds(10**9, {CEILING: 100.0, CEILING + 10: 1.0})
    found = [thresholds.expected(CEILING + i) for i in (-5, 0, 1, 5, 9, 10, 50)]
    wanted = [100.0, 100.0, 100 * 10**-0.2, 10.0, 10**0.2, 1.0, 1.0]
    assert found == pytest.approx(wanted)


def test_every_rung_has_one_threshold_and_more_noise_a_higher_one() -> None:
    thresholds = _thresholds(1 << 64, {CEILING: 1.0})
    found = [thresholds.steps(rung) for rung in range(LADDER.last + 1)]
    assert found == sorted(set(found))
    assert found == [_thresholds(1 << 64, {CEILING: 1.0}).steps(r) for r in range(len(found))]


@pytest.mark.parametrize("expected", [0.0, -1.0, 2.1, 1e-70, math.nan])
def test_false_keys_that_cannot_be_expected_are_refused(expected: float) -> None:
    with pytest.raises(InvalidInput, match="cannot be expected"):
        _thresholds(8, {CEILING: expected})
    with pytest.raises(InvalidInput, match="At least one tier"):
        _thresholds(8, {})
    with pytest.raises(InvalidInput, match="outside of the ladder"):
        _thresholds(8, {-1: 1.0})


@pytest.mark.parametrize("expected", [1e-6, 0.5, 200.0])
def test_a_threshold_of_laplace_noise_is_the_least_for_its_false_keys(expected: float) -> None:
    size = 1 << 20
    noise, ladder = Laplace.plan(Fraction(3), Fraction(1), Fraction(1000))
    thresholds = LaplaceThresholds(ladder, noise.granularity, size, {700: expected})
    for rung in (0, 700, ladder.last):
        rate = float(noise.granularity / ladder.value(rung))
        steps = thresholds.steps(rung)
        # P(X > k) = p^(k + 1) / (1 + p)
        chances = [
            math.exp(-rate * (k + 1)) / (1 + math.exp(-rate)) for k in (steps, steps - COARSENESS)
        ]
        assert chances[0] * size <= expected * (1 + 1e-9)
        assert chances[1] * size >= expected * (1 - 1e-9)


def test_laplace_noise_has_at_most_one_false_key_of_256() -> None:
    noise, ladder = Laplace.plan(Fraction(3), Fraction(1), Fraction(1000))
    LaplaceThresholds(ladder, noise.granularity, 512, {0: 2.0})
    with pytest.raises(InvalidInput, match="1/256 of all keys, 2"):
        LaplaceThresholds(ladder, noise.granularity, 512, {0: 2.1})
