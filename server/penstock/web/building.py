"""A query as a form asks for it, and its preview as a chart and tables take it."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.services.preview_views import PreviewView
from penstock.services.views import DatasetBudgetView, DatasetView
from penstock.web import spending
from penstock.web.charts import intervals
from penstock.web.charts.values import Interval, Level
from penstock.web.forms import filled, number, scalar
from penstock.web.pictures import Picture, picture

AGGREGATES = (
    ("count", "how many rows"),
    ("count_units", "how many people (privacy units)"),
    ("sum", "the sum of a column"),
    ("mean", "the mean of a column"),
    ("histogram", "rows by the values of a column"),
)
MECHANISMS = (
    ("gaussian", "Gaussian"),
    ("laplace", "Laplace"),
    ("poisson", "Poisson"),
    ("skellam", "Skellam"),
)
WISHES = (
    ("epsilon", "by epsilon, for each tier"),
    ("half_width", "by how far off it may be, for each tier"),
    ("share", "by a share of every tier's budget"),
)
OPERATORS = ("=", "!=", "<", "<=", ">", ">=", "in", "not_in")
SEVERAL = frozenset({"in", "not_in"})
GROUPINGS, CONDITIONS = range(2), range(2)
BOUNDED = frozenset({"sum", "mean"})


def wanted(given: Mapping[str, str], dataset: DatasetView, tiers: Sequence[str]) -> dict[str, Any]:
    """The spec that a form describes; what is wrong with it is for its model to say."""
    wish = given.get("wish", "epsilon")
    levels = {
        tier: {wish: value}
        for tier in tiers
        if (value := number(given.get(f"level {tier}", ""))) is not None
    }
    terms = {"share": number(given.get("share", ""))} if wish == "share" else {"levels": levels}
    return {
        "name": given.get("name", "").strip(),
        "dataset": dataset.name,
        "aggregate": _aggregate(given),
        "group_by": list(_groupings(given)),
        "where": list(_conditions(given, dataset)),
        "contribution": filled(
            max_groups=number(given.get("max_groups", "")),
            max_rows_per_group=number(given.get("max_rows", "")),
        ),
        "mechanism": given.get("mechanism", "gaussian"),
        **terms,
    }


def _aggregate(given: Mapping[str, str]) -> dict[str, object]:
    kind = given.get("aggregate", "count")
    if kind not in BOUNDED | {"histogram"}:
        return {"type": kind}
    column = given.get("column", "")
    if kind == "histogram":
        return {"type": kind, "column": column, "bins": _numbers(given.get("bins", ""))}
    bounds = filled(**{part: number(given.get(part, "")) for part in ("lower", "upper", "step")})
    return {"type": kind, "column": column, **bounds}


def _groupings(given: Mapping[str, str]) -> Iterator[dict[str, object]]:
    for place in GROUPINGS:
        column = given.get(f"group {place}", "")
        bins = _numbers(given.get(f"edges {place}", ""))
        if column:
            yield {"column": column, **({"bins": bins} if bins else {})}


def _conditions(given: Mapping[str, str], dataset: DatasetView) -> Iterator[dict[str, object]]:
    for place in CONDITIONS:
        column, op = given.get(f"where {place}", ""), given.get(f"op {place}", "=")
        if not column:
            continue
        kind = dataset.columns.get(column, {}).get("type", "string")
        text = given.get(f"value {place}", "")
        parts = [part.strip() for part in text.split(",")] if op in SEVERAL else [text.strip()]
        values = [scalar(part, kind) for part in parts]
        yield {"column": column, "op": op, "value": values if op in SEVERAL else values[0]}


def _numbers(text: str) -> list[object]:
    return [number(part) for part in text.split(",")] if text.strip() else []


@dataclass(frozen=True)
class Planned:
    """What a preview shows: how far off each tier's numbers are, and every tier's budget with it.

    ``budgets`` is none where some tier has no room for it.
    """

    preview: PreviewView
    errors: Picture
    budgets: Picture | None


def planned(found: PreviewView, budget: DatasetBudgetView) -> Planned:
    """The pictures of a preview."""
    halves = [tier.error.half_width for tier in found.tiers]
    content = intervals.Groups(
        "How far off each number may be",
        tuple(tier.tier for tier in found.tiers),
        (Level("error", tuple(Interval(0.0, -half, half) for half in halves)),),
        confidence=found.tiers[0].error.confidence if found.tiers else 0.95,
    )
    return Planned(
        found,
        picture(intervals.bars_with_intervals, intervals.rows, content, "errors"),
        None if found.refusal else spending.with_one_more(budget, found),
    )
