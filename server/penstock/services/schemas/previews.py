"""Describe previews of queries, releases and their charges."""

from dataclasses import dataclass, field
from typing import Annotated

from pydantic import Field

from penstock.connectors.dummy import MOST_ROWS
from penstock.services.schemas.histograms import HistogramView
from penstock.services.schemas.queries import QueryRequest
from penstock.services.schemas.views import (
    ComposedView,
    ErrorView,
    GuaranteeView,
    Key,
    LevelView,
    SensitivityView,
)
from penstock.spec_fields import Spec


@dataclass(frozen=True)
class ChargeView:
    """Hold the charge of a query to a tier's account.

    ``loss`` is a Rényi loss at the account's ``order``, in nats, ``failure`` a probability,
    and ``share`` the loss as a part of the account's limit; shares add up.  At delta 0 there is
    no order, and the loss is an epsilon.
    """

    order: float | None
    loss: float
    failure: float
    share: float


@dataclass(frozen=True)
class RoomView:
    """Hold whether a charge fits an account, in shares of its limit.

    ``largest_share`` is the largest charge that would still fit.
    """

    fits: bool
    needed_share: float
    remaining_share: float
    largest_share: float


@dataclass(frozen=True)
class AllowanceRoomView:
    """Hold what is left of an analyst's allowance, in shares of it, and what a query would take.

    ``fits`` and ``needed_share`` are null for a query that could not be registered under it: one
    with levels at other tiers than its own, or a pushed vector.
    """

    tier: str
    epsilon: float
    fits: bool | None
    needed_share: float | None
    remaining_share: float


@dataclass(frozen=True)
class ReadAtDeltaView:
    """Hold an upper bound of the privacy loss of one release at its dataset's delta."""

    epsilon: float
    delta: float


@dataclass(frozen=True)
class RankErrorView:
    """Hold the error of the rank of the quantile at ``probability``, in rows.

    It is that of the number of rows below an edge of a bin less ``probability`` of all rows, for
    the edge where it is largest: which of them the quantile is next to, only the data tell.
    """

    probability: float
    error: ErrorView


@dataclass(frozen=True)
class ExpectedEstimateView:
    """Hold the standard deviation that noise gives to an estimate; null if there is none."""

    name: str
    standard_deviation: float | None


@dataclass(frozen=True)
class NumberWeightView:
    """Hold the weight of one number of each group, by which its noise is divided."""

    name: str
    weight: int


@dataclass(frozen=True)
class ExpectedEstimatesView:
    """Hold how noisy the estimates of moments would be, for one group of ``rows`` rows.

    Their values are spread evenly between the bounds, each column by itself.  For other numbers of
    rows all but those of ``n`` and of sums are in inverse proportion.
    """

    rows: int
    weights: list[NumberWeightView]
    estimates: list[ExpectedEstimateView]


@dataclass(frozen=True)
class PreviewTierView:
    """Hold what one tier would get of a query, and what its account would be charged.

    ``guarantee`` is that of one release; ``composed`` is that of all that the tier is charged for,
    null if levels are lossless.  ``room`` is null for a registered query, which is charged
    already.  ``expected_maximum`` is the expected largest error of all values, for a query that
    requested generalized Gaussian noise.  ``histogram`` belongs to sparse histograms.  ``at_delta``
    is less than the pure guarantee of a long vector with Laplace noise; null if it is not.
    ``ranks`` are the errors of ranks of quantiles, that of the median among them, ``expected`` the
    standard deviations of estimates of moments.
    """

    tier: str
    level: LevelView
    guarantee: GuaranteeView
    charge: ChargeView
    error: ErrorView
    room: RoomView | None
    composed: ComposedView | None = None
    expected_maximum: float | None = None
    histogram: HistogramView | None = None
    at_delta: ReadAtDeltaView | None = None
    ranks: list[RankErrorView] | None = None
    expected: ExpectedEstimatesView | None = None


@dataclass(frozen=True)
class PowerView:
    """Hold a power of generalized Gaussian noise, and the expected largest error under it."""

    p: float
    expected_maximum: float


@dataclass(frozen=True)
class PowersView:
    """Hold the recommended power ``p``, compared at the most trusted tier's ``epsilon``."""

    tier: str
    epsilon: float
    recommended: float
    reason: str
    choices: list[PowerView]


@dataclass(frozen=True)
class CountErrorView:
    """Hold the error of a tier's counts, and of the size that is released with them."""

    tier: str
    error: ErrorView
    size_error: ErrorView | None


@dataclass(frozen=True)
class CountStructureView:
    """Hold one way to protect counts, at the loss of each tier's level.

    ``structure`` is null for separate noise on each count; ``known_size`` says that it needs a
    public size.  ``dimension`` is the number of values that are drawn and stored for each level.
    """

    structure: str | None
    trade_off: float | None
    known_size: bool
    asked: bool
    dimension: int
    lossless: bool
    tiers: list[CountErrorView]


@dataclass(frozen=True)
class StrategyErrorView:
    """Hold the errors of a workload's answers at a tier: of the worst, and of all in the mean.

    ``mean_deviation`` is the root of the mean of the answers' variances.
    """

    tier: str
    largest: ErrorView
    mean_deviation: float


@dataclass(frozen=True)
class StrategyView:
    """Hold one strategy for a workload, at the loss of each tier's level.

    ``strategy`` is identity, tree or marginals for all columns, and null for one that the query
    gives otherwise.  ``dimension`` is the number of sums that are drawn and stored for each level.
    """

    strategy: str | None
    requested: bool
    dimension: int
    tiers: list[StrategyErrorView]


@dataclass(frozen=True)
class PreviewView:
    """Hold a query before it is charged, or as it was charged, down to the caller's tiers.

    ``refusal`` says why the budgets would not allow it; null if they would, and if it is
    ``registered`` already.  Sensitivity, dimension, errors, ``p`` and ``lossless`` mean the same
    as in a query.  ``powers`` belongs to queries that request generalized Gaussian noise,
    ``structures`` to counts under Gaussian noise that may be protected in several ways,
    ``strategies`` to workloads.  ``spec_sql`` is the spec in SQL, if SQL can say it, and ``notes``
    say which rows it counts otherwise than the statement that was sent.  ``allowance`` is null for
    who has none, and for a query that is registered.
    """

    query: str
    dataset: str
    dataset_version: int
    mechanism: str
    p: float | None
    lossless: bool
    registered: bool
    dimension: int
    granularity: float
    sensitivity: SensitivityView
    refusal: str | None
    tiers: list[PreviewTierView]
    powers: PowersView | None = None
    structures: list[CountStructureView] | None = None
    strategies: list[StrategyView] | None = None
    spec_sql: str | None = None
    notes: list[str] = field(default_factory=list)
    allowance: AllowanceRoomView | None = None


@dataclass(frozen=True)
class ReleasePreviewView:
    """Hold what a request would release, before it is made.

    ``held`` says that the caller has these very numbers, ``better_held`` that they have more
    accurate ones of the same query; if the query is ``lossless`` these then add nothing.
    """

    query: str
    dataset: str
    tier: str
    mechanism: str
    level: LevelView
    guarantee: GuaranteeView
    error: ErrorView
    histogram: HistogramView | None
    lossless: bool
    held: bool
    better_held: bool


DUMMY_ROWS = 100
"""The default number of made-up rows."""


class DummyAnswerRequest(Spec):
    """Represent a query to try on made-up rows; its levels and its noise play no part."""

    query: QueryRequest
    rows: Annotated[int, Field(ge=1, le=MOST_ROWS)] = DUMMY_ROWS
    seed: Annotated[int, Field(ge=0, lt=2**63)] = 0


@dataclass(frozen=True)
class DummyNumberView:
    """Hold one exact number, of the group ``key``; null if the group has no rows for it.

    ``statistic`` is named as in a release: ``n``, ``units``, ``sum:age``, ``mean:age``.
    """

    statistic: str
    key: Key | None
    value: float | None


@dataclass(frozen=True)
class DummyAnswerView:
    """Hold the exact answer to a query on made-up rows, which say nothing about the data.

    ``groups`` are the names of the columns that ``key`` has a part of each.
    """

    dataset: str
    rows: int
    seed: int
    groups: list[str]
    numbers: list[DummyNumberView]
