"""Measure how noisy estimates are with the chosen weights, over equal ones at the same charge."""

import math
from collections.abc import Sequence

import numpy as np
from tests.benchmarks.figures import Figure

from penstock.connectors.planning.moments.products import Products as Given
from penstock.connectors.planning.moments.weights import weighted, weights_of
from penstock.connectors.planning.plan import pairs
from penstock.connectors.specs.moments import Moments, Regression
from penstock.services.noise.estimates.moments import moments
from penstock.services.noise.estimates.products import Estimate, Numbers, Products, Scale
from penstock.services.noise.estimates.regression import regression

COLUMNS = (1, 2, 3, 5, 8, 12)
WHERE = {"evenly between the bounds": (0.0, 1 / 3), "nearer to one bound": (-0.5, 0.1)}
"""The mean and the variance of every column between -1 and 1."""

CORRELATION, ROWS = 0.3, 10**6
SHOWN = {
    "n": "the count",
    "mean:x0": "a mean",
    "variance:x0": "a variance",
    "covariance:x0,x1": "a covariance",
    "correlation:x0,x1": "a correlation",
    "coefficient:x0": "a slope",
}


def measure() -> Sequence[Figure]:
    """Return the ratios of standard deviations, where one row is added or removed."""
    figures = []
    for where, (mean, variance) in WHERE.items():
        for columns in COLUMNS:
            for kind in ("moments", "regression"):
                if kind == "moments" or columns > 1:
                    ratios = _ratios(kind, columns, mean, variance)
                    of = f"{kind} of {columns}, {where}"
                    figures += [
                        Figure(f"{of}: {name}", value, "") for name, value in ratios.items()
                    ]
    return figures


def _ratios(kind: str, columns: int, mean: float, variance: float) -> dict[str, float]:
    names = tuple(f"x{place}" for place in range(columns))
    of: Moments | Regression = (
        Moments(type="moments", columns=names)
        if kind == "moments"
        else Regression(type="regression", outcome=names[-1], predictors=names[:-1])
    )
    numbers = _numbers(columns, mean, variance)
    own, equal = (
        _estimated(kind, numbers, names, weights)
        for weights in (weights_of(weighted(of, "gaussian")), ())
    )
    return {
        SHOWN[name]: own[name] / equal[name]
        for name in equal
        if name in SHOWN and (kind == "moments" or name.startswith(("n", "coef")))
    }


def _numbers(columns: int, mean: float, variance: float) -> Numbers:
    """Return the sums of products of columns that are all correlated alike."""
    between = variance * (CORRELATION + (1 - CORRELATION) * np.eye(columns)) + mean**2
    sums = np.full(columns, mean)
    matrix = np.block([[np.ones((1, 1)), sums[None]], [sums[:, None], between]])
    return np.array([ROWS * matrix[place] for place in pairs(columns)])


def _estimated(
    kind: str, numbers: Numbers, names: Sequence[str], weights: tuple[int, ...]
) -> dict[str, float]:
    """Return the standard deviations of estimates, at one rho."""
    moved = Given(len(names), 1, 1, scaled=False, weights=weights).given.l2_squared
    of = Products(numbers, len(names), math.sqrt(moved), 2, 1, sampling=False, weights=weights)
    scales = [Scale(name, 0, 1) for name in names]
    found: list[Estimate] = (moments if kind == "moments" else regression)(of, scales)
    return {each.name: each.standard_deviation or math.nan for each in found}
