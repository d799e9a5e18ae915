"""Define how many values a check needs, so that it rejects a broken variant all but certainly.

A check reads its p-value at ``FALSE_ALARM``, which fixes how often it rejects what is right.
How often it misses what is wrong depends on the number of values, which is calculated here: a
chi-squared statistic of ``n`` values of another law is noncentral, and its noncentrality is the
statistic that the expected counts of that law would have.
"""

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.statistical.checks import FALSE_ALARM, Cells, Pmf, pooled

MISSED = 1e-6
"""The largest probability of a broken variant's slipping through one check."""

LEAST = 1 << 16
"""Values that any check of a vector has: they cost next to nothing."""

every_size = pytest.mark.parametrize(
    "large", [False, pytest.param(True, marks=pytest.mark.nightly)], ids=["sized", "large"]
)
"""Runs a test with the values that it needs, and every night with the many that it can have."""


def masses_over(cells: Cells, law: Pmf) -> NDArray[np.float64]:
    """Return the probability of each of ``cells`` under ``law``."""
    values = law.first + np.arange(len(law.masses))
    masses = np.bincount(cells.of(values), law.masses, minlength=len(cells.masses))
    return np.asarray(masses, dtype=np.float64)


def enough(right: NDArray[np.float64], wrong: NDArray[np.float64], most: int) -> int:
    """Return ``sample_size``, at least ``LEAST`` and at most ``most``, the large sample."""
    return min(most, max(LEAST, sample_size(right, wrong)))


def power(right: NDArray[np.float64], wrong: NDArray[np.float64], size: int) -> float:
    """Return how often ``size`` values of the law ``wrong`` are told from ``right``.

    Both are the probabilities of cells.
    """
    counts, wanted = pooled(wrong * size, right * size)
    return power_of(float(((counts - wanted) ** 2 / wanted).sum()), len(wanted))


def power_of(noncentrality: float, cells: int) -> float:
    """Return the power of a check from the noncentrality and the number of cells."""
    if cells == 1:
        return 0.0
    critical = stats.chi2.isf(FALSE_ALARM, cells - 1)
    return float(stats.ncx2.sf(critical, cells - 1, noncentrality))


def sample_size(right: NDArray[np.float64], wrong: NDArray[np.float64]) -> int:
    """Return at how many values ``wrong`` is missed by ``MISSED`` at most, to within 5%."""
    size = 1_000
    while power(right, wrong, size) < 1 - MISSED:
        size += size // 20
    return size


def sample_size_of_mean(deviations: float, tests: int = 1) -> int:
    """Return the size for a normal mean off by ``deviations`` of a value, worst of ``tests``."""
    critical = stats.norm.isf(FALSE_ALARM / (2 * tests))
    return int(np.ceil(((critical + stats.norm.isf(MISSED)) / deviations) ** 2))
