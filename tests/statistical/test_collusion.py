"""Pooling releases tells no more than the most accurate of them.

The strongest linear attack: the unbiased combination of a coalition's releases with the
least mean squared error, its weights taken from the errors themselves, which no real
attacker knows.  Under the right law it has all its weight on the best release.
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.statistical.cases import Case, every_case
from tests.statistical.paths import Drawer, keyed_streams, lossless, redrawn, stale, zeros

BATCH = 1 << 16
BATCHES = 20
TOLERANCE = 0.01
COALITIONS = (2, 3, 4, 8, 16)


def _order(case: Case) -> list[Fraction]:
    """The anchor first, which nobody in the coalition holds, then the others mixed up."""
    others = range(1, len(case.coalition))
    return [case.coalition[0], *(case.coalition[1 + place * 5 % len(others)] for place in others)]


def _second_moments(case: Case, drawer: Drawer) -> NDArray[np.float64]:
    """Mean products of errors, the best release first: shape ``(16, 16)``."""
    streams = keyed_streams(f"collusion/{case.name}/{drawer.__name__}")
    levels = case.coalition[1:]
    total = np.zeros((len(levels), len(levels)))
    for _ in range(BATCHES):
        path = drawer(case.mechanism, zeros(BATCH), _order(case), streams)
        errors = np.stack([path[level] - _bias(case, level) for level in levels])
        total += errors @ errors.T
    moments: NDArray[np.float64] = total / (BATCH * BATCHES)
    return moments


def _bias(case: Case, level: Fraction) -> float:
    return float(case.mechanism.bias(level) / case.mechanism.granularity)


def _gains(moments: NDArray[np.float64], sizes: Sequence[int]) -> list[float]:
    """Mean squared error of the best combination over that of the best release, paired."""
    ratios = []
    for size in sizes:
        members = moments[:size, :size]
        pooled = 1 / np.linalg.solve(members, np.ones(size)).sum()
        ratios.append(float(pooled / members[0, 0]))
    return ratios


@every_case
def test_a_coalition_gains_nothing_over_its_best_member(case: Case) -> None:
    assert BATCH * BATCHES >= 1_300_000
    ratios = _gains(_second_moments(case, lossless), COALITIONS)
    assert all(1 - TOLERANCE <= ratio <= 1 + 1e-9 for ratio in ratios), ratios


@every_case
@pytest.mark.parametrize("drawer", [stale, redrawn], ids=["stale neighbors", "redrawn"])
def test_broken_paths_let_a_coalition_gain(case: Case, drawer: Drawer) -> None:
    ratios = _gains(_second_moments(case, drawer), COALITIONS)
    assert all(ratio < 1 - TOLERANCE for ratio in ratios), ratios
    assert ratios == sorted(ratios, reverse=True)
