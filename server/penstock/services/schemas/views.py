"""Describe what the services return: the shapes that callers see, and nothing more.

They are plain frozen dataclasses, so that the HTTP layer can write them as JSON and derive their
schema, and the command line can print them.  Field names are part of the public API.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, WithJsonSchema

from penstock.services.schemas.estimates.covariance import (
    AnswersCovarianceView,
    CovarianceView,
    SizeView,
)
from penstock.services.schemas.estimates.marginals import MarginalView, ReportView
from penstock.services.schemas.estimates.quantiles import BinnedCountsView, DistributionView
from penstock.services.schemas.histograms import HistogramView
from penstock.services.schemas.wordings.wordings import StatisticWordingView, WordingView
from penstock.transparency_log.views import ReceiptView

Values = Annotated[
    NDArray[np.float64], WithJsonSchema({"type": "array", "items": {"type": "number"}})
]
Key = str | int | list[str]
Keys = Annotated[
    list[Key] | NDArray[np.int64] | NDArray[np.uint64],
    WithJsonSchema(TypeAdapter(list[Key]).json_schema()),
]
"""The keys of a vector; without keys, its positions as an array (a list would outweigh the
values)."""


@dataclass(frozen=True)
class PrivacyBudget:
    """Hold an amount of privacy loss: (epsilon, delta)."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class DatasetView(WordingView):
    """Hold a dataset as it was declared, without any of its data.

    Of several versions it is the newest.  ``disjoint_units`` says whether an admin stated that
    nobody in it is in any earlier one.  ``declaration`` is the number of its declarations: 1
    unless it was corrected.  ``same_people_as`` are the datasets that were declared to hold the
    same people, as far as the caller may see them.  ``notices`` are for the admin who registers
    it, and empty elsewhere.
    """

    name: str
    version: int
    sentence: str
    declaration: int
    disjoint_units: bool
    source: dict[str, Any]
    privacy_unit: Any
    neighboring: str
    delta: float
    accountant: str
    columns: dict[str, Any]
    budgets: dict[str, PrivacyBudget]
    registered_at: datetime
    same_people_as: list[str] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class DummyView:
    """Hold made-up rows, by the names of the declared columns; they reveal nothing of the data."""

    items: list[dict[str, Any]]
    next_cursor: None = None


@dataclass(frozen=True)
class LevelView:
    """Hold a noise level, in the unit of its mechanism's parameter."""

    parameter: str
    value: float


@dataclass(frozen=True)
class GuaranteeView:
    """Hold the guarantee of a release; ``pure_epsilon`` is that of Laplace noise at every delta."""

    definition: str
    epsilon: float
    delta: float
    rho: float | None = None
    mu: float | None = None
    pure_epsilon: float | None = None


@dataclass(frozen=True)
class ErrorView:
    """Hold the error of one value: its standard deviation and margin of error."""

    standard_deviation: float
    confidence: float
    half_width: float


@dataclass(frozen=True)
class ErrorsView:
    """Hold the error of each value, at the confidence of the field ``error``."""

    standard_deviations: Values
    half_widths: Values


@dataclass(frozen=True)
class SensitivityView:
    """Hold the sensitivity: how far one privacy unit can move the vector, in three norms."""

    l1: float
    l2: float
    linf: float


@dataclass(frozen=True)
class ComposedView:
    """Hold what independent levels of one query reveal together, beyond the most accurate.

    ``levels`` are in the unit of the mechanism's parameter, the most accurate first, and
    ``epsilon`` is that of their composition at ``delta``.
    """

    levels: list[float]
    epsilon: float
    delta: float


@dataclass(frozen=True)
class TierLevelView:
    """Hold a query's level at one tier, with what it means.

    ``guarantee`` is that of one release.  ``composed`` is that of all that the tier was ever
    allowed to see of the query, which is what it is charged for; null if levels are lossless, so
    that the most accurate one reveals all.  ``histogram`` belongs to sparse histograms.
    """

    tier: str
    level: LevelView
    guarantee: GuaranteeView
    error: ErrorView
    composed: ComposedView | None = None
    histogram: HistogramView | None = None


@dataclass(frozen=True)
class OwnQueryView:
    """Hold the tier under whose allowance an analyst registered a query, and who it was.

    ``by`` is for admins and auditors, null for all others.
    """

    tier: str
    by: str | None


@dataclass(frozen=True)
class QueryView(StatisticWordingView):
    """Hold a registered query, down to the tiers that the caller may see.

    ``dimension`` is the number of values that are drawn, for means two for each key.  For means
    the ``error`` of a tier is that of the centered sum of one key: over n rows the standard
    deviation of the mean is 1/n to sqrt(2)/n of it.

    ``lossless`` says whether releases at several levels reveal no more than the most accurate of
    them.  It is false for generalized Gaussian noise, whose power is ``p`` (else null): its
    levels are independent draws, only at the levels of tiers; they add up, and a later one reads
    the data again and is charged again.

    ``read_states`` are the engine's names of the states of the rows that were read, one for each
    reading that was drawn from.  They tell how much is written where the rows are, which no charge
    covers, so they are for admins and auditors: empty for all others, and where the engine has no
    such name or the dataset's version says which rows were read.

    ``allowance`` is null for a query that an admin registered.
    """

    name: str
    dataset: str
    dataset_version: int
    mechanism: str
    p: float | None
    lossless: bool
    status: str
    dimension: int
    granularity: float
    sensitivity: SensitivityView
    asserted_by: str | None
    sentence: str
    spec: dict[str, Any]
    spec_sql: str | None
    sql: str | None
    sql_sha256: str | None
    read_states: list[str]
    tiers: list[TierLevelView]
    registered_at: datetime
    allowance: OwnQueryView | None = None


@dataclass(frozen=True)
class MeanPartsView:
    """Hold the noisy sums and counts from which the means of a release were computed, by key.

    For each key a noisy sum of (value - ``middle``) and a noisy count are drawn; the mean
    is ``middle`` + sum / count.  ``lower`` and ``upper`` are the ends of its interval at
    the release's confidence; ``sum_error`` and ``count_error`` are those of each sum and
    each count.
    """

    lower: Values
    upper: Values
    middle: float
    centered_sums: Values
    sum_error: ErrorView
    counts: Values
    count_error: ErrorView


@dataclass(frozen=True)
class ColumnScaleView:
    """Hold where a column's values lie: ``half_width`` or less to either side of ``middle``."""

    name: str
    middle: float
    half_width: float


@dataclass(frozen=True)
class ProductsView:
    """Hold how the values of moments are read: sums of products of numbers in [-1, 1].

    ``outcome`` belongs to a regression, and is the last of ``columns``; ``rows_per_unit`` is the
    most rows of one privacy unit in a group.  Those of ``order`` 1 are the count and the sums.
    ``weights`` has one for each number of a group: the noise of a number is divided by its own.
    """

    columns: list[ColumnScaleView]
    outcome: str | None
    rows_per_unit: int
    order: int
    weights: list[int]


@dataclass(frozen=True)
class EstimateView:
    """Hold a statistic that was estimated from a release, for the group ``key``.

    Its interval has the confidence of the release's error.  ``interval`` is ``noise`` if it is
    about the rows in the data, ``population`` if about what they are a sample of.  The numbers are
    null where the noise of this level is too large for any, or too few units are a sample.
    """

    name: str
    key: Key | None
    value: float | None
    lower: float | None
    upper: float | None
    standard_deviation: float | None
    interval: str


@dataclass(frozen=True)
class PartView:
    """Hold which values of a release are shown: those from ``first`` to ``last``, of ``count``.

    Positions count from 0, and both are included; both are null if no value is shown.
    """

    first: int | None
    last: int | None
    count: int


@dataclass(frozen=True)
class ReleaseView:
    """Hold a release as its reader has it.

    ``mean`` belongs to queries for means alone: ``values`` are then the means, and ``error``
    applies to the worst of them.  ``errors`` belongs to counts that are released with the size of
    their population: ``error`` applies to the counts, and not to the size.  ``histogram`` belongs
    to sparse histograms alone: ``keys`` are then those that were reported.  ``moments`` and
    ``estimates`` belong to moments and regressions; ``quantiles``, ``distributions`` and
    ``estimates`` to quantiles; ``marginals``, and ``report`` with their forms, to marginals.
    ``part`` says which of its values are here; None for all of them.  ``covariance`` belongs to
    values whose noise is not independent, ``answers_covariance`` to the estimates of a workload,
    ``size`` to counts shown with another release's size.
    """

    id: str
    query: str
    dataset: str
    tier: str
    mechanism: str
    level: LevelView
    guarantee: GuaranteeView
    granularity: float
    keys: Keys
    values: Values
    error: ErrorView
    asserted_by: str | None
    released_at: datetime
    receipt: ReceiptView
    mean: MeanPartsView | None = None
    errors: ErrorsView | None = None
    histogram: HistogramView | None = None
    moments: ProductsView | None = None
    estimates: list[EstimateView] | None = None
    marginals: list[MarginalView] | None = None
    report: ReportView | None = None
    part: PartView | None = None
    quantiles: BinnedCountsView | None = None
    distributions: list[DistributionView] | None = None
    covariance: CovarianceView | None = None
    answers_covariance: AnswersCovarianceView | None = None
    size: SizeView | None = None


@dataclass(frozen=True)
class HistoryItemView:
    """Hold one hand-out of a release to one user, without its values."""

    id: str
    user: str
    query: str
    dataset: str
    tier: str
    mechanism: str
    level: LevelView
    guarantee: GuaranteeView
    error: ErrorView
    released_at: datetime
    receipt: ReceiptView


@dataclass(frozen=True)
class EventView:
    """Hold one leaf of the log, with its index and hash."""

    index: int | None
    leaf_hash: str
    leaf: dict[str, Any]
