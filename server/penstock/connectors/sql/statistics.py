"""Join the aggregates of a statement in one statistic of a spec: one vector, for one charge."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from penstock.connectors.sql.aggregates import Aggregate, Kind
from penstock.connectors.sql.conditions import Entry, PlacedEntry
from penstock.connectors.sql.grammar import Node
from penstock.connectors.sql.names import Columns


@dataclass(frozen=True)
class Statistic:
    """Hold the aggregate of a spec, what says its parts, and the conditions that come with it.

    ``needed`` are the columns whose missing cells leave their row out of it.
    """

    aggregate: dict[str, Any]
    parts: tuple[Aggregate, ...]
    where: tuple[PlacedEntry, ...] = ()
    needed: tuple[str, ...] = ()


_COUNTS: Final = frozenset({Kind.ROWS, Kind.CELLS})
_COUNTED: Final = _COUNTS | {Kind.FLAG}
_SUMS: Final = _COUNTS | {Kind.SUM, Kind.MEAN}
_SPREADS: Final = _SUMS | {Kind.SPREAD}


def statistic(aggregates: Sequence[Aggregate], columns: Columns) -> Statistic:
    """Return the statistic that answers all aggregates.  Raises ``InvalidInput`` if there is none.

    Each aggregate alone has a statistic.  Sums, means and counts together are moments of order 1,
    with variances or covariances moments, all columns in one vector; so are counts of several
    boolean columns, and several quantiles of one column.  Counts of different rows are sums of
    columns that are 1 in them and 0 in all others.
    """
    aggregates = _over_the_same_rows(aggregates, columns)
    kinds = {each.kind for each in aggregates}
    names = tuple(dict.fromkeys(name for each in aggregates for name in each.columns))
    where = _shared(aggregates, columns)
    joined: dict[str, Any] | None = None
    if len(aggregates) == 1:
        return _alone(aggregates[0], where)
    if kinds in ({Kind.FLAG}, {Kind.UNITS_FLAG}):
        if len(names) == len(aggregates):
            counted = "count" if kinds == {Kind.FLAG} else "count_units"
            return Statistic({"type": counted, "columns": list(names)}, tuple(aggregates), where)
    elif kinds <= _COUNTS | {Kind.QUANTILE} and Kind.QUANTILE in kinds:
        joined = _quantiles(aggregates) if len(names) == 1 else None
    elif kinds <= _COUNTS | {Kind.LINE} and Kind.LINE in kinds:
        joined = _line(aggregates)
    elif kinds <= _SUMS and names:
        joined = {"type": "moments", "columns": list(names), "order": 1}
    elif kinds <= _SPREADS and names:
        joined = {"type": "moments", "columns": list(names)}
    if joined is None:
        beside = kinds - _COUNTS - {Kind.LINE}
        both = Kind.LINE in kinds and beside and beside <= _SPREADS and len(names) == 2
        sentence = _LINE_APART if both else _APART
        raise columns.source.refusal(_misfit(aggregates).node, sentence)
    return Statistic(joined, tuple(aggregates), where, names)


def _over_the_same_rows(aggregates: Sequence[Aggregate], columns: Columns) -> Sequence[Aggregate]:
    """Return the aggregates with sums in place of counts whose rows are others than all.

    Counts of the same rows become one, and boolean columns by themselves stay what they are.
    """
    others = [each for each in aggregates if each.kind not in _COUNTED]
    counts = [each for each in aggregates if each.kind in _COUNTED]
    if not counts or not {each.kind for each in others} <= _SPREADS:
        return aggregates
    rows = [(each.cells, _entries(each.where)) for each in counts]
    if not others and all(each == rows[0] for each in rows):
        return aggregates[:1]
    if not others and all(each.kind is Kind.FLAG and not each.where for each in counts):
        return list({each.columns: each for each in counts}.values())
    if any(each.where for each in others):
        return aggregates
    needed = {name for each in others for name in each.columns}

    def is_apart(each: Aggregate) -> bool:
        if each.where or each.kind is Kind.FLAG:
            return True
        return each.kind is Kind.CELLS and not needed.issuperset(each.columns)

    return [
        _as_sum(each, columns) if each.kind in _COUNTED and is_apart(each) else each
        for each in aggregates
    ]


def _as_sum(count: Aggregate, columns: Columns) -> Aggregate:
    """Return the sum of a derived column that is 1 in the rows of a count, and 0 in all others."""
    conditions = list({id(each.node): each.node for each in count.where}.values())
    for cell in count.cells:
        there = exp.Not(this=exp.Is(this=cell.copy(), expression=exp.Null()))
        conditions.append(cell if count.kind is Kind.FLAG else there)
    case = exp.Case(
        ifs=[exp.If(this=_all_of(conditions), true=exp.Literal.number(1))],
        default=exp.Literal.number(0),
    )
    return Aggregate(count.node, Kind.SUM, (columns.derived(case, count.node),))


def _all_of(conditions: Sequence[Node]) -> Node:
    whole, *others = (exp.Paren(this=each.copy()) for each in conditions)
    joined: Node = whole
    for each in others:
        joined = exp.And(this=joined, expression=each)
    return joined


_APART: Final = (
    "No single vector answers this together with what is selected before it. Write a statement of"
    " its own. Together are answered: sums, means, variances, covariances and counts of any"
    " columns and rows; quantiles of one column; REGR_SLOPE and REGR_INTERCEPT of one pair."
)


_LINE_APART: Final = (
    "REGR_SLOPE and REGR_INTERCEPT stand beside counts alone. Write COVAR_POP(y, x), VAR_POP(x),"
    " AVG(y) and AVG(x) in their place, beside the others: the slope is COVAR_POP / VAR_POP, the"
    " intercept AVG(y) less the slope times AVG(x), computed from the release at no charge."
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
            return Statistic({"type": "count"}, (only,), (*where, *present))
        case Kind.ROWS:
            return Statistic({"type": "count"}, (only,), where)
        case Kind.UNITS:
            return Statistic({"type": "count_units"}, (only,), where)
        case Kind.FLAG | Kind.UNITS_FLAG:
            counted = "count" if only.kind is Kind.FLAG else "count_units"
            return Statistic({"type": counted, "columns": names}, (only,), where)
        case Kind.SUM | Kind.MEAN:
            made = {"type": "sum" if only.kind is Kind.SUM else "mean", "column": names[0]}
        case Kind.SPREAD:
            made = {"type": "moments", "columns": names}
        case Kind.LINE:
            made = _regression(only.columns)
        case Kind.QUANTILE:
            made = _quantiles([only])
    return Statistic(made, (only,), where, only.columns)


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
