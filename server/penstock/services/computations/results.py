"""Hold the results of long computations: the levels and charges of a query or stream, by tier."""

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.accounting.charging.ledger import Entry
from penstock.services.ledger.quotes import Quote
from penstock.services.schemas.previews import (
    ExpectedEstimatesView,
    PowersView,
    RankErrorView,
    ReadAtDeltaView,
)
from penstock.services.schemas.stream_previews import StreamPreviewView
from penstock.services.schemas.views import ComposedView, TierLevelView


@dataclass(frozen=True)
class SeenTier:
    """Hold a tier's rung, and all rungs that it is charged for."""

    tier: str
    rung: int
    rungs: Sequence[int]


@dataclass(frozen=True)
class DescribedTier:
    """Hold what a tier's level means; see ``PreviewTierView``."""

    level: TierLevelView
    composed: ComposedView | None
    expected_maximum: float | None
    at_delta: ReadAtDeltaView | None
    ranks: list[RankErrorView] | None
    expected: ExpectedEstimatesView | None


@dataclass(frozen=True)
class Described:
    """Hold what the levels of a query mean, tier by tier, and the best power."""

    tiers: Sequence[DescribedTier]
    powers: PowersView | None


@dataclass(frozen=True)
class DescribedQuote:
    """Hold the quote of a query, and what its levels mean."""

    quote: Quote
    described: Described


@dataclass(frozen=True)
class OwnQuote:
    """Hold the quote of a query under an allowance, and what it counts for against that."""

    quote: Quote
    counted: Entry


@dataclass(frozen=True)
class StreamQuote:
    """Hold the quote of a stream; ``view`` does not say yet whether it would be refused."""

    quote: Quote
    dimension: int
    view: StreamPreviewView


COMPUTED = (SeenTier, DescribedTier, Described, DescribedQuote, OwnQuote, StreamQuote)
