"""Read conditions as entries of a spec's ``where``.

Logic is SQL's, with three values, in both.  So ``NOT`` is moved inwards, up to the comparisons,
which each have an opposite: a condition on a missing cell is unknown, and so is its opposite.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from penstock.connectors.sql.grammar import Node, unwrapped
from penstock.connectors.sql.names import Columns, constant
from penstock.spec_fields import Scalar

Entry = dict[str, Any]
"""An entry of ``where``."""

_OPERATORS: Final[dict[type[Node], str]] = {
    exp.EQ: "=",
    exp.NEQ: "!=",
    exp.LT: "<",
    exp.LTE: "<=",
    exp.GT: ">",
    exp.GTE: ">=",
}
_PAIRS: Final = (("=", "!="), ("<", ">="), (">", "<="), ("in", "not_in"))
_OPPOSITES: Final = {**dict(_PAIRS), **{second: first for first, second in _PAIRS}}
_TURNED: Final = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "=": "=", "!=": "!="}
"""The operators with their sides exchanged."""


@dataclass(frozen=True)
class PlacedEntry:
    """Hold an entry of ``where`` with the node that says it."""

    node: Node
    entry: Entry


def conjuncts(node: Node, columns: Columns) -> list[PlacedEntry]:
    """Return the entries that hold where a condition does.  Raises ``InvalidInput``."""
    return [
        PlacedEntry(part, entry)
        for part in _parts(node, exp.And)
        for entry in _without("all", condition(part, columns))
    ]


def condition(node: Node, columns: Columns, *, opposite: bool = False) -> Entry:
    """Return the entry of a condition, or of its opposite.  Raises ``InvalidInput``."""
    inner = unwrapped(node)
    match inner:
        case exp.Not():
            return condition(inner.this, columns, opposite=not opposite)
        case exp.And() | exp.Or():
            kind = type(inner)
            every = (kind is exp.And) != opposite
            parts = [condition(part, columns, opposite=opposite) for part in _parts(inner, kind)]
            return _joined("all" if every else "any", parts)
        case exp.Between():
            return _between(inner, columns, opposite=opposite)
        case exp.In():
            return _within(inner, columns, opposite=opposite)
        case exp.Is():
            return _is(inner, columns, opposite=opposite)
        case exp.EQ() | exp.NEQ() | exp.LT() | exp.LTE() | exp.GT() | exp.GTE():
            return _compared(inner, columns, opposite=opposite)
    if not columns.names(inner):
        raise columns.source.refusal(
            inner, "Write a condition here: a comparison, IN, BETWEEN, IS NULL or a boolean column."
        )
    name = columns.column(inner)
    if columns.spec(name).type != "boolean":
        raise columns.source.refusal(
            inner, "Only a boolean column is a condition by itself. Compare this one to a value."
        )
    return _entry(name, "=", not opposite)


def _parts(node: Node, kind: type[Node]) -> Iterator[Node]:
    """Yield what a chain of one connective connects, from left to right."""
    waiting = [node]
    while waiting:
        inner = unwrapped(waiting.pop())
        if type(inner) is kind:
            waiting += [inner.args["expression"], inner.this]
        else:
            yield inner


def _joined(connective: str, parts: Sequence[Entry]) -> Entry:
    return {connective: [part for each in parts for part in _without(connective, each)]}


def _without(connective: str, entry: Entry) -> list[Entry]:
    """Return the entries that one connects; the entry alone if it is of another kind."""
    inner: list[Entry] = entry.get(connective, [entry])
    return inner


def _entry(name: str, operator: str, value: Scalar | list[Scalar]) -> Entry:
    return {"column": name, "op": operator, "value": value}


def _compared(node: Node, columns: Columns, *, opposite: bool) -> Entry:
    operator = _OPERATORS[type(node)]
    left, right = node.this, node.args["expression"]
    if not columns.names(left):
        left, right, operator = right, left, _TURNED[operator]
    if not columns.names(left):
        raise columns.source.refusal(node, "Compare a column to a constant.")
    if columns.names(right):
        raise columns.source.refusal(
            right,
            "A column is compared to a constant. To compare two, write their difference and 0.",
        )
    name = columns.column(left)
    value = constant(columns.source, right, columns.spec(name).type)
    return _entry(name, _OPPOSITES[operator] if opposite else operator, value)


def _between(node: exp.Between, columns: Columns, *, opposite: bool) -> Entry:
    name = columns.column(node.this)
    kind = columns.spec(name).type
    low, high = (constant(columns.source, node.args[side], kind) for side in ("low", "high"))
    if opposite:
        return {"any": [_entry(name, "<", low), _entry(name, ">", high)]}
    return {"all": [_entry(name, ">=", low), _entry(name, "<=", high)]}


def _within(node: exp.In, columns: Columns, *, opposite: bool) -> Entry:
    name = columns.column(node.this)
    kind = columns.spec(name).type
    if not node.expressions:
        raise columns.source.refusal(node, "Write the values of IN in parentheses.")
    values = [constant(columns.source, value, kind) for value in node.expressions]
    return _entry(name, "not_in" if opposite else "in", values)


def _is(node: exp.Is, columns: Columns, *, opposite: bool) -> Entry:
    name = columns.column(node.this)
    right = unwrapped(node.args["expression"])
    if isinstance(right, exp.Null):
        return {"column": name, "op": "is_not_null" if opposite else "is_null"}
    if not isinstance(right, exp.Boolean) or columns.spec(name).type != "boolean":
        raise columns.source.refusal(right, "Write IS NULL, or IS TRUE of a boolean column.")
    # A missing cell is not true, rather than unknown.
    if opposite:
        return {"any": [_entry(name, "!=", right.this), {"column": name, "op": "is_null"}]}
    return {"all": [_entry(name, "=", right.this), {"column": name, "op": "is_not_null"}]}
