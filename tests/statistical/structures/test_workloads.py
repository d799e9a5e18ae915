"""Test that answers of several tiers, drawn in any order, are points of one path of noise.

What a more private tier is shown is what a more accurate one is shown and noise that is independent
of it, each answer has the variance that is stated, and its interval misses no more often than it
says.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.statistical.checks import accept, rejects
from tests.statistical.processes.paths import Drawer, keyed_streams, lossless, redrawn

from penstock.connectors.planning.domain import WorkloadKeys
from penstock.mechanisms import Gaussian, draw_anchor, released
from penstock.services.noise.estimates.workloads import answers_of
from penstock.services.schemas.views import ErrorView
from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import Given, Spans

ROWS = Given(((1, 2, 0), (0, -1, 1), (1, 0, 3), (1, 1, 1)))
ASKED = Given(((1, 0, 0), (1, 1, -1)))
WORKLOAD = Workload((Factor(Spans("prefix", 5), Spans("tree", 5)), Factor(ASKED, ROWS)))
KEYS = WorkloadKeys(("age", "ward"), (tuple("abcde"), tuple("xyz")), WORKLOAD)
COUNTS = np.array([5, 9, 2])
EXACT = WORKLOAD.nodes([np.array([0, 2, 4]), np.array([0, 2, 1])], COUNTS)
ORDER = tuple(Fraction(level) for level in (4 * 10**7, 16 * 10**7, 9 * 10**7, 10**7))
"""An anchor, a level beyond it, one between the two, and an anchor that is raised."""

SAMPLES = 1500
"""A correlation of independent draws is -1/2 and below, which is 19 deviations of its own."""

TRIALS = 2500
NOISE = Gaussian(granularity=Fraction(1))


def _shown(drawer: Drawer, label: str) -> NDArray[np.float64]:
    """Return the noise of the answers, by level from the most accurate."""
    path = drawer(NOISE, np.tile(EXACT, SAMPLES), ORDER, keyed_streams(label))
    plain = WORKLOAD.answers(EXACT.astype(float))
    return np.array(
        [
            [
                WORKLOAD.answers(noisy) - plain
                for noisy in path[level].reshape(SAMPLES, -1).astype(float)
            ]
            for level in sorted(path)
        ]
    )


def _p_value(noise: NDArray[np.float64]) -> float:
    """Return the least p-value of variances and of correlations with what is added."""
    levels = np.array([float(level) for level in sorted(ORDER)])
    squares = (noise**2).sum(axis=1) / np.multiply.outer(levels, WORKLOAD.variances)
    values = [2 * min(stats.chi2.cdf(s, SAMPLES), stats.chi2.sf(s, SAMPLES)) for s in squares.flat]
    for accurate, noisy in pairwise(noise):
        for answer in range(noise.shape[2]):
            for other in range(noise.shape[2]):
                added = noisy[:, other] - accurate[:, other]
                values.append(stats.pearsonr(accurate[:, answer], added).pvalue)
    return float(min(values)) * len(values)


def test_answers_of_three_tiers_reveal_no_more_than_those_of_the_best() -> None:
    accept(_p_value(_shown(lossless, "workloads")), "answers by tier")


def test_answers_of_independent_draws_are_refused() -> None:
    assert rejects(_p_value(_shown(redrawn, "workloads, drawn again")))


def test_answers_with_other_variances_than_stated_are_refused() -> None:
    """A seventh more noise than the stated variances have."""
    assert rejects(_p_value(_shown(lossless, "workloads") * 1.15))


def _missing(variance: int, narrower: float = 1) -> float:
    """Return the least p-value of intervals that miss no more often than they say."""
    many = np.tile(EXACT, TRIALS)
    streams = keyed_streams(f"intervals of answers at {variance}")
    drawn = released(NOISE, draw_anchor(NOISE, many, Fraction(variance), streams()))
    bars = NOISE.error(Fraction(variance), 0.95)
    error = ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
    truth = WORKLOAD.answers(EXACT.astype(float))
    missed = np.zeros(WORKLOAD.count, dtype=int)
    for values in drawn.reshape(TRIALS, -1).astype(float):
        shown = answers_of(KEYS, WORKLOAD, values, error)
        for place, (each, exact) in enumerate(zip(shown, truth, strict=True)):
            assert each.value is not None
            assert each.upper is not None
            missed[place] += abs(each.value - exact) > narrower * (each.upper - each.value)
    return float(stats.binom.sf(missed - 1, TRIALS, 0.05).min()) * WORKLOAD.count


@pytest.mark.parametrize("variance", [10**5, 10**7, 10**10])
def test_intervals_miss_no_more_often_than_they_say(variance: int) -> None:
    accept(_missing(variance), f"intervals of answers at {variance}")
    assert rejects(_missing(variance, narrower=0.75))
