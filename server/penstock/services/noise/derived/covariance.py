"""Compute the covariance of weighted sums of the values of a release.

Weights are vectors of shape ``(values,)``, mostly 0; covariances are in squared units of values.
"""

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from penstock.services.noise.derived.answers import AnsweredView
from penstock.services.schemas.estimates.covariance import (
    AnswersCovarianceView,
    GroupedCountsView,
    ResidualsView,
)
from penstock.services.schemas.views import ReleaseView

Weights = NDArray[np.float64]


class Covariance(Protocol):
    """Represent the covariance of the values of one release."""

    def of(self, first: Weights, second: Weights) -> float:
        """Return the covariance of two weighted sums."""
        ...


@dataclass(frozen=True)
class Independent:
    """Hold the variance of each value, of shape ``(values,)`` or one for all."""

    variances: NDArray[np.float64]

    def of(self, first: Weights, second: Weights) -> float:
        """Return the sum of products of weights, times variances."""
        return float(np.sum(first * second * self.variances))


@dataclass(frozen=True)
class Grouped:
    """Hold the covariance of counts in groups, the last of each perhaps the group's size."""

    stated: GroupedCountsView

    def of(self, first: Weights, second: Weights) -> float:
        """Return the covariance: groups are independent, and alike."""
        stated, size = self.stated, self.stated.values_per_group
        matrix = np.full((size, size), stated.covariance)
        np.fill_diagonal(matrix, stated.variance)
        if stated.size_variance is not None:
            matrix[-1] = matrix[:, -1] = stated.size_covariance or 0.0
            matrix[-1, -1] = stated.size_variance
        return float(np.sum(first.reshape(-1, size) @ matrix * second.reshape(-1, size)))


@dataclass(frozen=True)
class Residuals:
    """Hold the independent noises of residuals, and the columns of the tables in order.

    What the residual of some columns adds to two cells has the covariance ``v prod(d - 1/n)`` over
    them, ``d`` being 1 where both have one label (Xiao, He, Zhang, Kifer 2023, ResidualPlanner):
    ``v`` times a product of projections, applied to the weights of cells summed over all other
    columns.
    """

    stated: ResidualsView
    tables: tuple[tuple[str, ...], ...]

    def of(self, first: Weights, second: Weights) -> float:
        """Return the covariance: the sum over all residuals."""
        parts = []
        for residual in self.stated.residuals:
            columns = tuple(residual.columns)
            inner = self._summed(first, columns)
            for axis in range(len(columns)):
                inner = inner - inner.mean(axis=axis, keepdims=True)
            parts.append(residual.variance * float(np.sum(inner * self._summed(second, columns))))
        return math.fsum(parts)

    def _summed(self, weights: Weights, columns: tuple[str, ...]) -> NDArray[np.float64]:
        """Return the weights of cells over the number of cells, by the labels of ``columns``."""
        labels = self.stated.labels
        sums = np.zeros([labels[name] for name in columns])
        shapes = [[labels[name] for name in table] for table in self.tables]
        ends = np.cumsum([0, *map(math.prod, shapes)])
        for table, shape, (start, end) in zip(self.tables, shapes, pairwise(ends), strict=True):
            if not set(columns) <= set(table):
                continue
            block = weights[start:end].reshape(shape)
            kept = [table.index(name) for name in columns]
            others = tuple(axis for axis in range(len(table)) if axis not in kept)
            left = sorted(kept)
            summed = np.asarray(block.sum(axis=others)).transpose([left.index(at) for at in kept])
            sums += summed / math.prod(shape)
        return sums


@dataclass(frozen=True)
class Products:
    """Hold the covariance of answers, each to one query of every column, the last fastest."""

    stated: AnswersCovarianceView

    def of(self, first: Weights, second: Weights) -> float:
        """Return the covariance, along one column after the other."""
        factors = [np.asarray(each) for each in self.stated.factors or ()]
        table = first.reshape([len(each) for each in factors])
        for axis, factor in enumerate(factors):
            table = np.moveaxis(np.tensordot(factor, table, axes=(1, axis)), 0, axis)
        return self.stated.variance * float(np.sum(table.ravel() * second))


def covariance_of(release: ReleaseView) -> Covariance:
    """Return the covariance of the values of a whole release."""
    if isinstance(release, AnsweredView) and release.answers_covariance is not None:
        return Products(release.answers_covariance)
    stated = release.covariance
    if stated is not None and stated.grouped_counts is not None:
        return Grouped(stated.grouped_counts)
    if stated is not None and stated.marginals is not None:
        tables = tuple(tuple(each.columns) for each in release.marginals or ())
        return Residuals(stated.marginals, tables)
    return Independent(deviations_of(release) ** 2)


def deviations_of(release: ReleaseView) -> NDArray[np.float64]:
    """Return the standard deviation of each value, of shape ``(values,)`` or one for all."""
    if release.errors is not None:
        return np.asarray(release.errors.standard_deviations, dtype=np.float64)
    return np.array([release.error.standard_deviation])
