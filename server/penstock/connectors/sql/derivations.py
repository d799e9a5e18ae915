"""Read integer arithmetic and ``CASE`` as derived columns of a spec."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlglot import exp

from penstock.connectors.formulas.derived_columns import with_derived
from penstock.connectors.formulas.expressions import MOST_DERIVED, Derived
from penstock.connectors.planning.refusals import checked
from penstock.connectors.specs.models import ColumnSpec
from penstock.connectors.sql.conditions import condition
from penstock.connectors.sql.grammar import Node
from penstock.connectors.sql.names import Columns, constant
from penstock.connectors.sql.synonyms import unwrapped
from penstock.errors import InvalidInput
from penstock.spec_fields import LONGEST_COLUMN_NAME

Expression = int | str | dict[str, Any]
"""An expression, as specs have it."""


@dataclass(frozen=True)
class Derivations:
    """Collect the derived columns of a statement, by the names that it gives them.

    ``columns`` are those of the dataset alone: no derived column is made of another one.
    ``aliases`` are the selected expressions that have one, and what selected aggregates are of.
    """

    columns: Columns
    aliases: tuple[tuple[Node, str], ...]
    expressions: dict[str, Expression] = field(default_factory=dict)
    nodes: dict[str, Node] = field(default_factory=dict)
    specs: dict[str, ColumnSpec] = field(default_factory=dict)

    def name_of(self, node: Node, selected: Node | None = None) -> str:
        """Return the name of the derived column that a node computes.  Raises ``InvalidInput``.

        If an alias of the node, or of ``selected``, is free, that is the name.
        """
        expression = _expression(node, self.columns)
        for name, known in self.expressions.items():
            if known == expression:
                return name
        if len(self.expressions) == MOST_DERIVED:
            raise self.columns.source.refusal(
                node,
                f"A query has at most {MOST_DERIVED} derived columns, and this is one more. Write"
                " several statements.",
            )
        name = self._new_name(node if selected is None else selected)
        self.specs[name] = self._spec(node, name, expression)
        self.expressions[name], self.nodes[name] = expression, node
        return name

    def spec_of(self, name: str) -> ColumnSpec:
        """Return what a column may hold, be it derived or declared."""
        return self.specs.get(name) or self.columns.dataset.columns[name]

    def _spec(self, node: Node, name: str, expression: Expression) -> ColumnSpec:
        try:
            derived = checked(Derived, {name: expression})
            return with_derived(self.columns.dataset, derived).columns[name]
        except InvalidInput as error:
            raise self.columns.source.refusal(node, error.errors[0][1]) from None

    def _new_name(self, node: Node) -> str:
        taken = {each.casefold() for each in (*self.columns.dataset.columns, *self.expressions)}
        own = (alias for each, alias in self.aliases if each == node)
        return next(name for name in (*own, *_numbered(taken)) if _is_free(name, taken))


def _numbered(taken: set[str]) -> Iterator[str]:
    return (f"derived_{number}" for number in range(1, len(taken) + 2))


def _is_free(name: str, taken: set[str]) -> bool:
    return name.casefold() not in taken and name.isprintable() and len(name) <= LONGEST_COLUMN_NAME


def with_derivations(columns: Columns, selected: list[Node]) -> tuple[Columns, Derivations]:
    """Return the columns of a statement, with those that it derives, and what collects them."""
    aliases = [
        (unwrapped(each.this), str(each.args["alias"].this))
        for each in selected
        if isinstance(each, exp.Alias)
    ]
    derivations = Derivations(columns, (*aliases, *_of_operands(aliases)))
    return replace(columns, derivations=derivations), derivations


def _of_operands(aliases: Sequence[tuple[Node, str]]) -> Iterator[tuple[Node, str]]:
    """Yield what an aggregate or bins are of, with their alias; not if they have several."""
    names: dict[Node, set[str]] = {}
    for node, alias in aliases:
        operand = _operand(node)
        if operand is not None:
            names.setdefault(unwrapped(operand), set()).add(alias)
    for operand, several in names.items():
        if len(several) == 1:
            yield operand, several.pop()


def _operand(node: Node) -> Node | None:
    """Return the one expression that an aggregate or bins are of; None of anything else."""
    match node:
        case exp.Filter():
            return _operand(node.this)
        case exp.WithinGroup():
            ordered = node.args["expression"].find(exp.Ordered)
            return None if ordered is None else ordered.this
        case exp.Case():
            side = node.args["ifs"][0].this.find(exp.GTE)
            return None if side is None else side.this
        case exp.Sum() | exp.Avg() | exp.VariancePop() | exp.StddevPop():
            operand: Node = node.this
        case exp.Median() | exp.PercentileCont() | exp.WidthBucket():
            operand = node.this
        case _:
            return None
    return operand


def _expression(node: Node, columns: Columns) -> Expression:
    inner = unwrapped(node)
    match inner:
        case exp.Mul():
            return {"multiply": [_expression(part, columns) for part in _factors(inner)]}
        case exp.Add() | exp.Sub():
            return _sum(inner, columns)
        case exp.Case():
            return _cases(inner, columns)
        case exp.Coalesce() if not columns.has_stand_in(inner):
            return _stood_in(inner, columns)
        case exp.Literal() if inner.is_string:
            return str(inner.this)
        case exp.Neg() if not isinstance(unwrapped(inner.this), exp.Literal):
            return {"negate": _expression(inner.this, columns)}
        case exp.Literal() | exp.Neg():
            value = constant(columns.source, inner, "integer")
            return int(value)
    return {"column": columns.column(inner)}


def _factors(node: Node) -> Iterator[Node]:
    """Yield the factors of a chain of products, from left to right."""
    waiting = [node]
    while waiting:
        inner = unwrapped(waiting.pop())
        if isinstance(inner, exp.Mul):
            waiting += [inner.args["expression"], inner.this]
        else:
            yield inner


def _terms(node: Node) -> Iterator[tuple[Node, bool]]:
    """Yield the terms of a chain of sums and differences, and True with those that are taken off.

    It calls itself for none of them: a chain is as deep a tree as it has signs.
    """
    waiting = [(node, False)]
    while waiting:
        each, opposite = waiting.pop()
        inner = unwrapped(each)
        if isinstance(inner, exp.Add | exp.Sub):
            second = opposite != isinstance(inner, exp.Sub)
            waiting += [(inner.args["expression"], second), (inner.this, opposite)]
        else:
            yield inner, opposite


def _sum(node: Node, columns: Columns) -> Expression:
    """Return a sum, or the difference of what is added and what is taken off."""
    added: list[Expression] = []
    taken: list[Expression] = []
    for term, opposite in _terms(node):
        (taken if opposite else added).append(_expression(term, columns))
    if not taken:
        return {"add": added}
    return {"subtract": [each[0] if len(each) == 1 else {"add": each} for each in (added, taken)]}


def _cases(node: exp.Case, columns: Columns) -> Expression:
    cases = [
        {
            "when": condition(each.this, columns),
            "then": _expression(each.args["true"], columns),
        }
        for each in node.args["ifs"]
    ]
    default = node.args.get("default")
    if default is None or isinstance(unwrapped(default), exp.Null):
        return {"case": cases}
    return {"case": cases, "else": _expression(default, columns)}


def _stood_in(node: exp.Coalesce, columns: Columns) -> Expression:
    """Return a column with a constant in place of its missing cells, which is none of its own."""
    others = node.expressions
    if len(others) != 1:
        raise columns.source.refusal(node, "Write COALESCE with a column and one constant.")
    name = columns.column(node.this)
    there = {"when": {"column": name, "op": "is_not_null"}, "then": {"column": name}}
    return {"case": [there], "else": _expression(others[0], columns)}
