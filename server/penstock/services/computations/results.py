"""Hold the results of long computations: what a query or stream would be, for each tier."""

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.services.ledger.quotes import Quote
from penstock.services.schemas.previews import PowersView
from penstock.services.schemas.stream_previews import StreamPreviewView
from penstock.services.schemas.views import ComposedView, TierLevelView


@dataclass(frozen=True)
class SeenTier:
    """Hold a tier's rung, and all those that it is charged for."""

    tier: str
    rung: int
    rungs: Sequence[int]


@dataclass(frozen=True)
class DescribedTier:
    """Hold what a tier's level means; see ``PreviewTierView``."""

    level: TierLevelView
    composed: ComposedView | None
    expected_maximum: float | None


@dataclass(frozen=True)
class Described:
    """Hold what the levels of a query mean, tier by tier, and which power is best."""

    tiers: Sequence[DescribedTier]
    powers: PowersView | None


@dataclass(frozen=True)
class DescribedQuote:
    """Hold what a query would be and cost, and what that means."""

    quote: Quote
    described: Described


@dataclass(frozen=True)
class StreamQuote:
    """Hold what a stream would be and cost.  ``view`` leaves out whether it would be refused."""

    quote: Quote
    dimension: int
    view: StreamPreviewView


COMPUTED = (SeenTier, DescribedTier, Described, DescribedQuote, StreamQuote)
