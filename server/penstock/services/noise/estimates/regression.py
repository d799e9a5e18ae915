"""Estimate the coefficients of least squares from released products.

With ``A`` for the sums of products of the predictors and the constant, and ``b`` for those with the
outcome, the coefficients are ``A^-1 b``.  Noise ``E`` and ``e`` moves them to first order by
``A^-1 (e - E beta)``.  No ridge is added: it would move the coefficients away from those that the
interval is about.  In its place nothing is estimated where the smallest eigenvalue of ``A`` is
within ``FEWEST / 2`` norms of the noise, which is at most about twice the largest norm of a row,
``2 sqrt(d)`` deviations for ``d`` rows of equal weights (Wigner 1955; Bandeira, van Handel 2016 for
others): then noise may have made the matrix singular.

About a population, sampling adds ``s^2 A^-1`` to the covariance, where ``s^2`` is the mean square
of the residuals: that holds if it is the same for all values of the predictors.
"""

from collections.abc import Sequence

import numpy as np

from penstock.connectors.planning.plan import pairs
from penstock.services.noise.estimates.products import (
    FEWEST,
    Estimate,
    Numbers,
    Products,
    Scale,
    unclear,
)


def regression(products: Products, scales: Sequence[Scale]) -> list[Estimate]:
    """Return the estimates of one group, the count first; the last column is the outcome."""
    *predictors, outcome = scales
    names = ["intercept", *(f"coefficient:{scale.name}" for scale in predictors)]
    size = len(scales)
    gram, with_outcome = products.matrix[:size, :size], products.matrix[:size, size]
    smallest = float(np.linalg.eigvalsh(gram)[0])
    if not products.is_clear or smallest < FEWEST * _noise(products, size):
        return [products.estimated_count(), *map(unclear, names)]
    inverse = np.linalg.inv(gram)
    solution = inverse @ with_outcome
    residual = (
        float(products.matrix[size, size]) - float(solution @ with_outcome)
    ) / products.count
    estimates = [products.estimated_count()]
    for name, direction, shift in zip(names, *_directions(predictors, outcome), strict=True):
        weights = inverse @ direction
        estimates.append(
            products.estimated(
                name,
                float(direction @ solution) + shift,
                _gradient(products, weights, solution),
                max(residual, 0.0) * float(direction @ weights),
            )
        )
    return estimates


def _noise(products: Products, size: int) -> float:
    """Return the largest norm of a row of the noise of the predictors' matrix, in the mean."""
    parts = products.gradient()
    for place, weight in zip(
        pairs(products.factors), products.weights or np.ones(len(products.numbers)), strict=True
    ):
        parts[place] = parts[place[::-1]] = products.deviation / weight
    return float(np.linalg.norm(parts[:size, :size], axis=1).max())


def _directions(predictors: Sequence[Scale], outcome: Scale) -> tuple[list[Numbers], list[float]]:
    """Return, by coefficient, what it is of the solution between -1 and 1, and what is added."""
    slopes = [outcome.half_width / scale.half_width for scale in predictors]
    identity = np.eye(len(predictors) + 1)
    intercept = outcome.half_width * identity[0]
    for place, (scale, slope) in enumerate(zip(predictors, slopes, strict=True), 1):
        intercept = intercept - slope * scale.middle * identity[place]
    scaled = [slope * identity[place] for place, slope in enumerate(slopes, 1)]
    return [intercept, *scaled], [outcome.middle, *(0.0 for _ in scaled)]


def _gradient(products: Products, weights: Numbers, solution: Numbers) -> Numbers:
    """Return the gradient of ``weights . (b - A solution)`` in the released numbers."""
    size = len(weights)
    gradient = products.gradient()
    outer = np.outer(weights, solution)
    # A number off the diagonal stands in two places of the matrix.
    gradient[:size, :size] = -(outer + outer.T) + np.diag(np.diag(outer))
    gradient[:size, size] = weights
    return products.flat(gradient)
