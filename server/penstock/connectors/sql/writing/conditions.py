"""Write the entries of a spec's ``where`` as conditions of SQL.

``NOT`` is moved inwards, up to the comparisons, so that a statement nests less deep than its spec.
"""

from typing import Final

from sqlglot import exp

from penstock.connectors.formulas.conditions import AllOf, AnyOf, Condition, Entry, NotOf
from penstock.connectors.sql.writing.cells import CellWriter, constant
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.expressions import Node

_KINDS: Final[dict[str, type[exp.Binary]]] = {
    "=": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
_PAIRS: Final = (
    *(("=", "!="), ("<", ">="), (">", "<="), ("in", "not_in")),
    ("is_null", "is_not_null"),
)
_OPPOSITES: Final = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}


def condition(
    entry: Entry, writer: CellWriter, *, opposite: bool = False, plain: bool = True
) -> Node:
    """Return the condition of one entry, or its opposite; one that joins others has parentheses.

    With ``plain`` a boolean column that is true stands by itself.
    """
    match entry:
        case NotOf():
            return condition(entry.not_of, writer, opposite=not opposite, plain=plain)
        case AnyOf():
            every, entries = opposite, entry.any_of
        case AllOf():
            every, entries = not opposite, entry.all_of
        case _:
            return _comparison(entry, writer, opposite=opposite, plain=plain)
    parts = [condition(each, writer, opposite=opposite, plain=plain) for each in entries]
    if len(parts) == 1:
        return parts[0]
    return sql.in_parentheses(sql.all_of(parts) if every else sql.any_of(parts))


def _comparison(entry: Condition, writer: CellWriter, *, opposite: bool, plain: bool) -> Node:
    kind = writer.type_of(entry.column)
    left = writer.column(entry.column)
    operator = _OPPOSITES[entry.op] if opposite else entry.op
    if operator == "is_null":
        return sql.is_null(left)
    if operator == "is_not_null":
        return sql.negated(sql.is_null(left))
    if operator in {"in", "not_in"}:
        values = entry.value if isinstance(entry.value, tuple) else (entry.value,)
        within = sql.within(left, [constant(kind, value) for value in values])
        return within if operator == "in" else sql.negated(within)
    if plain and kind == "boolean" and operator == "=":
        return left if entry.value is True else sql.negated(left)
    return _KINDS[operator](this=left, expression=constant(kind, entry.value))
