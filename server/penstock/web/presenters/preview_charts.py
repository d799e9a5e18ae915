"""A preview as a page takes it: charts with their tables, and what may be had instead."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from penstock.services.schemas.histograms import HistogramView
from penstock.services.schemas.previews import ChargeView, PreviewView
from penstock.services.schemas.stream_previews import StreamPreviewView
from penstock.services.schemas.views import DatasetBudgetView, ErrorView
from penstock.web.charts import intervals
from penstock.web.charts.drawing.values import Interval, Level, Table
from penstock.web.presenters import budget_charts, preview_choices
from penstock.web.presenters.figure import Picture, picture
from penstock.web.presenters.preview_choices import Comparison
from penstock.web.presenters.template_filters import figure

LIKELY, SURE = 0.5, 0.99
"""Chances from which a key is said to be listed."""


class Tier(Protocol):
    """What a preview says of one tier, whatever it is a preview of."""

    @property
    def tier(self) -> str:
        """Its name."""

    @property
    def error(self) -> ErrorView:
        """How far off its numbers would be."""

    @property
    def charge(self) -> ChargeView:
        """What its account would be charged."""


@dataclass(frozen=True)
class Planned:
    """What a preview shows: how far off each tier's numbers are, and every tier's budget with it.

    ``budgets`` is none where some tier has no room for it; ``keys`` tells of a sparse
    histogram which counts are listed, ``steps`` of a stream how its error
    goes on.  ``of_sums`` says that the errors are of the sums that means are read from.
    """

    errors: Picture
    budgets: Picture | None
    comparisons: tuple[Comparison, ...]
    preview: PreviewView | None = None
    stream: StreamPreviewView | None = None
    keys: Table | None = None
    steps: Table | None = None
    of_sums: bool = False


def planned(
    preview: PreviewView,
    budget: DatasetBudgetView,
    others: Comparison | None = None,
    *,
    of_sums: bool = False,
) -> Planned:
    """The pictures of a query's preview; ``others`` are the same under other noise."""
    comparisons = (
        *((preview_choices.structures(preview.structures),) if preview.structures else ()),
        *((preview_choices.powers(preview.powers, preview),) if preview.powers else ()),
        *((others,) if others else ()),
    )
    added = () if preview.registered else preview.tiers
    budgets = None if preview.refusal else _budgets(budget, preview.query, added)
    errors = _errors(preview.tiers, "each sum" if of_sums else "each number")
    keys = _listed(preview)
    return Planned(errors, budgets, comparisons, preview=preview, keys=keys, of_sums=of_sums)


def planned_stream(stream_preview: StreamPreviewView, budget: DatasetBudgetView) -> Planned:
    """The pictures of a stream's preview."""
    budgets = (
        None
        if stream_preview.refusal
        else _budgets(budget, stream_preview.stream, stream_preview.tiers)
    )
    errors = _errors(
        stream_preview.tiers, f"the total after element {stream_preview.noisiest_step:,}"
    )
    trees = preview_choices.trees(stream_preview)
    return Planned(errors, budgets, (trees,), stream=stream_preview, steps=_by_step(stream_preview))


def _budgets(budget: DatasetBudgetView, name: str, tiers: Sequence[Tier]) -> Picture:
    shares = {tier.tier: tier.charge.share for tier in tiers}
    return budget_charts.with_one_more(budget, name, shares)


def _errors(tiers: Sequence[Tier], of: str) -> Picture:
    halves = [tier.error.half_width for tier in tiers]
    content = intervals.Groups(
        f"How far off {of} may be",
        tuple(tier.tier for tier in tiers),
        (Level("error", tuple(Interval(0.0, -half, half) for half in halves)),),
        confidence=tiers[0].error.confidence if tiers else 0.95,
    )
    return picture(intervals.bars_with_intervals, intervals.rows, content, "errors")


def _listed(preview: PreviewView) -> Table | None:
    """From which count a key of a sparse histogram is listed, for each tier."""
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
            "listed above a noisy count of",
            "false keys expected",
            "likely from",
            "sure from",
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
    return f"{counts[0]:,}" if counts else "beyond what is told here"


def _by_step(stream_preview: StreamPreviewView) -> Table:
    """How far off totals are after some of the elements."""
    steps = (
        [step_view.t for step_view in stream_preview.tiers[0].steps] if stream_preview.tiers else []
    )
    columns = [
        [step_view.error.half_width for step_view in tier.steps] for tier in stream_preview.tiers
    ]
    return Table(
        "How far off totals are as elements come",
        ("after element", *(f"off by, at {tier.tier}" for tier in stream_preview.tiers)),
        tuple(
            (f"{step:,}", *(f"±{figure(column[place])}" for column in columns))
            for place, step in enumerate(steps)
        ),
        frozenset(range(len(columns) + 1)),
    )
