"""Test that marginals of several tiers, drawn in any order, are points of one path of noise.

What a more private tier is shown is what a more accurate one is shown and noise that is independent
of it: so readers of several tiers learn what the most accurate of them learns.
"""

from fractions import Fraction
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy import stats
from tests.statistical.checks import accept, rejects
from tests.statistical.processes.paths import Drawer, keyed_streams, lossless, redrawn

from penstock.mechanisms import Gaussian
from penstock.structures.marginals.lattice import Marginals, up_to
from penstock.structures.marginals.tables import counted, reconstructed

TABLES = Marginals((2, 3), up_to(2, 2))
ORDER = tuple(Fraction(level) for level in (4 * 10**7, 16 * 10**7, 9 * 10**7, 10**7))
"""An anchor, a level beyond it, one between the two, and an anchor that is raised."""

SAMPLES = 1500
"""A correlation of independent draws is -1/2 and below, which is 19 deviations of its own."""

WANTED = (0, 1)


def _shown(drawer: Drawer, label: str) -> NDArray[np.float64]:
    """Return a marginal's noise, by level from the most accurate: (levels, samples, cells)."""
    exact = counted(TABLES, [np.array([0, 1, 1]), np.array([0, 2, 1])], np.array([5, 9, 2]))
    many = np.tile(exact, SAMPLES)
    path = drawer(Gaussian(granularity=Fraction(1)), many, ORDER, keyed_streams(label))
    plain = reconstructed(TABLES, exact.astype(float))[WANTED]
    return np.array(
        [
            [
                (reconstructed(TABLES, noisy)[WANTED] - plain).ravel()
                for noisy in path[level].reshape(SAMPLES, -1).astype(float)
            ]
            for level in sorted(path)
        ]
    )


def _p_value(noise: NDArray[np.float64]) -> float:
    """Return the least p-value of variances and of correlations with what is added."""
    stated = float(TABLES.variance(WANTED)) * np.array([float(level) for level in sorted(ORDER)])
    squares = (noise**2).sum(axis=1) / stated[:, None]
    found = [2 * min(stats.chi2.cdf(s, SAMPLES), stats.chi2.sf(s, SAMPLES)) for s in squares.flat]
    for accurate, noisy in pairwise(noise):
        for cell in range(noise.shape[2]):
            for other in range(noise.shape[2]):
                added = noisy[:, other] - accurate[:, other]
                found.append(stats.pearsonr(accurate[:, cell], added).pvalue)
    return float(min(found)) * len(found)


def test_marginals_of_three_tiers_reveal_no_more_than_those_of_the_best() -> None:
    accept(_p_value(_shown(lossless, "marginals")), "marginals by tier")


def test_marginals_of_independent_draws_are_found_out() -> None:
    assert rejects(_p_value(_shown(redrawn, "marginals, drawn again")))
