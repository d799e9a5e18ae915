"""Write conditions and derived columns for an engine.

No part of them fails for a cell, so that an engine may compute them in any order.
"""

from collections.abc import Callable
from functools import reduce

from penstock.connectors.formulas.arithmetic import (
    Cases,
    Computed,
    Constant,
    Cut,
    Product,
    Sum,
    TextCell,
)
from penstock.connectors.formulas.formula import Column, Filter, Formula
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import Dialect
from penstock.connectors.statements.expressions import Node

CellOf = Callable[[Column], Node]
"""Returns the cell of a column, each time as a new node."""


def condition(formula: Formula, cell_of: CellOf, dialect: Dialect) -> Node:
    """Return a condition; it is false or NULL where a comparison meets no value."""
    if isinstance(formula, Filter):
        return _comparison(formula, cell_of(formula.column), dialect)
    parts = [sql.in_parentheses(condition(part, cell_of, dialect)) for part in formula.parts]
    return sql.any_of(parts) if formula.joining == "any" else sql.all_of(parts)


def _comparison(each: Filter, cell: Node, dialect: Dialect) -> Node:
    values = [dialect.literal(value) for value in each.values]
    match each.op:
        case "in":
            return sql.within(cell, values)
        case "not_in":
            return sql.negated(sql.within(cell, values))
        case "is_null":
            return sql.is_null(cell)
        case "is_not_null":
            return sql.negated(sql.is_null(cell))
    return sql.compared(cell, each.op, values[0])


def computed(value: Computed, cell_of: CellOf, dialect: Dialect) -> Node:
    """Return what a derived column is computed from; NULL if a cell of it is, but for cases."""
    match value:
        case Constant():
            return dialect.literal(value.value)
        case TextCell():
            return cell_of(value.column)
        case Cut():
            return _cut(value, cell_of, dialect)
        case Cases():
            return _cases(value, cell_of, dialect)
        case Sum():
            return reduce(sql.plus, (computed(term, cell_of, dialect) for term in value.terms))
        case Product():
            return sql.product(computed(each, cell_of, dialect) for each in value.factors)


def _cut(value: Cut, cell_of: CellOf, dialect: Dialect) -> Node:
    """Return an integer between its bounds; engines differ over the least of NULL and a number."""

    def bounded(operator: str, bound: int) -> tuple[Node, Node]:
        compared = sql.compared(cell_of(value.column), operator, dialect.literal(bound))
        return compared, dialect.literal(bound)

    cases = bounded("<", value.lowest), bounded(">", value.highest)
    return sql.case(*cases, otherwise=cell_of(value.column))


def _cases(value: Cases, cell_of: CellOf, dialect: Dialect) -> Node:
    cases = [
        (condition(formula, cell_of, dialect), computed(each, cell_of, dialect))
        for formula, each in value.cases
    ]
    last = None if value.otherwise is None else computed(value.otherwise, cell_of, dialect)
    return sql.case(*cases, otherwise=last)
