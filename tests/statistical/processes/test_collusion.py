"""Test that pooling releases tells no more than the most accurate of them.

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
from tests.statistical.processes.paths import Drawer, keyed_streams, lossless, redrawn, stale, zeros
from tests.statistical.sample_sizes import every_size

BATCH = 1 << 16
LARGE = 20
"""Batches, so that the large sample has 1.3 million values."""

TOLERANCE = 0.01
"""One batch is enough: of 16 right releases the ratio is ``1 - b``, ``b`` of the law
Beta(15/2, (BATCH - 15)/2), and above a hundredth with a probability below 1e-100.  A gain of
1.5% is missed with one below 1e-6; the broken paths gain 15% and more."""
COALITIONS = (2, 3, 4, 8, 16)


def _order(case: Case) -> list[Fraction]:
    """Return the anchor first, which nobody in the coalition holds, then the others mixed up."""
    others = range(1, len(case.coalition))
    return [case.coalition[0], *(case.coalition[1 + place * 5 % len(others)] for place in others)]


def _second_moments(case: Case, drawer: Drawer, *, large: bool) -> NDArray[np.float64]:
    """Return mean products of errors, the best release first: shape ``(16, 16)``."""
    streams = keyed_streams(f"collusion/{case.name}/{drawer.__name__}")
    levels = case.coalition[1:]
    total = np.zeros((len(levels), len(levels)))
    batches = LARGE if large else 1
    for _ in range(batches):
        path = drawer(case.mechanism, zeros(BATCH), _order(case), streams)
        errors = np.stack([path[level] - _bias(case, level) for level in levels])
        total += errors @ errors.T
    moments: NDArray[np.float64] = total / (BATCH * batches)
    return moments


def _bias(case: Case, level: Fraction) -> float:
    return float(case.mechanism.bias(level) / case.mechanism.granularity)


def _gains(moments: NDArray[np.float64], sizes: Sequence[int]) -> list[float]:
    """Return the best combination's mean squared error over the best release's, paired."""
    ratios = []
    for size in sizes:
        members = moments[:size, :size]
        pooled = 1 / np.linalg.solve(members, np.ones(size)).sum()
        ratios.append(float(pooled / members[0, 0]))
    return ratios


@every_size
@every_case
def test_a_coalition_gains_nothing_over_its_best_member(case: Case, *, large: bool) -> None:
    assert BATCH * LARGE >= 1_300_000
    ratios = _gains(_second_moments(case, lossless, large=large), COALITIONS)
    assert all(1 - TOLERANCE <= ratio <= 1 + 1e-9 for ratio in ratios), ratios


@every_size
@every_case
@pytest.mark.parametrize("drawer", [stale, redrawn], ids=["stale neighbors", "redrawn"])
def test_broken_paths_let_a_coalition_gain(case: Case, drawer: Drawer, *, large: bool) -> None:
    ratios = _gains(_second_moments(case, drawer, large=large), COALITIONS)
    assert all(ratio < 1 - TOLERANCE for ratio in ratios), ratios
    assert ratios == sorted(ratios, reverse=True)
