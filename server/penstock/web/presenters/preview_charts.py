"""Present a preview as charts with their tables, with alternatives to choose from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from penstock.figures import percent
from penstock.services.schemas.datasets import DatasetBudgetView
from penstock.services.schemas.histograms import HistogramView
from penstock.services.schemas.previews import ChargeView, PreviewTierView, PreviewView
from penstock.services.schemas.stream_previews import StreamPreviewView
from penstock.services.schemas.views import (
    ErrorView,
)
from penstock.web.charts import intervals
from penstock.web.charts.drawing.values import Interval, Level, Table
from penstock.web.presenters import budget_charts, preview_choices
from penstock.web.presenters.figure import Picture, picture
from penstock.web.presenters.preview_choices import Comparison
from penstock.web.presenters.template_filters import figure

MEDIAN = 0.5
LIKELY, SURE = 0.5, 0.99
"""Probabilities from which a key is called likely, and almost certain, to be listed."""


class Tier(Protocol):
    """Represent one tier of a preview of a query or a stream."""

    @property
    def tier(self) -> str:
        """Return the name of the tier."""

    @property
    def error(self) -> ErrorView:
        """Return the margin of error of its numbers."""

    @property
    def charge(self) -> ChargeView:
        """Return the charge to its account."""


@dataclass(frozen=True)
class PreviewCharts:
    """Hold what a preview shows: the margin of error and the budget of every tier.

    ``budgets`` is None if some tier has no room for the charge; ``keys`` gives the counts from
    which a sparse histogram lists keys, ``steps`` the margin of error of a stream by element.
    ``ranks`` gives the margin of error of the rank of each quantile, ``estimates`` the standard
    deviations of those of moments, and ``weights`` what their numbers have.  ``of_sums`` marks
    errors of the sums from which means are computed.
    """

    errors: Picture
    budgets: Picture | None
    comparisons: tuple[Comparison, ...]
    preview: PreviewView | None = None
    stream: StreamPreviewView | None = None
    keys: Table | None = None
    steps: Table | None = None
    ranks: Table | None = None
    estimates: Table | None = None
    weights: str = ""
    of_sums: bool = False


def charts_of_query(
    preview: PreviewView,
    budget: DatasetBudgetView,
    others: Comparison | None = None,
    *,
    of_sums: bool = False,
) -> PreviewCharts:
    """Return the pictures of a query's preview; ``others`` compares it under other noise."""
    comparisons = (
        *((preview_choices.structures(preview.structures),) if preview.structures else ()),
        *((preview_choices.strategies(preview.strategies),) if preview.strategies else ()),
        *((preview_choices.powers(preview.powers, preview),) if preview.powers else ()),
        *((others,) if others else ()),
    )
    added = () if preview.registered else preview.tiers
    budgets = None if preview.refusal else _budgets(budget, preview.query, added)
    medians = [_of_median(tier) for tier in preview.tiers if tier.ranks]
    of = "the rank of the median, in rows" if medians else "each sum" if of_sums else "each number"
    return PreviewCharts(
        _errors(preview.tiers, of, medians),
        budgets,
        comparisons,
        preview=preview,
        keys=_listed(preview),
        ranks=_ranked(preview),
        estimates=_estimated(preview),
        weights=_weights(preview),
        of_sums=of_sums,
    )


def charts_of_stream(stream_preview: StreamPreviewView, budget: DatasetBudgetView) -> PreviewCharts:
    """Return the pictures of a stream's preview."""
    budgets = (
        None
        if stream_preview.refusal
        else _budgets(budget, stream_preview.stream, stream_preview.tiers)
    )
    errors = _errors(
        stream_preview.tiers, f"the total after element {stream_preview.noisiest_step:,}"
    )
    choices = (preview_choices.noises(stream_preview), preview_choices.trees(stream_preview))
    return PreviewCharts(
        errors, budgets, choices, stream=stream_preview, steps=_by_step(stream_preview)
    )


def _budgets(budget: DatasetBudgetView, name: str, tiers: Sequence[Tier]) -> Picture:
    shares = {tier.tier: tier.charge.share for tier in tiers}
    return budget_charts.with_query(budget, name, shares)


def _errors(tiers: Sequence[Tier], of: str, errors: Sequence[ErrorView] = ()) -> Picture:
    halves = [error.half_width for error in errors or [tier.error for tier in tiers]]
    content = intervals.Groups(
        f"Margin of error of {of}",
        tuple(tier.tier for tier in tiers),
        (Level("error", tuple(Interval(0.0, -half, half) for half in halves)),),
        confidence=tiers[0].error.confidence if tiers else 0.95,
        none="No tier that you see has a level.",
    )
    return picture(intervals.dots_with_whiskers, intervals.rows, content, "errors")


def _of_median(tier: PreviewTierView) -> ErrorView:
    """Return the error of the rank of the median, of a tier that is shown quantiles."""
    return next(rank.error for rank in tier.ranks or () if rank.probability == MEDIAN)


def _ranked(preview: PreviewView) -> Table | None:
    """Return for each tier the margins of error of the ranks of quantiles."""
    listed = [(tier.tier, tier.ranks) for tier in preview.tiers if tier.ranks]
    if not listed:
        return None
    _, first = listed[0]
    return Table(
        f"Margin of error of ranks, in rows ({percent(first[0].error.confidence)})",
        ("tier", *(f"quantile {rank.probability:g}" for rank in first)),
        tuple(
            (tier, *(f"±{figure(rank.error.half_width)}" for rank in ranks))
            for tier, ranks in listed
        ),
        frozenset(range(1, len(first) + 1)),
    )


def _estimated(preview: PreviewView) -> Table | None:
    """Return for each estimate of moments its standard deviation at each tier."""
    listed = [(tier.tier, tier.expected) for tier in preview.tiers if tier.expected]
    if not listed:
        return None
    columns = [[each.standard_deviation for each in expected.estimates] for _, expected in listed]
    names = [each.name for each in listed[0][1].estimates]
    return Table(
        "Standard deviations of estimates",
        ("estimate", *(f"{tier}, from {expected.rows:,} rows" for tier, expected in listed)),
        tuple(
            (name, *("too noisy" if each is None else figure(each) for each in row))
            for name, *row in zip(names, *columns, strict=True)
        ),
        frozenset(range(1, len(listed) + 1)),
    )


def _weights(preview: PreviewView) -> str:
    """Return the weights of the numbers of moments in words; empty of anything else."""
    shown = next((tier.expected for tier in preview.tiers if tier.expected), None)
    weights = [] if shown is None else shown.weights
    if len({each.weight for each in weights}) == 1:
        return "equal weights"
    return ", ".join(f"{each.name} {each.weight}" for each in weights)


def _listed(preview: PreviewView) -> Table | None:
    """Return for each tier the counts from which a sparse histogram lists a key."""
    listed = [
        (tier_view.tier, tier_view.histogram)
        for tier_view in preview.tiers
        if tier_view.histogram is not None
    ]
    if not listed:
        return None
    return Table(
        "Keys that are listed",
        (
            "tier",
            "threshold on the noisy count",
            "false keys expected",
            f"listed with {LIKELY:.0%} from count",
            f"listed with {SURE:.0%} from count",
        ),
        tuple(
            (
                tier,
                figure(shown.threshold),
                figure(shown.false_keys),
                _first(shown, LIKELY),
                _first(shown, SURE),
            )
            for tier, shown in listed
        ),
        frozenset({1, 2, 3, 4}),
    )


def _first(shown: HistogramView, chance: float) -> str:
    counts = [appear.count for appear in shown.appears if appear.probability >= chance]
    return f"{counts[0]:,}" if counts else "above the computed counts"


def _by_step(stream_preview: StreamPreviewView) -> Table:
    """Return the margin of error of totals after some of the elements."""
    steps = (
        [step_view.t for step_view in stream_preview.tiers[0].steps] if stream_preview.tiers else []
    )
    columns = [
        [step_view.error.half_width for step_view in tier.steps] for tier in stream_preview.tiers
    ]
    return Table(
        "Margin of error of totals by element",
        ("after element", *(f"margin at {tier.tier}" for tier in stream_preview.tiers)),
        tuple(
            (f"{step:,}", *(f"±{figure(column[place])}" for column in columns))
            for place, step in enumerate(steps)
        ),
        frozenset(range(len(columns) + 1)),
    )
