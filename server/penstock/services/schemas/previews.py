"""Describe what previews of queries and clearance answer with."""

from dataclasses import dataclass

from penstock.services.schemas.histograms import HistogramView
from penstock.services.schemas.views import (
    ComposedView,
    ErrorView,
    GuaranteeView,
    LevelView,
    SensitivityView,
)


@dataclass(frozen=True)
class ChargeView:
    """What a query takes of a tier's account.

    ``loss`` is a Rényi loss at the account's ``order``, in nats, ``failure`` a probability,
    and ``share`` the part of the account's limit that the loss is; shares add up.  At delta
    0 there is no order, and the loss is an epsilon.
    """

    order: float | None
    loss: float
    failure: float
    share: float


@dataclass(frozen=True)
class RoomView:
    """Whether a charge fits an account, in shares of its limit.

    ``largest_share`` is the largest that would still fit.
    """

    fits: bool
    needed_share: float
    remaining_share: float
    largest_share: float


@dataclass(frozen=True)
class PreviewTierView:
    """What one tier would get of a query, and what its account would be charged.

    ``guarantee`` is that of one release; ``composed`` is of all that the tier is charged for,
    null where levels are lossless.  ``room`` is null for a query that is registered, whose
    charge is paid.  ``expected_maximum`` is the expected largest error of all values, for a
    query that asked for generalized Gaussian noise.  ``histogram`` belongs to sparse histograms.
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


@dataclass(frozen=True)
class PowerView:
    """A power of generalized Gaussian noise, and the expected largest error that it leaves."""

    p: float
    expected_maximum: float


@dataclass(frozen=True)
class PowersView:
    """Which power ``p`` to take: powers compared at the ``epsilon`` of the most trusted tier."""

    tier: str
    epsilon: float
    recommended: float
    reason: str
    choices: list[PowerView]


@dataclass(frozen=True)
class CountErrorView:
    """How far off a tier's counts would be, and the size that is released besides."""

    tier: str
    error: ErrorView
    size_error: ErrorView | None


@dataclass(frozen=True)
class CountStructureView:
    """One way in which counts may be protected, at the loss of each tier's level.

    ``structure`` is null for noise of its own for each count; ``known_size`` says that it
    needs a size that is public.  ``dimension`` is how many numbers are drawn and kept for
    each level.
    """

    structure: str | None
    trade_off: float | None
    known_size: bool
    asked: bool
    dimension: int
    lossless: bool
    tiers: list[CountErrorView]


@dataclass(frozen=True)
class PreviewView:
    """A query before it is paid for, or as it was paid for, down to the caller's tiers.

    ``refusal`` says why the budgets would not allow it; null where they would, and where
    it is ``registered`` already.  Sensitivity, dimension, errors, ``p`` and ``lossless`` are
    read as in a query.  ``powers`` belongs to queries that ask for generalized Gaussian noise,
    ``structures`` to counts under Gaussian noise that may be protected in several ways.
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


@dataclass(frozen=True)
class ReleasePreviewView:
    """What a request would hand out, before it is made.

    ``held`` says that the caller has these very numbers, ``better_held`` that they have more
    accurate ones of the same query, to which these then add nothing where the query is
    ``lossless``.
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
