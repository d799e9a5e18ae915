"""Look up the columns that a statement names, and read the constants beside them."""

import math
from dataclasses import dataclass
from typing import Final, Protocol

from sqlglot import exp

from penstock.connectors.specs.cells import EXAMPLES, cell, label
from penstock.connectors.specs.models import ColumnSpec, ColumnType, DatasetSpec
from penstock.connectors.sql.grammar import Node, ParsedStatement, unwrapped
from penstock.connectors.sql.places import SqlText
from penstock.spec_fields import Scalar

_LONGEST_NUMBER = 40
"""The most digits of a number; no double has more of its own."""


_COMPUTED: Final = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Case)


class Deriving(Protocol):
    """Represent what makes columns of the expressions of a statement."""

    def name_of(self, node: Node) -> str:
        """Return the name of the derived column that a node computes."""

    def spec_of(self, name: str) -> ColumnSpec:
        """Return what a column may hold, be it derived or declared."""


@dataclass(frozen=True)
class Columns:
    """Hold the columns of a statement's dataset, and the name that the statement calls it by.

    Without ``derivations`` there are declared columns alone.
    """

    source: SqlText
    dataset: DatasetSpec
    table: exp.Identifier
    derivations: Deriving | None = None

    def names(self, node: Node) -> bool:
        """Return True if a node is a column, be it declared or computed."""
        inner = unwrapped(node)
        if isinstance(inner, exp.Neg):
            return not isinstance(unwrapped(inner.this), exp.Literal)
        return isinstance(inner, (exp.Column, exp.Coalesce, *_COMPUTED))

    def column(self, node: Node) -> str:
        """Return the column that a node reads, with what stands in for missing cells.

        Raises ``InvalidInput`` for any other node, for a column that is not declared, and for one
        whose missing cells would be read otherwise than SQL reads them.
        """
        inner = unwrapped(node)
        if isinstance(inner, _COMPUTED) and self.names(inner):
            return self._derived(inner)
        if isinstance(inner, exp.Coalesce):
            return self._with_stand_in(inner) if self.has_stand_in(inner) else self._derived(inner)
        name = self._named(inner)
        missing = self.spec(name).missing
        if missing is not None:
            raise self.source.refusal(
                inner,
                f"{label_of(missing)} stands in for the column's missing cells, as the dataset"
                f" declares. Write COALESCE, with the column and {label_of(missing)}.",
            )
        return name

    def spec(self, name: str) -> ColumnSpec:
        """Return a column's declaration."""
        return self.derivations.spec_of(name) if self.derivations else self.dataset.columns[name]

    def has_stand_in(self, node: exp.Coalesce) -> bool:
        """Return True if the dataset declares what stands in for missing cells of the column."""
        return self.spec(self._named(unwrapped(node.this))).missing is not None

    def _derived(self, node: Node) -> str:
        if self.derivations is None:
            raise self.source.refusal(
                node, "Conditions of CASE compare declared columns. Name one without computing."
            )
        return self.derivations.name_of(node)

    def _with_stand_in(self, node: exp.Coalesce) -> str:
        name = self._named(unwrapped(node.this))
        spec = self.spec(name)
        others = node.expressions
        value = constant(self.source, others[0], spec.type) if len(others) == 1 else None
        missing = "" if spec.missing is None else label_of(spec.missing)
        if value is None or cell(spec.type, value) != cell(spec.type, spec.missing):
            raise self.source.refusal(
                node,
                f"{missing} stands in for the column's missing cells, as the dataset declares."
                f" Write COALESCE with {missing} alone.",
            )
        return name

    def _named(self, node: Node) -> str:
        if not isinstance(node, exp.Column) or not isinstance(node.this, exp.Identifier):
            raise self.source.refusal(node, "Write the name of a column here.")
        table = node.args.get("table")
        if table is not None and not is_same(table, self.table):
            raise self.source.refusal(table, "The statement reads from no dataset of this name.")
        name = next((each for each in self.dataset.columns if is_named(node.this, each)), None)
        if name is None:
            raise self.source.refusal(
                node,
                f"The dataset {self.dataset.name} declares no column of this name; it declares"
                f" {', '.join(sorted(self.dataset.columns)[:20])}.",
            )
        return name


def columns_of(statement: ParsedStatement, dataset: DatasetSpec) -> Columns:
    """Return the columns of a statement over its dataset."""
    return Columns(statement.source, dataset, statement.alias)


def is_named(identifier: exp.Identifier, name: str) -> bool:
    """Return True if an identifier names a column: in any case, unless it is quoted."""
    written = str(identifier.this)
    return written == name or (
        not identifier.args.get("quoted") and written.casefold() == name.casefold()
    )


def is_same(identifier: exp.Identifier, other: exp.Identifier) -> bool:
    """Return True if two identifiers of a statement name the same."""
    quoted = identifier.args.get("quoted") and other.args.get("quoted")
    left, right = str(identifier.this), str(other.this)
    return left == right or (not quoted and left.casefold() == right.casefold())


def label_of(value: Scalar) -> str:
    """Return how a declared value is shown in a message."""
    return label(value)[:64]


def constant(source: SqlText, node: Node, kind: ColumnType) -> Scalar:
    """Return a constant of a column of type ``kind`` as specs have it.  Raises ``InvalidInput``."""
    inner = unwrapped(node)
    if isinstance(inner, exp.Null):
        raise source.refusal(inner, "Nothing equals NULL. Write IS NULL or IS NOT NULL.")
    value = _value(source, inner, kind)
    if value is None or cell(kind, value) is None:
        raise source.refusal(inner, f"Write {EXAMPLES[kind]} here, as the column's type says.")
    return value


def number(source: SqlText, node: Node) -> int | float:
    """Return a constant number.  Raises ``InvalidInput``."""
    value = constant(source, node, "number")
    if isinstance(value, bool | str):
        raise source.refusal(node, "Write a number here.")
    return value


def _value(source: SqlText, node: Node, kind: ColumnType) -> Scalar | None:
    if isinstance(node, exp.Boolean):
        return bool(node.this)
    if isinstance(node, exp.Cast) and kind == "date" and node.to.this is exp.DataType.Type.DATE:
        return _value(source, unwrapped(node.this), kind)
    negative = isinstance(node, exp.Neg)
    literal = unwrapped(node.this) if negative else node
    if not isinstance(literal, exp.Literal):
        return None
    if literal.is_string:
        return None if negative else str(literal.this)
    value = _number(source, literal)
    return -value if negative else value


def _number(source: SqlText, literal: exp.Literal) -> int | float:
    digits = str(literal.this)
    if not digits.isascii() or len(digits) > _LONGEST_NUMBER:
        raise source.refusal(literal, "Write a number of at most 40 digits.")
    try:
        return int(digits)
    except ValueError:
        pass
    try:
        value = float(digits)
    except ValueError:
        value = math.inf
    if not math.isfinite(value):
        raise source.refusal(literal, "Write a number, such as 12, 0.5 or 1e6.")
    return value
