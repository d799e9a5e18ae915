"""Read the aggregates of a statement, each by itself."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Final

from sqlglot import exp

from penstock.connectors.specs.models import UnitColumn
from penstock.connectors.sql.conditions import PlacedEntry, conjuncts
from penstock.connectors.sql.grammar import Node, ParsedStatement
from penstock.connectors.sql.names import Columns, number
from penstock.connectors.sql.synonyms import INTEGERS, unwrapped


class Kind(Enum):
    """Name what an aggregate computes."""

    ROWS = "the number of rows"
    CELLS = "the number of rows without missing cells"
    UNITS = "the number of privacy units"
    FLAG = "the number of rows where a column is true"
    UNITS_FLAG = "the number of units with a row where a column is true"
    SUM = "a sum"
    MEAN = "a mean"
    SPREAD = "a variance, a covariance or what is computed from them"
    LINE = "a regression"
    QUANTILE = "quantiles"


@dataclass(frozen=True)
class Aggregate:
    """Hold one aggregate: its columns, the probabilities of quantiles, and its own condition.

    ``cells`` are the nodes of the columns of a count.
    """

    node: Node
    kind: Kind
    columns: tuple[str, ...] = ()
    probabilities: tuple[int | float, ...] = ()
    where: tuple[PlacedEntry, ...] = ()
    cells: tuple[Node, ...] = ()


_OF_A_COLUMN: Final[dict[type[Node], Kind]] = {
    exp.Sum: Kind.SUM,
    exp.Avg: Kind.MEAN,
    exp.VariancePop: Kind.SPREAD,
    exp.StddevPop: Kind.SPREAD,
}
_OF_A_PAIR: Final[dict[type[Node], Kind]] = {
    exp.CovarPop: Kind.SPREAD,
    exp.Corr: Kind.SPREAD,
    exp.RegrSlope: Kind.LINE,
    exp.RegrIntercept: Kind.LINE,
    exp.RegrCount: Kind.CELLS,
}
_AGGREGATES: Final[tuple[type[Node], ...]] = (
    *(exp.Count, exp.CountIf, exp.Median, exp.PercentileCont, exp.WithinGroup, exp.Filter),
    *_OF_A_COLUMN,
    *_OF_A_PAIR,
)


def is_aggregate(node: Node) -> bool:
    """Return True if a selected expression is an aggregate, or computed from some."""
    return any(isinstance(each, _AGGREGATES) for each in node.walk())


def aggregate(node: Node, columns: Columns) -> Aggregate:
    """Return what a selected expression computes.  Raises ``InvalidInput``."""
    inner = unwrapped(node.this if isinstance(node, exp.Alias) else node)
    source = columns.source
    match inner:
        case exp.Filter():
            return _filtered(inner, columns)
        case exp.Count():
            return _count(inner, columns)
        case exp.CountIf():
            return _counted_if(inner, inner.this, columns)
        case exp.Median():
            return Aggregate(inner, Kind.QUANTILE, (columns.column(inner.this),), (0.5,))
        case exp.WithinGroup() | exp.PercentileCont():
            return _quantile(inner, columns)
    kind = _OF_A_COLUMN.get(type(inner))
    if kind is not None:
        condition = _added(inner.this, columns) if kind is Kind.SUM else None
        if condition is not None and isinstance(unwrapped(condition), exp.Column | exp.Coalesce):
            return _counted_if(inner, condition, columns)
        return Aggregate(inner, kind, (columns.column(inner.this),))
    kind = _OF_A_PAIR.get(type(inner))
    if kind is None:
        raise source.refusal(
            inner,
            "Ask for the aggregates by themselves. What is computed from them is computed from"
            " the release, at no charge.",
        )
    left, right = columns.column(inner.this), columns.column(inner.args["expression"])
    if left == right:
        raise source.refusal(inner, "Name two different columns; of one column write VAR_POP.")
    cells = (inner.this, inner.args["expression"]) if kind is Kind.CELLS else ()
    return Aggregate(inner, kind, (left, right), cells=cells)


def _count(node: exp.Count, columns: Columns) -> Aggregate:
    inner = node.this
    if isinstance(inner, exp.Star) or (isinstance(inner, exp.Literal) and not inner.is_string):
        return Aggregate(node, Kind.ROWS)
    if isinstance(inner, exp.Distinct):
        return _units(node, inner, columns)
    if inner is None:
        raise columns.source.refusal(node, "Write COUNT(*).")
    condition = _counted(inner, otherwise=None)
    if condition is not None:
        return _counted_if(node, condition, columns)
    name = columns.column(inner)
    if columns.spec(name).missing is not None:
        return Aggregate(node, Kind.ROWS)
    return Aggregate(node, Kind.CELLS, (name,), cells=(inner,))


def _units(node: Node, distinct: exp.Distinct, columns: Columns) -> Aggregate:
    unit = columns.dataset.privacy_unit
    own = unit.column if isinstance(unit, UnitColumn) else None
    names = [columns.column(each) for each in distinct.expressions]
    if names != [own]:
        how = (
            "Each row is a privacy unit; write COUNT(*)."
            if own is None
            else f"Only privacy units are counted once; write COUNT(DISTINCT {own[:64]})."
        )
        raise columns.source.refusal(node, how)
    return Aggregate(node, Kind.UNITS)


def _counted(node: Node, otherwise: int | None = 0) -> Node | None:
    """Return the condition of ``CASE WHEN condition THEN 1 ELSE 0 END``; None of anything else.

    With ``otherwise`` None it has no ``ELSE``, or ``ELSE NULL``.
    """
    case = unwrapped(node)
    if not isinstance(case, exp.Case) or len(case.args["ifs"]) != 1:
        return None
    first, default = case.args["ifs"][0], case.args.get("default")
    condition: Node = first.this
    if not _is_number(first.args["true"], 1):
        return None
    if otherwise is None:
        return condition if default is None or isinstance(default, exp.Null) else None
    return condition if default is not None and _is_number(default, otherwise) else None


def _added(node: Node, columns: Columns) -> Node | None:
    """Return the condition that a sum counts: a case of 1 and 0, or a boolean column as integer."""
    cast = unwrapped(node)
    if isinstance(cast, exp.Cast) and cast.to.this in INTEGERS and columns.is_boolean(cast.this):
        condition: Node = cast.this
        return condition
    return _counted(node)


def _is_number(node: Node, value: int) -> bool:
    inner = unwrapped(node)
    return isinstance(inner, exp.Literal) and not inner.is_string and inner.this == str(value)


def _counted_if(node: Node, condition: Node, columns: Columns) -> Aggregate:
    """Return the number of rows where a condition holds."""
    inner = unwrapped(condition)
    if columns.is_boolean(inner):
        return Aggregate(node, Kind.FLAG, (columns.column(inner),), cells=(inner,))
    return Aggregate(node, Kind.ROWS, where=tuple(conjuncts(inner, columns)))


def _filtered(node: exp.Filter, columns: Columns) -> Aggregate:
    inner = aggregate(node.this, columns)
    condition = node.args["expression"].this
    flag = unwrapped(condition)
    plain = inner.kind in {Kind.ROWS, Kind.UNITS} and not inner.where
    if plain and columns.names(flag):
        kind = Kind.FLAG if inner.kind is Kind.ROWS else Kind.UNITS_FLAG
        name = columns.column(flag)
        if columns.spec(name).type == "boolean":
            return Aggregate(node, kind, (name,), cells=(flag,))
    where = (*inner.where, *conjuncts(condition, columns))
    if inner.kind in {Kind.FLAG, Kind.UNITS_FLAG}:
        raise columns.source.refusal(node, "Say with WHERE which rows count, and leave FILTER out.")
    return replace(inner, node=node, where=where)


def _quantile(node: Node, columns: Columns) -> Aggregate:
    if isinstance(node, exp.WithinGroup):
        function, order = node.this, node.args["expression"]
        if not isinstance(function, exp.PercentileCont) or not isinstance(order, exp.Order):
            raise columns.source.refusal(
                node, "Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY and the column)."
            )
        ordered, share = order.expressions, function.this
        if any(each.args.get("desc") for each in ordered):
            raise columns.source.refusal(
                ordered[0], "Leave DESC out, and write 1 minus the probability."
            )
        target = ordered[0].this if len(ordered) == 1 else None
    else:
        function, target, share = node, node.this, node.args.get("expression")
    if target is None or share is None or (function is not node and "expression" in function.args):
        raise columns.source.refusal(
            node,
            "Write PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY and the column), or QUANTILE_CONT"
            " with the column and the probability.",
        )
    probabilities = _probabilities(share, columns)
    return Aggregate(node, Kind.QUANTILE, (columns.column(target),), probabilities)


def _probabilities(node: Node, columns: Columns) -> tuple[int | float, ...]:
    inner = unwrapped(node)
    several: Sequence[Node] = inner.expressions if isinstance(inner, exp.Array) else [inner]
    values = tuple(number(columns.source, each) for each in several)
    if not values or not all(0 < value < 1 for value in values):
        raise columns.source.refusal(
            node, "A probability is above 0 and below 1, for example 0.5 for the median."
        )
    return values


def aggregates(statement: ParsedStatement, columns: Columns) -> list[Aggregate]:
    """Return the aggregates of a statement.  Raises ``InvalidInput`` if there are none."""
    nodes = [node for node in statement.expressions if is_aggregate(node)]
    if not nodes:
        raise statement.source.refusal(
            statement.select, "Select at least one aggregate, for example COUNT(*)."
        )
    return [aggregate(node, columns) for node in nodes]
