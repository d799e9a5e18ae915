"""Write derived columns as arithmetic and ``CASE``."""

from functools import reduce

from sqlglot import exp

from penstock.connectors.formulas.conditions import within
from penstock.connectors.formulas.derived_columns import with_derived
from penstock.connectors.formulas.expressions import (
    Add,
    Case,
    ColumnCell,
    Expression,
    Multiply,
    Negate,
    Subtract,
    When,
)
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.sql.writing.cells import CellWriter
from penstock.connectors.sql.writing.conditions import condition
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.expressions import Node


def writer_of(query: ComputedQuery, dataset: DatasetSpec) -> CellWriter:
    """Return what writes the columns of a query.  Raises ``InvalidInput``."""
    return CellWriter(with_derived(dataset, query.derived), query.derived, _written)


def is_named_like_bins(expression: Expression) -> bool:
    """Return True if a ``CASE`` may be read as bins: each case has two comparisons and a label."""
    if not isinstance(expression, Case) or expression.otherwise is not None:
        return False
    return all(
        isinstance(each.then, str) and each.then.startswith("[") and _comparisons(each.when) == 2
        for each in expression.case
    )


def _comparisons(entry: object) -> int:
    return sum(map(_comparisons, within(entry))) or 1


def _written(writer: CellWriter, expression: Expression) -> Node:
    """Return an expression, in parentheses unless it binds as one."""
    match expression:
        case bool() | int():
            return (
                sql.in_parentheses(sql.number(expression))
                if expression < 0
                else sql.number(expression)
            )
        case str():
            return sql.text(expression)
        case ColumnCell():
            return writer.column(expression.column)
        case Case():
            default = expression.otherwise
            return exp.Case(
                ifs=[_when(writer, each) for each in expression.case],
                default=None if default is None else _written(writer, default),
            )
        case Negate():
            return sql.in_parentheses(exp.Neg(this=_written(writer, expression.negate)))
        case Add():
            return _chained(writer, exp.Add, expression.add)
        case Subtract():
            return _chained(writer, exp.Sub, expression.subtract)
        case Multiply():
            return _chained(writer, exp.Mul, expression.multiply)
    raise TypeError("an expression has none of these kinds")


def _chained(writer: CellWriter, kind: type[exp.Binary], parts: tuple[Expression, ...]) -> Node:
    nodes = [_written(writer, part) for part in parts]
    return sql.in_parentheses(reduce(lambda left, right: kind(this=left, expression=right), nodes))


def _when(writer: CellWriter, each: When) -> Node:
    return exp.If(this=condition(each.when, writer, plain=False), true=_written(writer, each.then))
