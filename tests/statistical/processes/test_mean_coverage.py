"""Test that the interval of a mean holds the exact mean as often as it says.

Pairs of a sum and a count are drawn by each mechanism at three scales of noise, and read as the
server reads them.  Where the count is far above its noise and the mean is between the bounds,
nothing is clamped, and the coverage is the confidence itself, for noise of many lattice steps.
Elsewhere, few rows included, it is at least the confidence.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.statistical.checks import accept, frequency, rejects
from tests.statistical.processes.paths import keyed_streams

from penstock.mechanisms import draw_anchor, family_of
from penstock.mechanisms.generalized_gaussian.law import standard_deviation
from penstock.privacy import Sensitivity
from penstock.services.noise.means import Bounds, Means, means
from penstock.services.noise.process import CONFIDENCE, Process

BOUNDS = Bounds(-10, 30)
STEP = Fraction(1, 2)
POWER = Fraction(4)
DEVIATIONS = (6, 60, 600)
"""Standard deviations of the noise, of which one row is 20."""

FREE = [(mean, rows) for mean in (-5.0, 10.0, 17.5) for rows in (300, 2000)]
"""Means and counts at which nothing is clamped, even at the largest noise."""

CLAMPED = [(mean, rows) for mean in (-10.0, 10.0, 17.5, 30.0) for rows in (1, 2, 6, 40)]
KEYS = 8000
"""Pairs for each mean and count.  A coverage off by 0.6% is found: 12 deviations of 48,000."""

FINE = ("gaussian", "generalized_gaussian", "laplace")
"""Mechanisms whose noise has many lattice steps, whatever its level."""

LEVELS: dict[str, Callable[[Fraction], Fraction]] = {
    "gaussian": lambda deviation: deviation**2,
    "laplace": lambda deviation: deviation / Fraction(2**0.5),
    "poisson": lambda deviation: (deviation / STEP) ** 2,
    "skellam": lambda deviation: deviation**2,
    "generalized_gaussian": lambda deviation: deviation / Fraction(standard_deviation(4.0)),
}
SCALES = [(name, deviation) for name in sorted(LEVELS) for deviation in DEVIATIONS]


@cache
def drawn(name: str, deviation: int, cells: str) -> tuple[Means, NDArray[np.float64]]:
    """Return the means of many noisy pairs, and the exact means."""
    level = LEVELS[name](Fraction(deviation))
    family = family_of(name, POWER if name == "generalized_gaussian" else None)
    mechanism, ladder = family.plan(level, STEP, Fraction(2**24))
    process = Process(mechanism, ladder, Sensitivity(Fraction(80), Fraction(3200), Fraction(40)))
    rung = ladder.rung_at_or_above(level)
    pairs = FREE if cells == "free" else CLAMPED
    exact, rows = (np.repeat(part, KEYS) for part in np.array(pairs).T)
    values = np.concatenate(((exact - BOUNDS.middle) * rows, rows * BOUNDS.weight))
    steps = (values / float(mechanism.granularity)).astype(np.int64)
    stream = keyed_streams(f"mean coverage {cells} {name} {deviation}")()
    noisy = draw_anchor(mechanism, steps, ladder.value(rung), stream)
    return means(process, rung, process.values(rung, noisy), BOUNDS), exact


def hits(name: str, deviation: int, cells: str) -> tuple[int, int]:
    """Return how often intervals hold their mean, and how many there are."""
    inside = held(*drawn(name, deviation, cells))
    return int(inside.sum()), len(inside)


def held(found: Means, exact: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Return whether each interval holds its mean."""
    return np.asarray((found.details.lower <= exact) & (exact <= found.details.upper))


def least_of_cells(inside: NDArray[np.bool_]) -> float:
    """Return the least p-value over all means and counts, by Bonferroni."""
    cells = np.split(inside, len(CLAMPED))
    return min(1.0, len(cells) * min(at_least(int(cell.sum()), len(cell)) for cell in cells))


def at_least(hits: int, trials: int) -> float:
    """Return the p-value of a chance of at least the confidence."""
    return float(stats.binomtest(hits, trials, CONFIDENCE, alternative="less").pvalue)


@pytest.mark.parametrize(("name", "deviation"), SCALES)
def test_an_interval_that_is_not_clamped_holds_as_often_as_it_says(
    name: str, deviation: int
) -> None:
    count, trials = hits(name, deviation, "free")
    exact = name in FINE or deviation > DEVIATIONS[0]
    p_value = frequency(count, trials, CONFIDENCE) if exact else at_least(count, trials)
    accept(p_value, f"coverage of {name} at {deviation}: {count / trials:.4f}")


@pytest.mark.parametrize(("name", "deviation"), SCALES)
def test_an_interval_that_is_clamped_holds_at_least_as_often(name: str, deviation: int) -> None:
    inside = held(*drawn(name, deviation, "clamped"))
    accept(least_of_cells(inside), f"coverage of {name} at {deviation}")


@pytest.mark.parametrize("deviation", DEVIATIONS[1:])
def test_an_interval_by_the_delta_method_is_found_out_at_few_rows(deviation: int) -> None:
    found, exact = drawn("gaussian", deviation, "clamped")
    details = found.details
    rows = np.maximum(details.counts, 1)
    slopes = np.hypot(1, (found.values - BOUNDS.middle) / BOUNDS.weight)
    half = details.sum_error.half_width * slopes / rows
    inside = np.abs(found.values - exact) <= half
    assert rejects(least_of_cells(inside))


@pytest.mark.parametrize("name", ["laplace", "generalized_gaussian"])
def test_a_normal_quantile_for_other_noise_is_found_out(name: str) -> None:
    assert rejects(frequency(*quantile_hits(name, NormalDist().inv_cdf(0.975)), CONFIDENCE))


def test_bars_of_the_sum_and_of_the_count_together_are_found_out_to_cover_too_much() -> None:
    """Bonferroni's rectangle covers what lies within sqrt(2) of its sides, which is too much."""
    wide = NormalDist().inv_cdf(1 - 0.0125)
    found, exact = drawn("gaussian", DEVIATIONS[1], "free")
    details, bar = found.details, wide * found.details.sum_error.standard_deviation
    ratios = (exact - BOUNDS.middle) / BOUNDS.weight
    inside = np.abs(details.centered_sums - ratios * details.counts * BOUNDS.weight) <= bar * (
        1 + np.abs(ratios)
    )
    assert rejects(frequency(int(inside.sum()), len(exact), CONFIDENCE))


def quantile_hits(name: str, quantile: float) -> tuple[int, int]:
    """Return how often ``S - r n`` is within so many of its standard deviations."""
    found, exact = drawn(name, DEVIATIONS[1], "free")
    details = found.details
    ratios = (exact - BOUNDS.middle) / BOUNDS.weight
    away = np.abs(details.centered_sums - ratios * details.counts * BOUNDS.weight)
    reach = quantile * details.sum_error.standard_deviation * np.hypot(1, ratios)
    return int((away <= reach).sum()), len(exact)
