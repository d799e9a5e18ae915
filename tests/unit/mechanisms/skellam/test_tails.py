"""Test tails of Skellam noise against scipy's, and the mass outside of its reach."""

import pytest
from scipy import stats

from penstock.mechanisms.skellam.tails import (
    OUTSIDE,
    Progression,
    above,
    beyond_neighbor,
    half_width,
    reach,
)


@pytest.mark.parametrize("variance", [0.5, 20.0, 500.0])
@pytest.mark.parametrize("deviations", [0.0, 1.0, 4.0])
def test_the_tail_is_that_of_the_law(variance: float, deviations: float) -> None:
    value = int(deviations * variance**0.5)
    mean = variance / 2
    tail = sum(stats.skellam.pmf(at, mean, mean) for at in range(value + 1, reach(variance)))
    assert above(variance, value) == pytest.approx(tail, rel=1e-9)
    assert above(variance, -value - 1) == pytest.approx(1 - tail, rel=1e-9)


@pytest.mark.parametrize("variance", [0.5, 500.0])
def test_next_to_nothing_is_beyond_the_reach(variance: float) -> None:
    assert above(variance, reach(variance)) <= OUTSIDE


@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_the_half_width_is_the_least_that_covers_enough(confidence: float) -> None:
    width = half_width(20.0, confidence)
    assert 1 - 2 * above(20.0, width) >= confidence > 1 - 2 * above(20.0, width - 1)


def test_only_noise_that_is_drawn_by_rejection_has_values_of_which_nothing_is_claimed() -> None:
    assert beyond_neighbor(31.9, 5) == 0.0
    assert 0.0 < beyond_neighbor(32.0, 1) < beyond_neighbor(32.0, 2) < 1e-12


@pytest.mark.parametrize(
    "variance", [float(1 << 24), pytest.param(float(1 << 30), marks=pytest.mark.nightly)]
)
def test_sums_over_every_nth_integer_are_those_over_all(variance: float) -> None:
    whole = Progression.between(variance, 0, reach(variance), 1).at_least()
    coarse = Progression.between(variance, 0, reach(variance), 4).at_least()
    kept = whole[::4][: len(coarse)]
    near = kept > 1e-18
    assert coarse[near] == pytest.approx(kept[near], rel=1e-9)
