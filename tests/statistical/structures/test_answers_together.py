"""Test that intervals of what is computed from a workload's answers hold as often as they say.

Answers are combinations of the same sums, so that a difference or a ratio of two has an interval by
their joint covariance.  For Gaussian noise its coverage is the confidence itself.
"""

from dataclasses import replace
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from tests.statistical.checks import accept, frequency, rejects
from tests.statistical.processes.paths import keyed_streams
from tests.unit.services.noise.derived.released import NORMAL, release_of

from penstock.connectors.planning.domain import WorkloadKeys
from penstock.mechanisms import Gaussian, draw_anchor, released
from penstock.services.noise.derived.answers import answered
from penstock.services.noise.derived.quantities import Derived, combination, ratio
from penstock.services.noise.estimates.workloads import answers_of, covariance_of
from penstock.services.schemas.views import ErrorView, ReleaseView
from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import Given, Spans

WARDS = Factor(Given(((1, 0, 0), (1, 1, 1))), Given(((1, 0, 0), (0, 1, 1), (1, 1, 0), (0, 0, 1))))
WORKLOAD = Workload((Factor(Spans("prefix", 8), Spans("tree", 8)), WARDS))
KEYS = WorkloadKeys(("age", "ward"), (tuple("abcdefgh"), tuple("xyz")), WORKLOAD)
CELLS = np.array([9000 + 350 * place for place in range(24)])
EXACT = WORKLOAD.nodes(np.unravel_index(np.arange(24), (8, 3)), CELLS)
CONFIDENCE = 0.95
TRIALS = 4000
NOISE = Gaussian(granularity=Fraction(1))


def _weights(*places: tuple[int, float]) -> np.ndarray:
    weights = np.zeros(WORKLOAD.count)
    for place, weight in places:
        weights[place] = weight
    return weights


LATER, EARLIER = _weights((9, 1), (7, -1)), _weights((7, 1))
"""Who came in one part of the ages, and all up to it."""


@cache
def _drawn(variance: int) -> tuple[ReleaseView, ...]:
    """Return many releases of the answers."""
    stream = keyed_streams(f"answers together at {variance}")()
    drawn = released(NOISE, draw_anchor(NOISE, np.tile(EXACT, TRIALS), Fraction(variance), stream))
    bars = NOISE.error(Fraction(variance), CONFIDENCE)
    error = ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
    assert bars.half_width == pytest.approx(NORMAL * bars.standard_deviation, rel=1e-3)
    given = release_of(*EXACT.tolist(), keys=KEYS[:], error=error, granularity=1.0)
    joint = covariance_of(KEYS, WORKLOAD, error)
    return tuple(
        answered(
            replace(
                given,
                values=row,
                estimates=answers_of(KEYS, WORKLOAD, row, error),
                answers_covariance=joint,
            )
        )
        for row in drawn.reshape(TRIALS, -1).astype(float)
    )


def _quantities(view: ReleaseView) -> tuple[Derived, Derived]:
    return combination(view, LATER), ratio(view, LATER, EARLIER)


def _p_value(views: tuple[ReleaseView, ...]) -> float:
    """Return the least p-value of the coverage of a difference and of a ratio."""
    answers = WORKLOAD.answers(EXACT.astype(float))
    later, earlier = float(LATER @ answers), float(EARLIER @ answers)
    hits = [0, 0]
    for view in views:
        for place, (shown, exact) in enumerate(
            zip(_quantities(view), (later, later / earlier), strict=True)
        ):
            hits[place] += shown.lower <= exact <= shown.upper
    return 2 * min(frequency(each, len(views), CONFIDENCE) for each in hits)


@pytest.mark.parametrize("variance", [10**5, 10**6, 10**7])
def test_differences_and_ratios_of_answers_are_held_as_often_as_they_say(variance: int) -> None:
    accept(_p_value(_drawn(variance)), f"answers together at {variance}")


def test_answers_that_are_taken_as_independent_are_found_out() -> None:
    apart = tuple(replace(view, answers_covariance=None) for view in _drawn(10**5))
    assert rejects(_p_value(apart))
