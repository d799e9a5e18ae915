"""List the ways to protect the same counts: each by itself, or together."""

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace

from penstock.connectors.planning.correlated_counts import Nodes, SizeTerms, with_nodes
from penstock.connectors.planning.plan import Plan
from penstock.errors import InvalidInput
from penstock.privacy.neighboring import NeighboringRelation
from penstock.privacy.sensitivity import Sensitivity
from penstock.structures.counts import Lift


@dataclass(frozen=True)
class Alternative:
    """Hold one way to protect counts: its nodes, their number, and their sensitivity."""

    nodes: Nodes | None
    dimension: int
    sensitivity: Sensitivity
    is_own: bool


def alternatives(own: Plan, relation: NeighboringRelation) -> list[Alternative]:
    """Return every way that fits, separate noise for each count first; empty if only that one fits.

    The way of the query itself, whose plan is ``own``, is marked.  With a size there are two
    trade-offs: the least error for the counts, and as much noise budget for the size as is useful.
    Without it the counts have the least noise.
    """
    if own.open_keys is not None:
        return []
    by_plan: dict[object, Alternative] = {}
    for plan in _plans(own, relation):
        kind = type(plan.nodes) if not isinstance(plan.nodes, Lift) else plan.nodes
        is_own = _same(plan, own)
        if kind not in by_plan or is_own:
            norms = plan.moved(relation).in_units(plan.step)
            by_plan[kind] = Alternative(plan.nodes, plan.dimension, norms, is_own)
    return list(by_plan.values()) if len(by_plan) > 1 else []


def _plans(own: Plan, relation: NeighboringRelation) -> Iterator[Plan]:
    plain = replace(own, nodes=None)
    yield plain
    columns = len(own.flags) or own.keys
    for terms in (
        SizeTerms(),
        SizeTerms(trade_off=math.sqrt(columns)),
        SizeTerms(release_size=False),
        SizeTerms(known_size=0),
    ):
        try:
            yield with_nodes(plain, terms, relation)
        except InvalidInput:
            continue
    yield own


def _same(plan: Plan, own: Plan) -> bool:
    if isinstance(plan.nodes, Lift):
        return plan.nodes == own.nodes
    return type(plan.nodes) is type(own.nodes)
