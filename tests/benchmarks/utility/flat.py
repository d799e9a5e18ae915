"""Release the statistics of a study by a flat split: each number with Gaussian noise of its own.

Everything that a statistic needs gets an equal part of the budget, and every tier a release of its
own.  The noise is the smallest that the exact privacy curve allows, as Penstock's is: what is
better or worse is due to the structure alone.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.stats import norm
from tests.benchmarks.utility.penstock_side import DELTA
from tests.benchmarks.utility.studies import Study

from penstock.randomness import Stream


def mu_for(epsilon: float, delta: float) -> float:
    """Return the largest mu of Gaussian noise whose curve has ``delta`` at ``epsilon``.

    It is exact (Balle, Wang 2018, Theorem 8); mu is the sensitivity over the standard deviation.
    """

    def excess(mu: float) -> float:
        lost = norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu)
        return float(lost) - delta

    return float(brentq(excess, 1e-6, 50.0, xtol=1e-12))


def parts(epsilon: float, ratios: Sequence[float]) -> list[float]:
    """Return each tier's mu: all releases together have ``epsilon`` at ``DELTA``.

    Squares of mu add up over releases (Dong, Roth, Su 2022, Corollary 3.3).
    """
    mu = mu_for(epsilon, DELTA)
    weights = [ratio**2 for ratio in ratios]
    return [mu * (weight / sum(weights)) ** 0.5 for weight in weights]


def median(study: Study, mu: float, stream: Stream) -> float:
    """Return the median of a histogram whose bins have noise each."""
    edges = study.edges()
    exact, _ = np.histogram(study.columns[study.median_of], edges)
    totals = np.cumsum(exact + _noise(stream, 1 / mu, exact.size))
    place = int(np.argmax(totals >= totals[-1] / 2))
    return float((edges[place] + edges[place + 1]) / 2)


def slope(study: Study, mu: float, stream: Stream) -> float:
    """Return the slope of least squares from five noisy sums of columns in [-1, 1]."""
    x, y = (_scaled(study, name) for name in (study.predictor, study.outcome))
    exact = np.array([x.size, x.sum(), y.sum(), x @ x, x @ y])
    n, of_x, of_y, of_xx, of_xy = exact + _noise(stream, 5**0.5 / mu, 5)
    found = (n * of_xy - of_x * of_y) / (n * of_xx - of_x**2)
    widths = [np.ptp(study.bounds[name]) for name in (study.outcome, study.predictor)]
    return float(found * widths[0] / widths[1])


def tables(study: Study, mu: float, stream: Stream) -> list[NDArray[np.float64]]:
    """Return all two-way tables, whose cells have noise each."""
    deviation = len(study.pairs) ** 0.5 / mu
    return [exact + _noise(stream, deviation, exact.size) for exact in study.tables()]


def _scaled(study: Study, name: str) -> NDArray[np.float64]:
    lower, upper = study.bounds[name]
    return (2 * np.clip(study.columns[name], lower, upper) - lower - upper) / (upper - lower)


def _noise(stream: Stream, deviation: float, size: int) -> NDArray[np.float64]:
    return deviation * stream.generator.standard_normal(size)
