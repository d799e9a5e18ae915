"""Describe the covariance of values whose noise is not independent, as it is answered.

All numbers are in squared units of the values, at the level of the release.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class GroupedCountsView:
    """Hold the covariance of counts that are protected together.

    Groups follow each other, and are independent.  Within one each count has ``variance``, and two
    of them have ``covariance``.  If the last value of a group is the size of its population,
    ``size_variance`` is that value's and ``size_covariance`` that of it and a count.
    """

    values_per_group: int
    variance: float
    covariance: float
    size_variance: float | None
    size_covariance: float | None


@dataclass(frozen=True)
class SizeView:
    """Name the release whose value is the size that counts are shown with, and its noise."""

    release: str
    query: str
    mechanism: str


@dataclass(frozen=True)
class ResidualView:
    """Hold the variance of the independent noise that the table of ``columns`` adds."""

    columns: list[str]
    variance: float


@dataclass(frozen=True)
class ResidualsView:
    """Hold the noises that all marginals are made of, and how many labels each column has.

    The covariance of a cell of the marginal of columns ``A`` and one of that of ``B`` is the sum
    over the residuals whose columns are in both: each ``variance`` times, for each of its columns,
    ``1 - 1/n`` where both cells have one label and ``-1/n`` else, ``n`` being that column's
    labels; all over the number of cells of ``A`` times that of ``B``.
    """

    labels: Mapping[str, int]
    residuals: list[ResidualView]


@dataclass(frozen=True)
class CovarianceView:
    """Hold the covariance of the values of a release; one of its fields is not null."""

    grouped_counts: GroupedCountsView | None = None
    marginals: ResidualsView | None = None


@dataclass(frozen=True)
class AnswersCovarianceView:
    """Hold the joint covariance of the answers of a workload, in the order of the estimates.

    An answer belongs to one query of each column, those of the last one varying fastest.  The
    covariance of two is ``variance`` times the product of one number of each of ``factors``, which
    has a square matrix for each column: the one in the row of the one's query and the column of
    the other's.  ``factors`` is null if it is too large, and ``omitted`` says so.
    """

    variance: float
    factors: list[list[list[float]]] | None
    omitted: str | None = None


@dataclass(frozen=True)
class TotalsCovarianceView:
    """Hold which independent noises the totals of a stream are made of, each of ``variance``.

    ``structure`` is the stream's.  In a tree a total has the noises of its nodes; without an end
    those of later epochs have a weight more.  With the square root and with buffers total ``t`` has
    the noise of each step ``s`` up to it, times ``L[t - s]``.  ``L`` has the coefficients of
    ``1/sqrt(1 - x)``, or of ``1/((1 - x) R(x))`` with ``R(x) = 1 + sum of w x/(1 - d x)`` for each
    of ``weights`` and ``decays``, which are null for others.  Totals of both are rounded to the
    granularity.
    """

    structure: Mapping[str, Any]
    variance: float
    weights: list[float] | None = None
    decays: list[float] | None = None
