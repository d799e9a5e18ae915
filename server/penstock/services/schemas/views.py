"""What the services answer with: the shapes that callers see, and nothing more.

Plain frozen dataclasses, so that the HTTP layer can write them as JSON, derive their
schema, and the command line can print them.  Field names are part of the public API.
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Any

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, WithJsonSchema

from penstock.services.schemas.histograms import HistogramView
from penstock.transparency_log.views import ReceiptView

Values = Annotated[
    NDArray[np.float64], WithJsonSchema({"type": "array", "items": {"type": "number"}})
]
Key = str | int | list[str]
Keys = Annotated[
    list[Key] | NDArray[np.int64] | NDArray[np.uint64],
    WithJsonSchema(TypeAdapter(list[Key]).json_schema()),
]
"""Of a vector without keys they are its positions, which as a list would outweigh the values."""


@dataclass(frozen=True)
class PrivacyBudget:
    """An amount of privacy loss: (epsilon, delta)."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class DatasetView:
    """A source of records, as its declared spec says; never a cell of it.

    Of several versions it is the newest.  ``disjoint_units`` says whether an admin stated
    that nobody in it is in any earlier one.  ``declaration`` counts how often it was declared:
    1 unless it was corrected.  ``same_people_as`` are the datasets that were declared to hold
    the same people, those that the caller may see.  ``notices`` are for whoever registers it,
    and none elsewhere.
    """

    name: str
    version: int
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
    """Made-up rows, by the names of the declared columns; they say nothing about the data."""

    items: list[dict[str, Any]]
    next_cursor: None = None


@dataclass(frozen=True)
class SpendingView:
    """What one query takes of a tier's budget.

    ``share`` is its part of the tier's additive limit; shares add up, epsilons do not.
    """

    query: str
    share: float


@dataclass(frozen=True)
class TierBudgetView:
    """A tier's account with a dataset.

    ``spent`` is the tight composition of all that the tier could see;
    ``remaining.epsilon`` is that of the largest single Gaussian query that still fits.
    """

    tier: str
    granted: PrivacyBudget
    spent: PrivacyBudget
    remaining: PrivacyBudget
    spent_share: float
    remaining_share: float
    queries: list[SpendingView]


@dataclass(frozen=True)
class VersionBudgetView:
    """The budget of one version of a dataset, tier by tier."""

    version: int
    disjoint_units: bool
    tiers: list[TierBudgetView]


@dataclass(frozen=True)
class OtherBudgetView:
    """The budget of one version of another dataset that holds the same people."""

    dataset: str
    version: int
    disjoint_units: bool
    tiers: list[TierBudgetView]


@dataclass(frozen=True)
class TierTotalView:
    """What a tier was granted and has spent, over the versions that one unit may be in."""

    tier: str
    granted: PrivacyBudget
    spent: PrivacyBudget


@dataclass(frozen=True)
class DatasetBudgetView:
    """The budget of a dataset, tier by tier.

    ``tiers`` have that of the newest version, of which new queries are paid;
    ``together`` is the promise over all versions, and over ``same_people``: the versions of the
    datasets that were declared to hold the same people.
    """

    dataset: str
    version: int
    tiers: list[TierBudgetView]
    earlier: list[VersionBudgetView]
    together: list[TierTotalView]
    same_people: list[OtherBudgetView] = field(default_factory=list)


@dataclass(frozen=True)
class LevelView:
    """A noise level, in the unit of its mechanism's parameter."""

    parameter: str
    value: float


@dataclass(frozen=True)
class GuaranteeView:
    """What a release promises."""

    definition: str
    epsilon: float
    delta: float
    rho: float | None = None
    mu: float | None = None


@dataclass(frozen=True)
class ErrorView:
    """How far off one value may be."""

    standard_deviation: float
    confidence: float
    half_width: float


@dataclass(frozen=True)
class ErrorsView:
    """How far off each value may be, at the confidence of the error beside them."""

    standard_deviations: Values
    half_widths: Values


@dataclass(frozen=True)
class SensitivityView:
    """How far one privacy unit can move the vector."""

    l1: float
    l2: float
    linf: float


@dataclass(frozen=True)
class ComposedView:
    """What independent levels of one query tell together, beyond the most accurate of them.

    ``levels`` are in the unit of the mechanism's parameter, the most accurate first, and
    ``epsilon`` is that of their composition at ``delta``.
    """

    levels: list[float]
    epsilon: float
    delta: float


@dataclass(frozen=True)
class TierLevelView:
    """A query's level at one tier, with what it means.

    ``guarantee`` is that of one release.  ``composed`` is of all that the tier was ever
    allowed to see of the query, which is what it pays for; null where levels are lossless,
    so that the most accurate one tells all.  ``histogram`` belongs to sparse histograms.
    """

    tier: str
    level: LevelView
    guarantee: GuaranteeView
    error: ErrorView
    composed: ComposedView | None = None
    histogram: HistogramView | None = None


@dataclass(frozen=True)
class QueryView:
    """A registered query, down to the tiers that the caller may see.

    ``dimension`` is how many numbers are drawn, for means two for each key.  Of means the
    ``error`` of a tier is that of the centered sum of one key: over n rows the mean is off
    by 1/n to sqrt(2)/n of its standard deviation.

    ``lossless`` says whether releases at several levels tell no more than the most accurate
    of them.  It is false for generalized Gaussian noise, whose power is ``p`` (else null):
    its levels are independent draws at the levels of tiers alone, they add up, and a later
    one reads the data again and is charged anew.
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
    spec: dict[str, Any]
    sql: str | None
    sql_sha256: str | None
    tiers: list[TierLevelView]
    registered_at: datetime


@dataclass(frozen=True)
class MeanPartsView:
    """What the means of a release were read from, key by key.

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
class ReleaseView:
    """A release as its reader holds it.

    ``mean`` belongs to queries for means alone: ``values`` are then the means, and
    ``error`` holds for the worst of them.  ``errors`` belongs to counts that are released
    with the size of their population: ``error`` holds for the counts, and not for the size.
    ``histogram`` belongs to sparse histograms alone: ``keys`` are then those that were reported.
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


@dataclass(frozen=True)
class HistoryItemView:
    """One hand-out of a release to one user, without its values."""

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
    """One leaf of the log, with its place and hash."""

    index: int | None
    leaf_hash: str
    leaf: dict[str, Any]
