"""Write conditions for an engine.

No part of a formula fails for a cell, so an engine may compute them in any order.
"""

from collections.abc import Callable

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
