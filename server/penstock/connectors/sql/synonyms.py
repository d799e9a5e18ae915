"""Rewrite what has another spelling in SQL, before any part of a statement is read.

``IF`` and ``CASE x WHEN`` become ``CASE WHEN``, ``MEAN`` becomes ``AVG``, ``EXTRACT(YEAR FROM d)``
becomes ``YEAR(d)``, ``FLOOR(x / 10) * 10`` becomes bins, and a condition that is
cast to an integer becomes the ``CASE`` with 1 and 0.  What a column holds decides nothing here.
"""

from collections.abc import Sequence
from typing import Final

from sqlglot import exp

Node = exp.Expr

INTEGERS: Final = frozenset(
    {exp.DType.TINYINT, exp.DType.SMALLINT, exp.DType.INT, exp.DType.BIGINT, exp.DType.INT128}
)
"""The types of integers in SQL."""

_CONDITIONS: Final = (
    *(exp.And, exp.Or, exp.Not, exp.In, exp.Between, exp.Is),
    *(exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
)


def unwrapped(node: Node) -> Node:
    """Return a node without the parentheses around it."""
    while isinstance(node, exp.Paren):
        node = node.this
    return node


def rewritten(tree: Node) -> Node:
    """Return a statement in which every part has one spelling; the tree itself is changed."""
    # From the leaves to the root, so that a part is moved after all that it holds.
    for node in reversed(list(tree.walk())):
        other = _rewritten(node)
        if other is not None:
            node.replace(other)
    return tree


def _rewritten(node: Node) -> Node | None:
    match node:
        case exp.If() if node.arg_key != "ifs":
            first = exp.If(this=node.this, true=node.args["true"])
            return exp.Case(ifs=[first], default=node.args.get("false"))
        # What is copied holds no case: copies of copies would grow without limits.
        case exp.Case() if isinstance(node.this, exp.Column):
            return _searched(node)
        case exp.Sum():
            return _with_zero(unwrapped(node.this))
        case exp.Cast() if node.to.this in INTEGERS and _is_condition(node.this):
            return _as_integer(node)
        case exp.Floor() if isinstance(unwrapped(node.this), exp.Div):
            return _bins(unwrapped(node.this))
        case exp.Mul():
            return _at_edges(node)
        case exp.Extract() if node.name.casefold() == "year":
            return exp.Year(this=node.args["expression"])
        case exp.Anonymous(this=str(name)):
            return _called(name.casefold(), node.expressions)
    return None


def _called(name: str, arguments: Sequence[Node]) -> Node | None:
    """Return what a function is that the parser knows by another name."""
    match name, arguments:
        case "mean", [only]:
            return exp.Avg(this=only)
        case "date_part", [exp.Literal(this=str(part)), day] if part.casefold() == "year":
            return exp.Year(this=day)
    return None


def _bins(division: Node) -> Node | None:
    """Return bins of one width: a ``WIDTH_BUCKET`` that has this alone beside its column."""
    column, width = unwrapped(division.this), unwrapped(division.args["expression"])
    if not isinstance(column, exp.Column | exp.Coalesce) or not isinstance(width, exp.Literal):
        return None
    return exp.WidthBucket(this=column, num_buckets=width)


def _at_edges(product: exp.Mul) -> Node | None:
    """Return bins of one width that are multiplied by it, which are the same by their edges."""
    both = (unwrapped(product.this), unwrapped(product.args["expression"]))
    for bins, factor in (both, both[::-1]):
        if isinstance(bins, exp.WidthBucket) and bins.args.get("min_value") is None:
            return bins if bins.args["num_buckets"] == factor else None
    return None


def _searched(node: exp.Case) -> Node:
    """Return a case that compares one operand as one of conditions."""
    whens = [
        exp.If(
            this=exp.EQ(this=node.this.copy(), expression=each.this),
            true=each.args["true"],
        )
        for each in node.args["ifs"]
    ]
    return exp.Case(ifs=whens, default=node.args.get("default"))


def _with_zero(case: Node) -> Node | None:
    """Return a sum of ones with 0 in all other rows, which adds nothing there, either."""
    if not isinstance(case, exp.Case):
        return None
    default = case.args.get("default")
    first, *others = case.args["ifs"]
    if others or unwrapped(first.args["true"]) != exp.Literal.number(1):
        return None
    if default is not None and not isinstance(unwrapped(default), exp.Null):
        return None
    return exp.Sum(this=exp.Case(ifs=[first], default=exp.Literal.number(0)))


def _as_integer(node: exp.Cast) -> Node | None:
    """Return the case of a condition that is cast: 1, 0, or missing where it is unknown."""
    if node.this.find(exp.Case) is not None:
        return None
    if isinstance(node.parent, exp.Sum):
        # Nothing is added where it is unknown, either.
        return exp.Case(ifs=[_when(node.this, 1)], default=exp.Literal.number(0))
    opposite = exp.Not(this=exp.Paren(this=node.this.copy()))
    return exp.Case(ifs=[_when(node.this, 1), _when(opposite, 0)])


def _is_condition(node: Node) -> bool:
    return isinstance(unwrapped(node), _CONDITIONS)


def _when(condition: Node, value: int) -> exp.If:
    return exp.If(this=condition, true=exp.Literal.number(value))
