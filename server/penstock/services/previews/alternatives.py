"""Compare the margins of error of counts with separate noise and protected together.

They are compared at each tier's own loss, so that users need not know the papers.
"""

from collections.abc import Sequence
from fractions import Fraction

from penstock.connectors.planning.alternatives import Alternative, alternatives
from penstock.connectors.statements.statement import Statement
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.persistence.tables.datasets import Dataset
from penstock.services.datasets.population import spec_of
from penstock.services.noise.process import CONFIDENCE, Process
from penstock.services.schemas.previews import CountErrorView, CountStructureView
from penstock.services.schemas.views import ErrorView
from penstock.structures.counts import Centered, Lift


def compared(
    dataset: Dataset,
    statement: Statement | None,
    process: Process,
    rungs: Sequence[tuple[str, int]],
) -> list[CountStructureView] | None:
    """Return the ways that fit, with each tier's margin of error; ``None`` if only one fits."""
    if statement is None or not isinstance(process.mechanism, Gaussian):
        return None
    ways = alternatives(statement.plan, spec_of(dataset).neighboring)
    return [_view(way, process, rungs) for way in ways] or None


def _view(
    way: Alternative, process: Process, rungs: Sequence[tuple[str, int]]
) -> CountStructureView:
    nodes = way.nodes
    return CountStructureView(
        structure=None if nodes is None else "correlated",
        trade_off=float(nodes.trade_off) if isinstance(nodes, Lift) else None,
        known_size=isinstance(nodes, Centered),
        asked=way.is_own,
        dimension=way.dimension,
        lossless=True,
        tiers=[_errors(way, process, tier, rung) for tier, rung in rungs],
    )


def _errors(way: Alternative, process: Process, tier: str, rung: int) -> CountErrorView:
    """Return a tier's margins of error at its own loss: variances go with squared sensitivities."""
    weight = way.sensitivity.l2_squared / process.sensitivity.l2_squared
    node = process.ladder.value(rung) * weight
    nodes = way.nodes
    if nodes is None:
        return CountErrorView(tier, _error(process, node), None)
    size = nodes.size_variance
    return CountErrorView(
        tier,
        _error(process, node * nodes.variance),
        None if size is None else _error(process, node * size),
    )


def _error(process: Process, variance: Fraction) -> ErrorView:
    bars = process.mechanism.error(variance, CONFIDENCE)
    return ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
