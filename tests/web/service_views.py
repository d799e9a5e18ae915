"""Provide views of services as presenters get them, with few numbers that matter."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np

from penstock.services.schemas.datasets import DatasetBudgetView, SpendingView, TierBudgetView
from penstock.services.schemas.histograms import AppearanceView, HistogramView
from penstock.services.schemas.previews import ChargeView, PreviewTierView, PreviewView
from penstock.services.schemas.views import (
    ErrorView,
    GuaranteeView,
    HistoryItemView,
    LevelView,
    PrivacyBudget,
    ReleaseView,
    SensitivityView,
)
from penstock.transparency_log.views import ReceiptView

AT = datetime(2026, 1, 2, 3, 4, tzinfo=UTC)
RECEIPT = ReceiptView(index=None, leaf_hash="", leaf="{}")


def error(half_width: float) -> ErrorView:
    """Return the margin of error of normal noise."""
    return ErrorView(half_width / 2, 0.95, half_width)


def level(epsilon: float) -> tuple[LevelView, GuaranteeView]:
    """Return a noise level and its guarantee."""
    return LevelView("variance", 1 / epsilon), GuaranteeView("approximate", epsilon, 1e-6)


def tier_budget(tier: str, epsilon: float, **shares: float) -> TierBudgetView:
    """Return a tier's budget, with the share that each query takes of it."""
    spent = sum(shares.values())
    return TierBudgetView(
        tier,
        PrivacyBudget(epsilon, 1e-6),
        PrivacyBudget(epsilon * spent, 1e-6),
        PrivacyBudget(epsilon * (1 - spent), 1e-6),
        spent,
        1 - spent,
        [SpendingView(query, share) for query, share in shares.items()],
    )


def budget(*tiers: TierBudgetView) -> DatasetBudgetView:
    """Return the budgets of a dataset."""
    return DatasetBudgetView("sites", 1, list(tiers), [], [])


def histogram(*appears: tuple[int, float]) -> HistogramView:
    """Return a sparse histogram's rule of listing, with the chance by count."""
    return HistogramView(
        {"type": "uint64"}, 2.0**64, 40.5, 0.25, [AppearanceView(*chance) for chance in appears]
    )


def tier_preview(
    tier: str, half_width: float, share: float, shown: HistogramView | None = None
) -> PreviewTierView:
    """Return what a tier would get of a query."""
    return PreviewTierView(
        tier,
        *level(1.0),
        ChargeView(8.0, 0.1, 0.0, share),
        error(half_width),
        None,
        histogram=shown,
    )


def preview(*tiers: PreviewTierView) -> PreviewView:
    """Return a query that is not registered yet."""
    return PreviewView(
        query="visits",
        dataset="sites",
        dataset_version=1,
        mechanism="gaussian",
        p=None,
        lossless=True,
        registered=False,
        dimension=2,
        granularity=1.0,
        sensitivity=SensitivityView(1, 1, 1),
        refusal=None,
        tiers=list(tiers),
    )


def release(name: str, tier: str, epsilon: float, values: list[float]) -> ReleaseView:
    """Return a release of keys ``k0``, ``k1`` and so on, each off by at most 2 / epsilon."""
    noise_level, guarantee = level(epsilon)
    return ReleaseView(
        id=name,
        query="visits",
        dataset="sites",
        tier=tier,
        mechanism="gaussian",
        level=noise_level,
        guarantee=guarantee,
        granularity=1.0,
        keys=[f"k{place}" for place in range(len(values))],
        values=np.array(values),
        error=error(2 / epsilon),
        asserted_by=None,
        released_at=AT,
        receipt=RECEIPT,
    )


def sparse(made: ReleaseView) -> ReleaseView:
    """Return a release of a sparse histogram."""
    return replace(made, histogram=histogram())


def listed(made: ReleaseView) -> HistoryItemView:
    """Return a release as it stands in a list of what somebody was given."""
    return HistoryItemView(
        id=made.id,
        user="ann",
        query=made.query,
        dataset=made.dataset,
        tier=made.tier,
        mechanism=made.mechanism,
        level=made.level,
        guarantee=made.guarantee,
        error=made.error,
        released_at=AT,
        receipt=RECEIPT,
    )
