"""Test sums and means without noise, by simulation with it, and where noise leaves no mean."""

from collections import Counter

import numpy as np
import pytest
from scipy import stats
from tests.statistical.checks import FALSE_ALARM
from tests.unit.services.noise.estimates.rows import (
    GAUSSIAN_RATIO,
    SCALES,
    generator_of,
    in_units,
    rows,
    summed,
)

from penstock.services.noise.estimates.products import Estimate, Products
from penstock.services.noise.estimates.sums import sums

COUNT, TRIALS, MISSES = 2000, 3000, 0.05
SECOND_ORDER = 0.008
"""By how much the share of misses may differ from the stated one: an engineering bound."""

NAMES = ["n", "sum:age", "sum:cost", "mean:age", "mean:cost"]


def _of(
    numbers: np.ndarray, deviation: float, *, sampling: bool = False, ratio: float = GAUSSIAN_RATIO
) -> list[Estimate]:
    return sums(Products(numbers, 2, deviation, ratio, 1, sampling, order=1), SCALES)


def _truth(points: np.ndarray) -> dict[str, float]:
    age, cost = in_units(points).T
    values = (len(points), age.sum(), cost.sum(), age.mean(), cost.mean())
    return dict(zip(NAMES, map(float, values), strict=True))


def test_without_noise_the_estimates_are_those_of_the_rows() -> None:
    points = rows(500)
    estimates = {each.name: each.value for each in _of(summed(points)[:3], 1e-9)}
    assert list(estimates) == NAMES
    assert estimates == pytest.approx(_truth(points))


def _misses(deviation: float, *, narrower: float = 1.0) -> Counter[str]:
    generator = generator_of(f"noise of sums of {deviation:g}")
    points = rows(COUNT)
    truth, numbers = _truth(points), summed(points)[:3]
    missed = Counter[str]()
    for _ in range(TRIALS):
        noisy = numbers + generator.normal(0, deviation, 3)
        for each in _of(noisy, deviation, ratio=GAUSSIAN_RATIO * narrower):
            assert each.lower is not None
            assert each.upper is not None
            missed[each.name] += not each.lower <= truth[each.name] <= each.upper
    return missed


def _is_too_often(missed: int) -> bool:
    return bool(stats.binom.sf(missed - 1, TRIALS, MISSES + SECOND_ORDER) < FALSE_ALARM)


@pytest.mark.parametrize("deviation", [1.0, 10.0, 60.0])
def test_an_interval_misses_as_often_as_it_says(deviation: float) -> None:
    missed = _misses(deviation)
    assert sorted(missed) == sorted(NAMES)
    for name, times in missed.items():
        assert not _is_too_often(times), name
        assert stats.binom.cdf(times, TRIALS, MISSES - SECOND_ORDER) >= FALSE_ALARM, name


def test_intervals_that_are_a_quarter_too_narrow_are_found_out() -> None:
    assert all(map(_is_too_often, _misses(10.0, narrower=0.75).values()))


def test_means_about_a_population_miss_no_more_often_than_they_say() -> None:
    generator = generator_of("a population of sums")
    crowd = rows(200_000, "crowd")
    truth, missed = _truth(crowd), Counter[str]()
    for _ in range(TRIALS):
        drawn = summed(crowd[generator.integers(0, len(crowd), COUNT)])[:3]
        for each in _of(drawn + generator.normal(0, 1.0, 3), 1.0, sampling=True)[3:]:
            assert each.lower is not None
            assert each.upper is not None
            missed[each.name] += not each.lower <= truth[each.name] <= each.upper
    assert not any(map(_is_too_often, missed.values()))


@pytest.mark.parametrize("count", [0.0, -3.0, 49.0])
def test_too_few_rows_for_the_noise_leave_no_mean(count: float) -> None:
    estimates = {each.name: each.value for each in _of(np.array([count, 1.0, 2.0]), 5.0)}
    assert estimates["sum:age"] == 50 * count + 50
    assert estimates["mean:age"] is estimates["mean:cost"] is None


def test_a_mean_stays_within_its_bounds() -> None:
    means = _of(np.array([100.0, 103.0, -104.0]), 3.0)[3:]
    assert [(each.value, each.upper) for each in means[:1]] == [(100, 100)]
    assert (means[1].value, means[1].lower) == (-9, -9)
