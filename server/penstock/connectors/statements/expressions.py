"""Make the nodes of SQL expressions, which SQLGlot writes in the words of one engine.

Functions and types are written as they are named here: SQLGlot translates none of them, because
another engine's function of nearly the same meaning would go unnoticed.  Every call makes new
nodes, and no node stands in two places.
"""

from collections.abc import Iterable
from functools import reduce
from typing import Final

from sqlglot import exp

Node = exp.Expr

_WRAPPED: Final = (exp.Binary, exp.Neg)


def name(text: str, *, quoted: bool = False) -> exp.Identifier:
    """Return an identifier; ``quoted`` for names from outside."""
    return exp.Identifier(this=text, quoted=quoted)


def column(text: str, table: str | None = None, *, quoted: bool = False) -> exp.Column:
    """Return a column of ``table``, or of the only relation."""
    inside = None if table is None else name(table)
    return exp.Column(this=name(text, quoted=quoted), table=inside)


def number(value: int | str) -> Node:
    """Return a numeral."""
    text = str(value)
    if text.startswith("-"):
        return exp.Neg(this=exp.Literal.number(text[1:]))
    return exp.Literal.number(text)


def text(value: str) -> Node:
    """Return a literal text."""
    return exp.Literal.string(value)


def cast(node: Node, kind: str) -> Node:
    """Return a cast to a type of the engine's own."""
    return exp.Cast(this=node, to=_type(kind))


def try_cast(node: Node, kind: str) -> Node:
    """Return a cast that is NULL for what is not of the type, for engines that have one."""
    return exp.TryCast(this=node, to=_type(kind))


def _type(kind: str) -> exp.DataType:
    return exp.DataType(this=exp.DataType.Type.USERDEFINED, kind=kind)


def call(function: str, *arguments: Node) -> Node:
    """Return a call of a function, by the engine's own name of it."""
    return exp.Anonymous(this=function, expressions=list(arguments))


def count() -> Node:
    """Return the number of rows."""
    return call("count", exp.Star())


def case(*cases: tuple[Node, Node], otherwise: Node | None = None) -> Node:
    """Return the value of the first case whose condition holds."""
    pairs = [exp.If(this=condition, true=value) for condition, value in cases]
    return exp.Case(ifs=pairs, default=otherwise)


def plus(left: Node, right: Node) -> Node:
    """Return a sum."""
    return exp.Add(this=left, expression=_wrapped(right))


def plus_term(left: Node, right: Node) -> Node:
    """Return a sum of terms that bind more closely."""
    return exp.Add(this=left, expression=right)


def minus(left: Node, right: Node) -> Node:
    """Return a difference."""
    return exp.Sub(this=left, expression=_wrapped(right))


def times(left: Node, right: Node) -> Node:
    """Return a product."""
    return exp.Mul(this=_wrapped(left), expression=_wrapped(right))


def product(factors: Iterable[Node]) -> Node:
    """Return a product of several factors, which SQLGlot writes without calls inside each other."""
    wrapped = map(_wrapped, factors)
    return reduce(lambda left, right: exp.Mul(this=left, expression=right), wrapped)


def divided(left: Node, right: Node) -> Node:
    """Return a quotient of two doubles, without SQLGlot's casts and checks for zero."""
    # "typed" says that no cast is missing; the operands are doubles.
    return exp.Div(this=_wrapped(left), expression=_wrapped(right), typed=True, safe=False)


def exact_quotient(left: Node, right: Node) -> Node:
    """Return a quotient of exact numbers that has no digits after the point."""
    return exp.Div(this=_wrapped(left), expression=_wrapped(right), typed=False, safe=False)


def whole_quotient(left: Node, right: Node) -> Node:
    """Return the whole part of a quotient, for engines that have an operator for it."""
    return exp.IntDiv(this=_wrapped(left), expression=_wrapped(right))


def joined_texts(parts: Iterable[Node]) -> Node:
    """Return texts one after another."""
    return reduce(lambda left, right: exp.DPipe(this=left, expression=right, safe=True), parts)


def compared(left: Node, operator: str, right: Node) -> Node:
    """Return a comparison: one of = < <= > >=."""
    kind = {"=": exp.EQ, "<": exp.LT, "<=": exp.LTE, ">": exp.GT, ">=": exp.GTE}[operator]
    return kind(this=left, expression=_wrapped(right))


def between(node: Node, low: Node, high: Node) -> Node:
    """Return a condition: from ``low`` to ``high``, both included."""
    return exp.Between(this=node, low=low, high=high)


def within(node: Node, values: Iterable[Node]) -> Node:
    """Return a condition: the node is one of the values."""
    return exp.In(this=node, expressions=list(values))


def negated(condition: Node) -> Node:
    """Return the opposite of a condition."""
    return exp.Not(this=condition)


def is_null(node: Node) -> Node:
    """Return a condition: there is no value."""
    return exp.Is(this=node, expression=exp.Null())


def all_of(conditions: Iterable[Node]) -> Node:
    """Return a condition: all of the given ones hold."""
    return reduce(lambda left, right: exp.And(this=left, expression=right), conditions)


def any_of(conditions: Iterable[Node]) -> Node:
    """Return a condition: at least one of the given ones holds."""
    return reduce(lambda left, right: exp.Or(this=left, expression=right), conditions)


def in_parentheses(node: Node) -> Node:
    """Return a node that binds as one."""
    return exp.Paren(this=node)


def collated(node: Node, collation: str) -> Node:
    """Return a text that is compared by a collation."""
    return exp.Collate(this=node, expression=name(collation, quoted=True))


def clamped(node: Node, low: Node, high: Node) -> Node:
    """Return a number, brought between ``low`` and ``high``."""
    return call("least", call("greatest", node, low), high)


def order_number(partition: Node, order: Iterable[Node], *, equal: bool = False) -> Node:
    """Return the number of a row among those with the same ``partition``, in an order.

    Rows that are equal in the order have different numbers, or one number with ``equal``.
    """
    return over(call("dense_rank" if equal else "row_number"), [partition], order)


def over(function: Node, partition: Iterable[Node], order: Iterable[Node] = ()) -> Node:
    """Return a function of the rows with the same ``partition``: of all, or up to a row's own."""
    # No value is NULL, so nothing is said of where NULL stands.
    ordered = [exp.Ordered(this=each, nulls_first=None) for each in order]
    return exp.Window(
        this=function,
        partition_by=list(partition),
        order=exp.Order(expressions=ordered) if ordered else None,
    )


def named(node: Node, alias: str, *, quoted: bool = False) -> Node:
    """Return a selected expression with its name."""
    return exp.Alias(this=node, alias=name(alias, quoted=quoted))


def table(relation: str, alias: str | None = None) -> exp.Table:
    """Return a relation of ours by its name."""
    renamed = None if alias is None else exp.TableAlias(this=name(alias))
    return exp.Table(this=name(relation), alias=renamed)


def select(
    columns: Iterable[Node],
    source: Node,
    *,
    joins: Iterable[exp.Join] = (),
    where: Node | None = None,
    group: Iterable[Node] = (),
) -> exp.Select:
    """Return a SELECT."""
    grouped = list(group)
    return exp.Select(
        expressions=list(columns),
        from_=exp.From(this=source),
        joins=list(joins),
        where=None if where is None else exp.Where(this=where),
        group=exp.Group(expressions=grouped) if grouped else None,
    )


def join(relation: Node, condition: Node | None, *, side: str | None = None) -> exp.Join:
    """Return a join; without a condition every row meets every row."""
    if condition is None:
        return exp.Join(this=relation, kind="CROSS")
    return exp.Join(this=relation, on=condition, side=side)


def subquery(inner: exp.Select, alias: str) -> Node:
    """Return a SELECT as a relation."""
    return exp.Subquery(this=inner, alias=exp.TableAlias(this=name(alias)))


def scalar(inner: exp.Select) -> Node:
    """Return the only cell of a SELECT."""
    return exp.Subquery(this=inner)


def with_parts(last: exp.Select, parts: dict[str, exp.Select]) -> exp.Select:
    """Return ``last`` with named parts in front, in their order."""
    tables = [
        exp.CTE(this=part, alias=exp.TableAlias(this=name(alias))) for alias, part in parts.items()
    ]
    last.set("with_", exp.With(expressions=tables))
    return last


def _wrapped(node: Node) -> Node:
    return exp.Paren(this=node) if isinstance(node, _WRAPPED) else node
