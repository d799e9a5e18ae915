"""Compare the errors of a workload's answers by strategy, at each tier's own loss."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction

from penstock.connectors.specs.moments import MOST_CELLS, MOST_TREE_KEYS
from penstock.connectors.statements.statement import Statement
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.persistence.tables.datasets import Dataset
from penstock.services.datasets.population import spec_of
from penstock.services.noise.process import CONFIDENCE, Process
from penstock.services.schemas.previews import StrategyErrorView, StrategyView
from penstock.services.schemas.views import ErrorView
from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import IDENTITY, MARGINALS, TREE, Spans


@dataclass(frozen=True)
class _Strategy:
    """Hold a workload with one strategy; ``name`` is null for one that is named by no word."""

    name: str | None
    workload: Workload
    is_own: bool


def strategies(
    dataset: Dataset,
    statement: Statement | None,
    process: Process,
    rungs: Sequence[tuple[str, int]],
) -> list[StrategyView] | None:
    """Return the strategies with each tier's errors, the query's own first.

    It is ``None`` for a query that is no workload, and for one that is registered already.
    """
    plan = None if statement is None else statement.plan
    if plan is None or plan.workload is None or not isinstance(process.mechanism, Gaussian):
        return None
    relation = spec_of(dataset).neighboring
    views = []
    for each in _strategies(plan.workload):
        _, l2_squared, _ = each.workload.moved(relation, plan.max_groups, plan.max_rows)
        # Gaussian noise of a variance in this proportion has the same loss.
        weight = l2_squared * plan.step**2 / process.sensitivity.l2_squared
        tiers = [_errors(each.workload, process, weight, *both) for both in rungs]
        views.append(StrategyView(each.name, each.is_own, each.workload.dimension, tiers))
    return views


def _strategies(own: Workload) -> Iterator[_Strategy]:
    named = {}
    for name in (IDENTITY, TREE, MARGINALS):
        factors = (Factor(each.queries, Spans(name, each.queries.size)) for each in own.factors)
        named[name] = Workload(tuple(factors))
    yield _Strategy(next((name for name in named if named[name] == own), None), own, is_own=True)
    for name, other in named.items():
        if name == TREE and max(other.sizes) > MOST_TREE_KEYS:
            continue
        if other != own and other.dimension <= MOST_CELLS:
            yield _Strategy(name, other, is_own=False)


def _errors(
    workload: Workload, process: Process, weight: Fraction, tier: str, rung: int
) -> StrategyErrorView:
    node = process.ladder.value(rung) * weight
    return StrategyErrorView(
        tier,
        _error(process, node * Fraction(workload.largest_variance)),
        _error(process, node * Fraction(workload.mean_variance)).standard_deviation,
    )


def _error(process: Process, variance: Fraction) -> ErrorView:
    bars = process.mechanism.error(variance, CONFIDENCE)
    return ErrorView(bars.standard_deviation, bars.confidence, bars.half_width)
