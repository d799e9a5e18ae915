"""Write the aggregate of a spec as aggregates of SQL."""

from itertools import combinations

from penstock.connectors.binned import edges
from penstock.connectors.binned.quantiles import Quantiles
from penstock.connectors.planning.moments.grid import planned
from penstock.connectors.specs.models import (
    ComputedQuery,
    Count,
    CountUnits,
    DatasetSpec,
    Histogram,
    Mean,
    Sum,
    UnitColumn,
)
from penstock.connectors.specs.moments import MarginalTables, Moments, Regression
from penstock.connectors.sql.writing.cells import CellWriter, text_of
from penstock.connectors.statements import expressions as sql


def aggregates(query: ComputedQuery, writer: CellWriter) -> list[str] | None:
    """Return the aggregates of a spec; None of one that SQL cannot say."""
    dataset, aggregate = writer.dataset, query.aggregate
    match aggregate:
        case Histogram() | MarginalTables():
            return ["COUNT(*)"]
        case Count() | CountUnits():
            return _counts(aggregate, dataset, writer)
        case Sum() | Mean():
            return _sum(aggregate, query, dataset, writer)
        case Moments():
            return _moments(aggregate, query, dataset, writer)
        case Regression():
            return _regression(aggregate, query, dataset, writer)
        case Quantiles():
            return _quantiles(aggregate, query, dataset, writer)
    return None


def _counts(
    aggregate: Count | CountUnits, dataset: DatasetSpec, writer: CellWriter
) -> list[str] | None:
    counted = "COUNT(*)"
    if isinstance(aggregate, CountUnits):
        unit = dataset.privacy_unit
        if not isinstance(unit, UnitColumn):
            return None
        counted = f"COUNT(DISTINCT {text_of(writer.column(unit.column))})"
    if aggregate.columns is None:
        return [counted]
    flags = [text_of(writer.column(name)) for name in aggregate.columns]
    return [f"{counted} FILTER (WHERE {flag})" for flag in flags]


def _named(text: str, column: str, query: ComputedQuery) -> str:
    """Return an aggregate of a column, with the name of a derived one that no group has."""
    if column not in query.derived or column in [each.column for each in query.group_by]:
        return text
    return f"{text} AS {text_of(sql.name(column, quoted=True))}"


def _sum(
    aggregate: Sum | Mean, query: ComputedQuery, dataset: DatasetSpec, writer: CellWriter
) -> list[str] | None:
    spec = dataset.columns[aggregate.column]
    for name in ("lower", "upper", "step"):
        own = getattr(aggregate, name)
        if own is not None and own != getattr(spec, name):
            return None
    function = "SUM" if isinstance(aggregate, Sum) else "AVG"
    summed = f"{function}({text_of(writer.column(aggregate.column))})"
    return [_named(summed, aggregate.column, query)]


def _is_default(
    aggregate: Moments | Regression, query: ComputedQuery, dataset: DatasetSpec
) -> bool:
    """Return True if bounds and grid are those that are planned if nothing is said of them.

    Weights share noise out, and are no part of an exact answer.
    """
    rows = query.contribution.max_rows_per_group or 1
    rows = rows if isinstance(dataset.privacy_unit, UnitColumn) else 1
    plain = aggregate.model_copy(update={"bounds": None, "grid": None})
    settled = [planned(dataset, each, rows) for each in (plain, aggregate)]
    return settled[0] == settled[1]


def _moments(
    aggregate: Moments, query: ComputedQuery, dataset: DatasetSpec, writer: CellWriter
) -> list[str] | None:
    if not _is_default(aggregate, query, dataset):
        return None
    names = [text_of(writer.column(name)) for name in aggregate.columns]
    count = f"COUNT({names[0] if len(names) == 1 else '*'})"
    function = "SUM" if aggregate.order == 1 else "AVG"
    pairs = zip(names, aggregate.columns, strict=True)
    first = [_named(f"{function}({name})", column, query) for name, column in pairs]
    if aggregate.order == 1:
        return [count, *first]
    return [
        count,
        *first,
        *(f"VAR_POP({name})" for name in names),
        *(f"COVAR_POP({left}, {right})" for left, right in combinations(names, 2)),
    ]


def _regression(
    aggregate: Regression, query: ComputedQuery, dataset: DatasetSpec, writer: CellWriter
) -> list[str] | None:
    if len(aggregate.predictors) != 1 or not _is_default(aggregate, query, dataset):
        return None
    names = (aggregate.outcome, *aggregate.predictors)
    pair = ", ".join(text_of(writer.column(name)) for name in names)
    return [f"REGR_SLOPE({pair})", f"REGR_INTERCEPT({pair})"]


def _quantiles(
    aggregate: Quantiles, query: ComputedQuery, dataset: DatasetSpec, writer: CellWriter
) -> list[str] | None:
    if aggregate.scale != "linear":
        return None
    plain = aggregate.model_copy(update=dict.fromkeys(("lower", "upper", "bins", "whole")))
    if edges.planned(dataset, plain) != edges.planned(dataset, aggregate):
        return None
    name = text_of(writer.column(aggregate.column))
    first, *others = (
        f"PERCENTILE_CONT({probability!r}) WITHIN GROUP (ORDER BY {name})"
        for probability in aggregate.probabilities
    )
    return [_named(first, aggregate.column, query), *others]
