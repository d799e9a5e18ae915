"""Read ``GROUP BY``: declared categories, and bins by ``WIDTH_BUCKET`` or ``CASE``.

The last bin of a spec holds its upper edge.  ``WIDTH_BUCKET`` leaves it to the rows beyond, so that
a condition leaves these rows out.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final

from sqlglot import exp

from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.plan import Grouping
from penstock.connectors.specs.cells import NUMERIC
from penstock.connectors.specs.models import MOST_GROUPINGS
from penstock.connectors.sql.conditions import PlacedEntry, beyond, conjuncts
from penstock.connectors.sql.grammar import Node, ParsedStatement
from penstock.connectors.sql.names import Columns, is_named, is_same, number
from penstock.connectors.sql.synonyms import unwrapped
from penstock.spec_fields import MOST_BINS

_FINEST: Final = 2**20
"""The largest denominator of a width: multiples of it are exact, in SQL too."""

_MOST_KEYS: Final = 32
"""The most keys of ``ORDER BY``."""


@dataclass(frozen=True)
class PlacedGrouping:
    """Hold a grouping of a spec, the node that says it, and the conditions that come with it."""

    node: Node
    grouping: dict[str, Any]
    where: tuple[PlacedEntry, ...] = ()


def groupings(
    statement: ParsedStatement, columns: Columns, selected: Sequence[Node]
) -> list[PlacedGrouping]:
    """Return the groupings of a statement.  Raises ``InvalidInput``.

    ``selected`` are the selected expressions that are no aggregates; each is one of the groupings.
    """
    nodes = _nodes(statement, selected)
    read: list[PlacedGrouping] = []
    for node in nodes:
        grouping = grouping_of(referenced(statement, columns, node), columns)
        if any(grouping.grouping == other.grouping for other in read):
            raise columns.source.refusal(node, "Each grouping is named once. Leave this one out.")
        read.append(grouping)
    require_grouped(selected, read, columns)
    return read


def require_grouped(
    selected: Sequence[Node], read: Sequence[PlacedGrouping], columns: Columns
) -> None:
    """Raise ``InvalidInput`` for a selected expression that is none of the groupings."""
    for node in selected:
        inner = _plain(node)
        if not _is_grouping(inner, [each.grouping for each in read], columns):
            raise columns.source.refusal(
                inner,
                "This is no aggregate, and GROUP BY does not name it. Name it there, or leave it"
                " out.",
            )


def ordering(
    statement: ParsedStatement, columns: Columns, groups: Sequence[PlacedGrouping]
) -> Node | None:
    """Return the first key of ``ORDER BY``; None if there is none, or one row to order.

    Keys are what is selected or grouped by, so that the groups of the answer can be sorted by them;
    no statistic depends on it.  Raises ``InvalidInput`` for any other key.
    """
    order = statement.select.args.get("order")
    if order is None:
        return None
    selected = [_plain(each) for each in statement.expressions]
    keys = [unwrapped(each.this) for each in order.expressions]
    if len(keys) > _MOST_KEYS:
        raise columns.source.refusal(keys[_MOST_KEYS], f"Order by at most {_MOST_KEYS} keys.")
    for key in keys:
        node = referenced(statement, columns, key)
        if (isinstance(node, exp.Var) and node.name.upper() == "ALL") or node in selected:
            continue
        if not _is_grouping(node, [each.grouping for each in groups], columns):
            raise columns.source.refusal(
                key, "Order by what is selected, or leave ORDER BY out: the answer has no more."
            )
    return keys[0] if groups else None


def _nodes(statement: ParsedStatement, selected: Sequence[Node]) -> list[Node]:
    """Return the nodes of ``GROUP BY``.  Raises ``InvalidInput`` if they, or others, are too many.

    To read a grouping of bins makes all its edges, so they are counted before.
    """
    group = statement.select.args.get("group")
    nodes: list[Node] = []
    if group is not None:
        every, nodes = group.args.get("all"), list(group.expressions)
        if every is False or bool(every) == bool(nodes):
            raise statement.source.refusal(
                group, "Write GROUP BY with the groupings, GROUP BY ALL without any, or neither."
            )
        nodes = nodes or [_plain(each) for each in selected]
    require_few(nodes, statement)
    require_few(selected, statement)
    return nodes


def require_few(nodes: Sequence[Node], statement: ParsedStatement) -> None:
    """Raise ``InvalidInput`` for more groupings than one query may have."""
    if len(nodes) > MOST_GROUPINGS:
        raise statement.source.refusal(
            nodes[MOST_GROUPINGS],
            f"These are {len(nodes)} groupings, and a query has at most {MOST_GROUPINGS}."
            " Leave this one out.",
        )


def _plain(node: Node) -> Node:
    return unwrapped(node.this if isinstance(node, exp.Alias) else node)


def _is_grouping(node: Node, read: Sequence[dict[str, Any]], columns: Columns) -> bool:
    """Return True if a selected expression is one of the groupings; it is read once for all."""
    if isinstance(node, exp.WidthBucket | exp.Case):
        return grouping_of(node, columns).grouping in read
    return columns.names(node) and {"column": columns.column(node)} in read


def referenced(statement: ParsedStatement, columns: Columns, node: Node) -> Node:
    """Return what a number or an alias in ``GROUP BY`` stands for; anything else is itself.

    Raises ``InvalidInput`` for a number that is none of a selected expression.
    """
    inner = unwrapped(node)
    if isinstance(inner, exp.Literal) and not inner.is_string:
        place = number(columns.source, inner)
        if place not in range(1, len(statement.expressions) + 1):
            raise columns.source.refusal(
                inner, "No selected expression has this number; the first has 1."
            )
        return _plain(statement.expressions[int(place) - 1])
    if isinstance(inner, exp.Column) and inner.args.get("table") is None:
        if any(is_named(inner.this, name) for name in columns.dataset.columns):
            return inner
        for each in statement.expressions:
            alias = each.args.get("alias") if isinstance(each, exp.Alias) else None
            if alias is not None and is_same(inner.this, alias):
                return _plain(each)
    return inner


def grouping_of(node: Node, columns: Columns) -> PlacedGrouping:
    """Return the grouping that an expression makes.  Raises ``InvalidInput`` if it makes none."""
    match node:
        case exp.WidthBucket():
            return _buckets(node, columns)
        case exp.Case():
            return _cases(node, columns)
    return _categories(node, columns)


def _categories(node: Node, columns: Columns) -> PlacedGrouping:
    name = columns.column(node)
    spec = columns.spec(name)
    if spec.type != "boolean" and spec.categories is None:
        raise columns.source.refusal(
            node,
            f"There are no declared categories of {name[:64]}, and keys are never discovered in"
            " data. Make bins of it by WIDTH_BUCKET, or groups by CASE, or declare its categories.",
        )
    return PlacedGrouping(node, {"column": name})


def _numeric(node: Node, columns: Columns) -> str:
    name = columns.column(node)
    kind = columns.spec(name).type
    if kind not in NUMERIC:
        raise columns.source.refusal(
            node, f"Bins are for integers and numbers; this column is declared as {kind}."
        )
    return name


def _buckets(node: exp.WidthBucket, columns: Columns) -> PlacedGrouping:
    name = _numeric(node.this, columns)
    if node.args.get("min_value") is None:
        edges = _by_width(node, name, columns)
    elif isinstance(low := unwrapped(node.args["min_value"]), exp.Array):
        edges = [number(columns.source, each) for each in low.expressions]
    else:
        edges = _of_equal_width(node, columns)
    if any(left >= right for left, right in pairwise(edges)) or len(edges) < 2:
        raise columns.source.refusal(node, "The edges of bins rise: write at least two of them.")
    end = {"column": name, "op": "<", "value": edges[-1]}
    bins = {"column": name, "bins": edges}
    return PlacedGrouping(node, bins, (PlacedEntry(node, end),))


def _by_width(node: exp.WidthBucket, name: str, columns: Columns) -> list[int | float]:
    """Return the multiples of a width between which a column's bounds are."""
    width, spec = Fraction(number(columns.source, node.args["num_buckets"])), columns.spec(name)
    if spec.lower is None or spec.upper is None:
        raise columns.source.refusal(
            node,
            f"There are no declared bounds of {name[:64]} between which bins could be. Write"
            " WIDTH_BUCKET with the lowest edge, the highest edge and the number of bins.",
        )
    if width <= 0 or width.denominator > _FINEST:
        raise columns.source.refusal(
            node, "The width of bins is a number above 0, whole or a sum of halves, such as 0.25."
        )
    first, last = (math.floor(Fraction(bound) / width) for bound in (spec.lower, spec.upper))
    if last + 1 - first > MOST_BINS:
        raise columns.source.refusal(
            node,
            f"The bounds of {name[:64]} have {last + 1 - first} bins of this width between them,"
            f" and at most {MOST_BINS} are counted. Write a larger width.",
        )
    return _edges(first * width, width, last + 1 - first)


def _edges(start: Fraction, width: Fraction, count: int) -> list[int | float]:
    """Return the edges of bins of one width."""
    unit = start.denominator * width.denominator
    # In whole numbers of one unit: exact, and many times as fast as fractions.
    first, step = start.numerator * width.denominator, width.numerator * start.denominator
    edges = (first + place * step for place in range(count + 1))
    return [edge // unit if edge % unit == 0 else edge / unit for edge in edges]


def _of_equal_width(node: exp.WidthBucket, columns: Columns) -> list[int | float]:
    arguments = [node.args.get(part) for part in ("min_value", "max_value", "num_buckets")]
    if any(each is None for each in arguments):
        raise columns.source.refusal(
            node,
            "WIDTH_BUCKET takes a column, the lowest edge, the highest edge and the number of"
            " bins; or a column and an array of edges.",
        )
    low, high, count = (number(columns.source, each) for each in arguments if each is not None)
    if count not in range(1, MOST_BINS + 1):
        raise columns.source.refusal(
            node, f"The number of bins is a whole number, from 1 to {MOST_BINS}."
        )
    return _edges(Fraction(low), (Fraction(high) - Fraction(low)) / Fraction(count), int(count))


def _cases(node: exp.Case, columns: Columns) -> PlacedGrouping:
    """Return what a CASE makes: bins, if it names its ranges as bins are named, or else groups.

    Bins are ranges that follow each other, the last one with its upper edge.
    """
    ranges = [_range(each, columns) for each in node.args["ifs"]]
    bins = _bins([each for each in ranges if each is not None])
    if bins is None or None in ranges or node.args.get("default") is not None:
        return _categories(node, columns)
    return PlacedGrouping(node, bins)


@dataclass(frozen=True)
class _Range:
    column: str
    low: int | float
    high: int | float
    is_closed: bool
    label: str


def _bins(ranges: Sequence[_Range]) -> dict[str, Any] | None:
    names = {each.column for each in ranges}
    if len(names) != 1:
        return None
    (name,) = names
    edges = [ranges[0].low, *(each.high for each in ranges)]
    closed = [each.is_closed for each in ranges]
    rising = all(left < right for left, right in pairwise(edges))
    touching = all(each.low == edge for each, edge in zip(ranges, edges, strict=False))
    if not rising or not touching or any(closed[:-1]) or not closed[-1]:
        return None
    bins = tuple(float(edge) for edge in edges)
    labels = Grouping(Column(name, "number", None), edges=bins).labels
    if [each.label for each in ranges] != list(labels):
        return None
    return {"column": name, "bins": edges}


def _range(node: exp.If, columns: Columns) -> _Range | None:
    """Return the range of one case, if it is named as a bin; None if it is any other one.

    A condition that is passed over would leave rows in that the statement leaves out.
    """
    label = unwrapped(node.args["true"])
    text = str(label.this) if isinstance(label, exp.Literal) and label.is_string else ""
    edges = _edges_named(text)
    if edges is None:
        return None
    entries = [each.entry for each in conjuncts(node.this, columns)]
    name = entries[0].get("column")
    if name is None or columns.spec(name).type not in NUMERIC:
        return None
    (low, high), is_closed, kind = edges, text.endswith("]"), columns.spec(name).type
    sides = [beyond(name, ">=", low, kind), beyond(name, "<=" if is_closed else "<", high, kind)]
    return _Range(name, low, high, is_closed, text) if entries == sides else None


def _edges_named(text: str) -> tuple[int | float, int | float] | None:
    """Return the edges of a bin by its name, such as ``[0, 18)``; None for other names."""
    low, comma, high = text[1:-1].partition(", ")
    if not comma or text[0] != "[" or text[-1] not in ")]":
        return None
    try:
        edges = float(low), float(high)
    except ValueError:
        return None
    if not all(map(math.isfinite, edges)):
        return None
    first, last = (int(edge) if edge == int(edge) else edge for edge in edges)
    return first, last
