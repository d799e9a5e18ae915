"""List the ways to protect the same counts: each by itself, or together."""

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from penstock.connectors.planning.correlated_counts import Nodes
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.plan import Plan
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.histograms import HistogramQuery
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.errors import InvalidInput
from penstock.privacy import Sensitivity
from penstock.structures.counts import Lift


@dataclass(frozen=True)
class Alternative:
    """Hold one way to protect counts: its nodes, their number, and their sensitivity."""

    nodes: Nodes | None
    dimension: int
    sensitivity: Sensitivity
    is_own: bool


def alternatives(dataset: DatasetSpec, query: ComputedQuery) -> list[Alternative]:
    """Return every way that fits, separate noise for each count first; empty if only that one fits.

    The way that ``query`` chose is marked.  With a size there are two trade-offs: the least error
    for the counts, and as much noise budget for the size as is useful.
    """
    if isinstance(query, HistogramQuery):
        return []
    own = interpret(dataset, query)
    by_plan: dict[object, Alternative] = {}
    for plan in _plans(dataset, query, own):
        kind = type(plan.nodes) if not isinstance(plan.nodes, Lift) else plan.nodes
        is_own = _same(plan, own)
        if kind not in by_plan or is_own:
            norms = plan.moved(dataset.neighboring).in_units(plan.step)
            by_plan[kind] = Alternative(plan.nodes, plan.dimension, norms, is_own)
    return list(by_plan.values()) if len(by_plan) > 1 else []


def _plans(dataset: DatasetSpec, query: ComputedQuery, own: Plan) -> Iterator[Plan]:
    plain = query.model_dump(include=set(ComputedQuery.model_fields))
    yield interpret(dataset, ComputedQuery.model_validate(plain))
    columns = len(own.flags) or own.keys
    tried: list[dict[str, Any]] = [{}, {"trade_off": math.sqrt(columns)}, {"known_size": 0}]
    for more in tried:
        changed = CorrelatedQuery.model_validate({**plain, "structure": "correlated", **more})
        try:
            yield interpret(dataset, changed)
        except InvalidInput:
            continue
    yield own


def _same(plan: Plan, own: Plan) -> bool:
    if isinstance(plan.nodes, Lift):
        return plan.nodes == own.nodes
    return type(plan.nodes) is type(own.nodes)
