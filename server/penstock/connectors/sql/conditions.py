"""Read conditions as entries of a spec's ``where``.

Logic is SQL's, with three values, in both.  So ``NOT`` is moved inwards, up to the comparisons,
which each have an opposite: a condition on a missing cell is unknown, and so is its opposite.
``IS TRUE`` and its like are moved inwards, too, to comparisons of cells that are there.
"""

import datetime
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from sqlglot import exp

from penstock.connectors.specs.models import ColumnType
from penstock.connectors.sql.grammar import Node
from penstock.connectors.sql.names import Columns, constant, is_number, number
from penstock.connectors.sql.synonyms import unwrapped
from penstock.spec_fields import Scalar

Entry = dict[str, Any]
"""An entry of ``where``."""

_FIRST_YEAR: Final = datetime.MINYEAR
_LAST_YEAR: Final = datetime.MAXYEAR
_MOST_LISTED: Final = 20
"""The most declared texts that a refusal lists."""

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
        for entry in _without("all", _where_true(part, columns))
    ]


def _where_true(node: Node, columns: Columns) -> Entry:
    """Return the entry of a condition that only has to be true: it is so ``IS TRUE`` or without."""
    right = unwrapped(node.args["expression"]) if isinstance(node, exp.Is) else None
    if isinstance(right, exp.Boolean):
        return condition(node.this, columns, opposite=not right.this)
    return condition(node, columns)


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
        case exp.NullSafeEQ() | exp.NullSafeNEQ():
            return _distinct(inner, columns, opposite=opposite)
        case exp.Like():
            return _like(inner, columns, opposite=opposite)
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
    if not columns.names(left) and _year_of(left) is None:
        left, right, operator = right, left, _TURNED[operator]
    operator = _OPPOSITES[operator] if opposite else operator
    day = _year_of(left)
    if day is not None:
        return _in_years(_date_of(day, columns), operator, _year(right, columns))
    if not columns.names(left):
        raise columns.source.refusal(node, "Compare a column to a constant.")
    if columns.names(right):
        return _entry(columns.difference(left, right), operator, 0)
    name = columns.column(left)
    kind = columns.spec(name).type
    if kind == "integer" and is_number(right):
        return _of_integer(name, operator, right, columns)
    return _entry(name, operator, constant(columns.source, right, kind))


def _of_integer(name: str, operator: str, right: Node, columns: Columns) -> Entry:
    """Return the comparison of an integer to a number, which may lie between two integers."""
    value = number(columns.source, right)
    if operator in {"=", "!="} or value == math.floor(value):
        return _entry(name, operator, constant(columns.source, right, "integer"))
    return beyond(name, operator, value, "integer")


def beyond(name: str, operator: str, edge: int | float, kind: ColumnType) -> Entry:
    """Return the comparison of a column with an edge of its values: below it, above or at it.

    Integers are compared with the one below an edge that lies between two of them.
    """
    if kind != "integer" or edge == math.floor(edge):
        return _entry(name, operator, edge)
    return _entry(name, "<=" if operator in {"<", "<="} else ">", math.floor(edge))


def _between(node: exp.Between, columns: Columns, *, opposite: bool) -> Entry:
    parts = [_compared(side, columns, opposite=opposite) for side in _sides(node)]
    return _joined("any" if opposite else "all", parts)


def _sides(node: exp.Between) -> list[Node]:
    """Return the two comparisons that a ``BETWEEN`` is."""
    sides = [(exp.GTE, node.args["low"]), (exp.LTE, node.args["high"])]
    return [kind(this=node.this.copy(), expression=side.copy()) for kind, side in sides]


def _within(node: exp.In, columns: Columns, *, opposite: bool) -> Entry:
    if not node.expressions:
        raise columns.source.refusal(node, "Write the values of IN in parentheses.")
    day = _year_of(node.this)
    if day is not None:
        name, operator = _date_of(day, columns), "!=" if opposite else "="
        years = [_in_years(name, operator, _year(each, columns)) for each in node.expressions]
        return _joined("all" if opposite else "any", years)
    name = columns.column(node.this)
    kind = columns.spec(name).type
    values = [constant(columns.source, value, kind) for value in node.expressions]
    return _entry(name, "not_in" if opposite else "in", values)


def _date_of(node: Node, columns: Columns) -> str:
    name = columns.column(node)
    if columns.spec(name).type != "date":
        raise columns.source.refusal(
            node, f"Years are of dates; {name[:64]} is declared as {columns.spec(name).type}."
        )
    return name


def _year(node: Node, columns: Columns) -> int:
    year = constant(columns.source, node, "integer")
    if not isinstance(year, int | float) or not _FIRST_YEAR <= year <= _LAST_YEAR:
        raise columns.source.refusal(
            node, f"Write a year from {_FIRST_YEAR} to {_LAST_YEAR}, such as 2026."
        )
    return int(year)


def _year_of(node: Node) -> Node | None:
    """Return the date whose year a node is; None of anything else."""
    inner = unwrapped(node)
    return inner.this if isinstance(inner, exp.Year) else None


def _in_years(name: str, operator: str, year: int) -> Entry:
    """Return the comparison of a date that compares its year."""
    first, last = f"{year:04}-01-01", f"{year:04}-12-31"
    match operator:
        case "=":
            return {"all": [_entry(name, ">=", first), _entry(name, "<=", last)]}
        case "!=":
            return {"any": [_entry(name, "<", first), _entry(name, ">", last)]}
    return _entry(name, operator, first if operator in {"<", ">="} else last)


def _is_like(text: str, pattern: str) -> bool:
    """Return True if a pattern of ``LIKE`` matches a text: ``%`` is any text, ``_`` one sign."""
    ends = {0}
    for sign in pattern:
        if sign == "%":
            ends = set(range(min(ends), len(text) + 1)) if ends else ends
        else:
            ends = {end + 1 for end in ends if end < len(text) and sign in ("_", text[end])}
    return len(text) in ends


def _like(node: exp.Like, columns: Columns, *, opposite: bool) -> Entry:
    """Return the comparison with a pattern that has no wildcard, and so is a text."""
    name = columns.column(node.this)
    spec = columns.spec(name)
    pattern = constant(columns.source, node.args["expression"], "string")
    if spec.type != "string":
        raise columns.source.refusal(
            node, f"LIKE is for texts; {name[:64]} is declared as {spec.type}."
        )
    if not set(str(pattern)) & {"%", "_"}:
        return _entry(name, "!=" if opposite != bool(node.args.get("negate")) else "=", pattern)
    matching = [str(each) for each in spec.categories or () if _is_like(str(each), str(pattern))]
    listed = ", ".join(f"'{each[:32]}'" for each in matching[:_MOST_LISTED])
    more = f" and {len(matching) - _MOST_LISTED} more" * (len(matching) > _MOST_LISTED)
    raise columns.source.refusal(
        node,
        "Texts are compared as a whole. Write IN with the texts"
        + (f"; of the declared ones these match: {listed}{more}." if matching else "."),
    )


def _distinct(node: Node, columns: Columns, *, opposite: bool) -> Entry:
    """Return ``IS DISTINCT FROM`` a constant, a column or NULL, which no cell leaves unknown."""
    if isinstance(node, exp.NullSafeEQ):
        opposite = not opposite
    left, right = node.this, node.args["expression"]
    if not columns.names(left):
        left, right = right, left
    if isinstance(unwrapped(right), exp.Null):
        return {"column": columns.column(left), "op": "is_null" if opposite else "is_not_null"}
    if columns.names(left) and columns.names(right):
        return _distinct_columns(left, right, columns, opposite=opposite)
    return _certain(
        exp.EQ(this=left.copy(), expression=right.copy()), columns, opposite=not opposite
    )


def _distinct_columns(left: Node, right: Node, columns: Columns, *, opposite: bool) -> Entry:
    """Return ``IS DISTINCT FROM`` a column: two missing cells are the same, and one differs."""
    compared = _entry(columns.difference(left, right), "=" if opposite else "!=", 0)
    first, second = columns.column(left), columns.column(right)
    missing = [("is_null", "is_null")]
    if not opposite:
        missing = [("is_null", "is_not_null"), ("is_not_null", "is_null")]
    pairs = [
        {"all": [{"column": first, "op": left_is}, {"column": second, "op": right_is}]}
        for left_is, right_is in missing
    ]
    return _joined("any", [compared, *pairs])


def _certain(node: Node, columns: Columns, *, opposite: bool, value: bool = True) -> Entry:
    """Return the entry of a condition that has a value, or of the opposite: it is never unknown."""
    inner = unwrapped(node)
    match inner:
        case exp.Not():
            return _certain(inner.this, columns, opposite=opposite, value=not value)
        case exp.And() | exp.Or():
            kind = type(inner)
            every = ((kind is exp.And) == value) != opposite
            parts = _parts(inner, kind)
            certain = [_certain(part, columns, opposite=opposite, value=value) for part in parts]
            return _joined("all" if every else "any", certain)
        case exp.Between() if any(map(columns.names, (inner.args["low"], inner.args["high"]))):
            # Each of its sides is over cells of its own that may be missing.
            both = exp.And(this=_sides(inner)[0], expression=_sides(inner)[1])
            return _certain(both, columns, opposite=opposite, value=value)
        case exp.Is() | exp.NullSafeEQ() | exp.NullSafeNEQ():
            return condition(inner, columns, opposite=value == opposite)
    entry = condition(inner, columns, opposite=value == opposite)
    known = {"column": _column_in(entry), "op": "is_null" if opposite else "is_not_null"}
    return _joined("any" if opposite else "all", [entry, known])


def _column_in(entry: Entry) -> str:
    """Return the column of a comparison, which has one, also if it is made of several entries."""
    while "column" not in entry:
        (entry, *_), *_ = entry.values()
    return str(entry["column"])


def _is(node: exp.Is, columns: Columns, *, opposite: bool) -> Entry:
    right = unwrapped(node.args["expression"])
    if isinstance(right, exp.Null):
        return {"column": columns.column(node.this), "op": "is_not_null" if opposite else "is_null"}
    if not isinstance(right, exp.Boolean):
        raise columns.source.refusal(node, "Write IS NULL, IS TRUE or IS FALSE.")
    return _certain(node.this, columns, opposite=opposite, value=bool(right.this))
