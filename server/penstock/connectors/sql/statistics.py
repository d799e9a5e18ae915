"""Join the aggregates of a statement in one statistic of a spec: one vector, for one charge."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from penstock.connectors.sql.aggregates import Aggregate, Kind
from penstock.connectors.sql.conditions import Entry, PlacedEntry
from penstock.connectors.sql.names import Columns


@dataclass(frozen=True)
class Statistic:
    """Hold the aggregate of a spec, the node that says it, and the conditions that come with it.

    ``needed`` are the columns whose missing cells leave their row out of it.
    """

    aggregate: dict[str, Any]
    first: Aggregate
    where: tuple[PlacedEntry, ...] = ()
    needed: tuple[str, ...] = ()


_COUNTS: Final = frozenset({Kind.ROWS, Kind.CELLS})
_SUMS: Final = _COUNTS | {Kind.SUM, Kind.MEAN}
_SPREADS: Final = _SUMS | {Kind.SPREAD}


def statistic(aggregates: Sequence[Aggregate], columns: Columns) -> Statistic:
    """Return the statistic that answers all aggregates.  Raises ``InvalidInput`` if there is none.

    Each aggregate alone has a statistic.  Sums, means and counts together are moments of order 1,
    with variances or covariances moments, all columns in one vector; so are counts of several
    boolean columns, and several quantiles of one column.
    """
    first = aggregates[0]
    kinds = {each.kind for each in aggregates}
    names = tuple(dict.fromkeys(name for each in aggregates for name in each.columns))
    where = _shared(aggregates, columns)
    joined: dict[str, Any] | None = None
    if len(aggregates) == 1:
        return _alone(first, where)
    if kinds in ({Kind.FLAG}, {Kind.UNITS_FLAG}):
        if len(names) == len(aggregates):
            counted = "count" if kinds == {Kind.FLAG} else "count_units"
            return Statistic({"type": counted, "columns": list(names)}, first, where)
    elif kinds <= _COUNTS | {Kind.QUANTILE} and Kind.QUANTILE in kinds:
        joined = _quantiles(aggregates) if len(names) == 1 else None
    elif kinds <= _COUNTS | {Kind.LINE} and Kind.LINE in kinds:
        joined = _line(aggregates)
    elif kinds <= _SUMS and names:
        joined = {"type": "moments", "columns": list(names), "order": 1}
    elif kinds <= _SPREADS and names:
        joined = {"type": "moments", "columns": list(names)}
    if joined is None:
        raise columns.source.refusal(_misfit(aggregates).node, _APART)
    return Statistic(joined, first, where, names)


_APART: Final = (
    "No single vector answers this together with what is selected before it. Write a statement of"
    " its own. Together are answered: sums, means, variances, covariances and counts of any"
    " columns; quantiles of one column; REGR_SLOPE and REGR_INTERCEPT of one pair; counts of"
    " boolean columns."
)


def _misfit(aggregates: Sequence[Aggregate]) -> Aggregate:
    """Return the first aggregate of another kind, or of other columns, than the first one."""
    first = aggregates[0]
    others = (each for each in aggregates[1:] if each.kind is not first.kind)
    return next(others, next((e for e in aggregates if e.columns != first.columns), aggregates[1]))


def _shared(aggregates: Sequence[Aggregate], columns: Columns) -> tuple[PlacedEntry, ...]:
    """Return the condition of the aggregates, which all of them have, or none."""
    own = [each.where for each in aggregates]
    for each, where in zip(aggregates, own, strict=True):
        if _entries(where) != _entries(own[0]):
            raise columns.source.refusal(
                each.node,
                "One vector counts the same rows for all aggregates. Say with WHERE which rows"
                " count, and write a statement for each condition.",
            )
    return own[0]


def _entries(where: Sequence[PlacedEntry]) -> list[Entry]:
    return [each.entry for each in where]


def _alone(only: Aggregate, where: tuple[PlacedEntry, ...]) -> Statistic:
    names = list(only.columns)
    made: dict[str, Any]
    match only.kind:
        case Kind.CELLS:
            there = [{"column": name, "op": "is_not_null"} for name in names]
            present = tuple(PlacedEntry(only.node, entry) for entry in there)
            return Statistic({"type": "count"}, only, (*where, *present))
        case Kind.ROWS:
            return Statistic({"type": "count"}, only, where)
        case Kind.UNITS:
            return Statistic({"type": "count_units"}, only, where)
        case Kind.FLAG | Kind.UNITS_FLAG:
            counted = "count" if only.kind is Kind.FLAG else "count_units"
            return Statistic({"type": counted, "columns": names}, only, where)
        case Kind.SUM | Kind.MEAN:
            made = {"type": "sum" if only.kind is Kind.SUM else "mean", "column": names[0]}
        case Kind.SPREAD:
            made = {"type": "moments", "columns": names}
        case Kind.LINE:
            made = _regression(only.columns)
        case Kind.QUANTILE:
            made = _quantiles([only])
    return Statistic(made, only, where, only.columns)


def _line(aggregates: Sequence[Aggregate]) -> dict[str, Any] | None:
    lines = {each.columns for each in aggregates if each.kind is Kind.LINE}
    counted = {name for each in aggregates if each.kind is Kind.CELLS for name in each.columns}
    if len(lines) != 1 or not counted <= set(*lines):
        return None
    return _regression(lines.pop())


def _regression(pair: Sequence[str]) -> dict[str, Any]:
    outcome, predictor = pair
    return {"type": "regression", "outcome": outcome, "predictors": [predictor]}


def _quantiles(aggregates: Sequence[Aggregate]) -> dict[str, Any]:
    name = next(each.columns[0] for each in aggregates if each.kind is Kind.QUANTILE)
    probabilities = {float(value) for each in aggregates for value in each.probabilities}
    return {"type": "quantiles", "column": name, "probabilities": sorted(probabilities)}
