"""Test by simulation that intervals miss as rarely as they say.

A release without a number misses nothing.  Where every release has one, an interval that covered
more than it says would be found out too, but for what is cut off and the ratio of other noise.
"""

from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.statistical.checks import FALSE_ALARM
from tests.unit.services.noise.estimates.rows import SCALES, generator_of, products, rows, summed

from penstock.connectors.planning.moments.weights import weighted, weights_of
from penstock.connectors.specs.moments import Moments, Regression
from penstock.services.noise.estimates.moments import moments
from penstock.services.noise.estimates.products import Estimate, Products, Scale
from penstock.services.noise.estimates.regression import regression

COUNT, TRIALS, MISSES = 2000, 3000, 0.05
SECOND_ORDER = 0.008
"""By how much the share of misses may differ from the stated one: an engineering bound.

The delta method leaves out what is of second order.
"""


def estimated(of: Products) -> list[Estimate]:
    return [*moments(of, SCALES), *regression(of, SCALES)[1:]]


def exact(points: NDArray[np.float64]) -> dict[str, float]:
    return {each.name: each.value or 0.0 for each in estimated(products(summed(points), 1e-9))}


MOMENTS, REGRESSION = (
    weights_of(weighted(of, "gaussian"))
    for of in (
        Moments(type="moments", columns=("age", "cost")),
        Regression(type="regression", outcome="cost", predictors=("age",)),
    )
)
"""The weights that are chosen."""

WEIGHTED = [
    *((REGRESSION, deviation) for deviation in (1.0, 10.0, 25.0)),
    *(pytest.param(MOMENTS, each, marks=pytest.mark.nightly) for each in (1.0, 10.0, 25.0)),
]


def misses(
    deviation: float,
    *,
    narrower: float = 1,
    sampling: bool = False,
    weights: tuple[int, ...] = (),
    read: tuple[int, ...] | None = None,
) -> tuple[Counter[str], Counter[str]]:
    """Return how many intervals of each estimate miss the true one, and how many there are.

    ``deviation`` is that of a number with the largest weight.  With ``read`` the numbers are taken
    to have these weights.
    """
    drawn = np.array(weights or (1,) * 6)
    known = weights if read is None else read
    whole = deviation * max(known, default=1)
    generator = generator_of(f"noise of {deviation:g}")
    points = rows(COUNT)
    # A population is many times as large as what is drawn from it with each draw.
    crowd = rows(200_000, "crowd")
    truth = exact(crowd if sampling else points)
    numbers = summed(points)
    missed, shown = Counter[str](), Counter[str]()
    for _ in range(TRIALS):
        if sampling:
            numbers = summed(crowd[generator.integers(0, len(crowd), COUNT)])
        noisy = numbers + generator.normal(0, deviation * max(drawn) / drawn)
        of = products(noisy, whole, sampling=sampling, weights=known)
        for each in estimated(replace(of, ratio=of.ratio * narrower)):
            if each.lower is None or each.upper is None:
                continue
            shown[each.name] += 1
            missed[each.name] += not each.lower <= truth[each.name] <= each.upper
    return missed, shown


def too_often(missed: int, allowance: float = SECOND_ORDER) -> bool:
    """Return True if so many of ``TRIALS`` are too many for the stated share."""
    return bool(stats.binom.sf(missed - 1, TRIALS, MISSES + allowance) < FALSE_ALARM)


def too_seldom(missed: int) -> bool:
    return bool(stats.binom.cdf(missed, TRIALS, MISSES - SECOND_ORDER) < FALSE_ALARM)


@pytest.mark.parametrize("deviation", [1.0, 10.0, 25.0])
def test_an_interval_misses_as_often_as_it_says(deviation: float) -> None:
    missed, shown = misses(deviation)
    assert len(shown) == 13
    for name, times in shown.items():
        assert not too_often(missed[name]), name
        if times == TRIALS:
            assert not too_seldom(missed[name]), name


@pytest.mark.parametrize(("weights", "deviation"), WEIGHTED)
def test_an_interval_of_numbers_with_weights_misses_as_often_as_it_says(
    weights: tuple[int, ...], deviation: float
) -> None:
    missed, shown = misses(deviation, weights=weights)
    assert len(shown) == 13
    for name, times in shown.items():
        assert not too_often(missed[name]), name
        if times == TRIALS:
            assert not too_seldom(missed[name]), name


@pytest.mark.parametrize(("weights", "deviation"), WEIGHTED)
def test_an_interval_about_a_population_of_numbers_with_weights_misses_no_more_often(
    weights: tuple[int, ...], deviation: float
) -> None:
    missed, shown = misses(deviation, sampling=True, weights=weights)
    of_rows = [name for name in shown if name != "n" and not name.startswith("sum:")]
    assert not [name for name in of_rows if too_often(missed[name])]


def test_intervals_that_take_weights_for_equal_ones_are_found_out() -> None:
    """The regression's weights leave the square of the outcome with four times the noise."""
    missed, _ = misses(10.0, weights=REGRESSION, read=())
    assert too_often(missed["variance:cost"])
    assert too_often(missed["n"])


@pytest.mark.parametrize("deviation", [60.0, 180.0])
def test_where_noise_leaves_few_numbers_those_miss_no_more_often(deviation: float) -> None:
    missed, shown = misses(deviation)
    assert sum(shown.values()) < 0.85 * 13 * TRIALS
    assert not [name for name in shown if too_often(missed[name])]


def test_intervals_that_are_a_quarter_too_narrow_are_found_out() -> None:
    missed, _ = misses(10.0, narrower=0.75)
    assert len([name for name in missed if too_often(missed[name])]) == 13


def test_intervals_about_a_population_miss_no_more_often_than_they_say() -> None:
    """Those of the rows alone would: noise is the smaller part here."""
    missed, shown = misses(1.0, sampling=True)
    of_data = {"n", "sum:age", "sum:cost"}
    missed = Counter({name: times for name, times in missed.items() if name not in of_data})
    assert not [name for name in shown if too_often(missed[name])]
    of_rows = set(shown) - of_data
    generator = generator_of("a population")
    crowd = rows(200_000, "crowd")
    truth, found = exact(crowd), Counter[str]()
    for _ in range(TRIALS):
        drawn = summed(crowd[generator.integers(0, len(crowd), COUNT)])
        for each in estimated(products(drawn + generator.normal(0, 1.0, len(drawn)), 1.0)):
            missing = each.lower is not None and not (
                each.lower <= truth[each.name] <= (each.upper or 0)
            )
            found[each.name] += missing
    assert not [name for name in of_rows if not too_often(found[name])]


@pytest.mark.parametrize(("count", "share"), [(30, 0.545), (100, 0.133), (3000, 0.055)])
def test_about_a_population_the_mean_of_a_rare_value_is_missed_more_often(
    count: int, share: float
) -> None:
    """Rows without the value have no spread, and readers are told how often they err then."""
    missed = 0.0
    for ones in range(count + 1):
        numbers = np.array([count, 2 * ones - count, count], dtype=float)
        of = products(numbers, 1e-9, factors=1, sampling=True)
        mean = moments(of, [Scale("sick", 0.5, 0.5)])[2]
        if not (mean.lower or 0) <= 0.02 <= (mean.upper or 0):
            missed += float(stats.binom.pmf(ones, count, 0.02))
    assert missed == pytest.approx(share, abs=0.002)
