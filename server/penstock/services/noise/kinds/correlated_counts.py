"""Represent counts that are protected together, with less noise than separate counts."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from penstock.connectors.planning.correlated_counts import Nodes, nodes_of
from penstock.connectors.planning.prepare import PreparedQuery
from penstock.mechanisms.multiple_release import released
from penstock.mechanisms.process import IntVector
from penstock.persistence.tables.queries import Query
from penstock.privacy.target import Target, TargetKind
from penstock.services.noise.kinds.vector import VectorKind
from penstock.services.schemas.estimates.covariance import CovarianceView, GroupedCountsView
from penstock.services.schemas.queries import (
    ComputedQueryRequest,
    CorrelatedQueryRequest,
    Terms,
)
from penstock.services.schemas.views import ErrorsView, ErrorView
from penstock.structures.counts import Centered, Lift
from penstock.structures.ellipse import Ellipse


@dataclass(frozen=True)
class CorrelatedKind(VectorKind):
    """Represent counts computed from ``nodes``, which are drawn and stored."""

    request_model: ClassVar[type[ComputedQueryRequest]] = CorrelatedQueryRequest

    sent_classes: ClassVar[tuple[type, ...]] = (Centered, Ellipse, Lift)

    nodes: Nodes

    @classmethod
    @override
    def own_of(cls, query: Query) -> Mapping[str, Any] | None:
        """Return the nodes from the stored spec."""
        nodes = _nodes(query.spec, query.dimension)
        return None if nodes is None else {"nodes": nodes}

    @classmethod
    @override
    def requested_of(cls, terms: Terms, prepared: PreparedQuery) -> Mapping[str, Any] | None:
        """Return the nodes of the prepared query."""
        return None if prepared.nodes is None else {"nodes": prepared.nodes}

    @classmethod
    @override
    def stored_spec(cls, terms: Terms, prepared: PreparedQuery) -> dict[str, Any]:
        """Return the spec with the trade-off as it was planned: releases are read with it."""
        stored = super().stored_spec(terms, prepared)
        if isinstance(prepared.nodes, Lift):
            stored["trade_off"] = float(prepared.nodes.trade_off)
        return stored

    @classmethod
    @override
    def drawn_target(cls, target: Target, prepared: PreparedQuery) -> Target:
        """Return a target for noise of counts as one for noise of the nodes."""
        return target if prepared.nodes is None else _on_node(target, prepared.nodes)

    @override
    def target_on_draws(self, target: Target) -> Target:
        """Return a target for noise of counts as one for noise of the nodes."""
        return _on_node(target, self.nodes)

    @override
    def rung(self, target: Target, delta: float) -> int:
        """Return the least noisy rung whose counts meet ``target``.  Raises ``InvalidInput``."""
        return super().rung(self.target_on_draws(target), delta)

    @override
    def error(self, rung: int) -> ErrorView:
        """Return the margin of error of a count, not of the size released with the counts."""
        return self.error_of_part(rung, self.nodes.variance)

    @override
    def errors(self, rung: int) -> ErrorsView | None:
        """Return margins of error value by value if a size is released with the counts."""
        nodes = self.nodes
        if nodes.size_variance is None:
            return None
        count, size = (
            self.error_of_part(rung, part) for part in (nodes.variance, nodes.size_variance)
        )
        return ErrorsView(
            np.where(nodes.sizes(), size.standard_deviation, count.standard_deviation),
            np.where(nodes.sizes(), size.half_width, count.half_width),
        )

    @override
    def covariance(self, rung: int) -> CovarianceView | None:
        """Return the covariance of counts, and of their size, within each group."""
        nodes = self.nodes
        if nodes.together == 1:
            return None
        node = self.error_of_part(rung, Fraction(1)).standard_deviation ** 2

        def scaled(part: Fraction | None) -> float | None:
            return None if part is None else node * float(part)

        return CovarianceView(
            grouped_counts=GroupedCountsView(
                values_per_group=nodes.together,
                variance=node * float(nodes.variance),
                covariance=node * float(nodes.covariance),
                size_variance=scaled(nodes.size_variance),
                size_covariance=scaled(nodes.size_covariance),
            )
        )

    @override
    def values(self, rung: int, steps: IntVector) -> NDArray[np.float64]:
        """Compute counts from stored nodes, with the same bits every time."""
        return self.nodes.values(released(self.mechanism, steps), self.mechanism.granularity)


@lru_cache(maxsize=1024)
def _nodes(spec: str, dimension: int) -> Nodes | None:
    """Return the nodes that are drawn in place of counts, from the stored spec."""
    stored = json.loads(spec)
    if stored.get("structure") != "correlated":
        return None
    return nodes_of(CorrelatedQueryRequest.model_validate(stored), dimension)


def _on_node(target: Target, nodes: Nodes) -> Target:
    if target.kind not in (TargetKind.STANDARD_DEVIATION, TargetKind.HALF_WIDTH):
        return target
    return replace(target, value=target.value / math.sqrt(nodes.variance))
