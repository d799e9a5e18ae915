"""Look up the columns that a statement names, and read the constants beside them."""

import math
from dataclasses import dataclass
from typing import Final, Protocol

from sqlglot import exp

from penstock.connectors.specs.cells import EXAMPLES, NUMERIC, cell, label
from penstock.connectors.specs.models import ColumnSpec, ColumnType, DatasetSpec
from penstock.connectors.sql.grammar import Node, ParsedStatement
from penstock.connectors.sql.places import SqlText
from penstock.connectors.sql.synonyms import INTEGERS, unwrapped
from penstock.spec_fields import Scalar

_LONGEST_NUMBER = 40
"""The most digits of a number; no double has more of its own."""

_EXACT_FLOATS: Final = 2**24

_COMPUTED: Final = (exp.Add, exp.Sub, exp.Mul, exp.Neg, exp.Case)

_SAME: Final[dict[ColumnType, frozenset[exp.DType]]] = {
    "integer": INTEGERS | {exp.DType.DOUBLE, exp.DType.FLOAT, exp.DType.DECIMAL},
    "number": frozenset({exp.DType.DOUBLE}),
    "string": frozenset({exp.DType.TEXT, exp.DType.VARCHAR}),
    "boolean": frozenset({exp.DType.BOOLEAN}),
    "date": frozenset({exp.DType.DATE}),
}
"""The types of SQL that hold what a column of a type holds."""


class Deriving(Protocol):
    """Represent what makes columns of the expressions of a statement."""

    def name_of(self, node: Node, selected: Node | None = None) -> str:
        """Return the name of the derived column that a node computes.

        If an alias of the node, or of ``selected``, is free, that is the name.
        """

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
        if isinstance(inner, exp.Cast):
            return self.names(inner.this)
        return isinstance(inner, (exp.Column, exp.Coalesce, *_COMPUTED))

    def is_boolean(self, node: Node) -> bool:
        """Return True if a node is a boolean column.  Raises as ``column`` does."""
        return self.names(node) and self.spec(self.column(node)).type == "boolean"

    def column(self, node: Node) -> str:
        """Return the column that a node reads, with what stands in for missing cells.

        Raises ``InvalidInput`` for any other node, for a column that is not declared, and for one
        whose missing cells would be read otherwise than SQL reads them.
        """
        inner = unwrapped(node)
        if isinstance(inner, _COMPUTED) and self.names(inner):
            return self.derived(inner)
        if isinstance(inner, exp.Cast):
            return self._cast(inner)
        if isinstance(inner, exp.Coalesce):
            return self._with_stand_in(inner) if self.has_stand_in(inner) else self.derived(inner)
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

    def derived(self, node: Node, selected: Node | None = None) -> str:
        """Return the derived column that a node computes, for a selected expression.

        Raises ``InvalidInput`` in conditions of ``CASE``, which have none.
        """
        if self.derivations is None:
            raise self.source.refusal(
                node,
                "Conditions of CASE compare declared columns, and so do those of counts that are"
                " answered together. Name one without computing, or write a statement for each"
                " count.",
            )
        return self.derivations.name_of(node, selected)

    def difference(self, left: Node, right: Node) -> str:
        """Return the derived column that is one column less another one."""
        return self.derived(exp.Sub(this=left.copy(), expression=right.copy()))

    def _cast(self, node: exp.Cast) -> str:
        """Return the column that is cast, if that changes none of its cells.

        Integers with bounds are doubles as they are, and a boolean column is a case of 1 and 0.
        """
        name, target = self.column(node.this), node.to.this
        spec = self.spec(name)
        if spec.type == "boolean" and target in INTEGERS:
            whens = [
                exp.If(this=node.this.copy(), true=exp.Literal.number(1)),
                exp.If(this=exp.Not(this=node.this.copy()), true=exp.Literal.number(0)),
            ]
            return self.derived(exp.Case(ifs=whens), node)
        if target not in _SAME[spec.type] or (target is exp.DType.FLOAT and not _fits(spec)):
            raise self.source.refusal(
                node,
                f"The cast would change cells of the column, which is declared as {spec.type}."
                " Leave it out.",
            )
        return name

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
        if isinstance(node, exp.Year):
            raise self.source.refusal(
                node,
                "A year is compared to constants in conditions. Make groups of years by CASE WHEN,"
                " or declare a column that has them.",
            )
        if isinstance(node, exp.WidthBucket):
            raise self.source.refusal(
                node, "Bins are made for GROUP BY alone. Write the name of a column here."
            )
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


def _fits(spec: ColumnSpec) -> bool:
    """Return True if the integers of a column have bounds within which 32-bit floats are exact."""
    bounds = (spec.lower, spec.upper)
    return all(bound is not None and abs(bound) <= _EXACT_FLOATS for bound in bounds)


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


def is_number(node: Node) -> bool:
    """Return True if a node is a constant number."""
    inner = unwrapped(node)
    literal = unwrapped(inner.this) if isinstance(inner, exp.Neg) else inner
    return isinstance(literal, exp.Literal) and not literal.is_string


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
    if literal.is_string and kind in NUMERIC and not negative:
        return _spelled(str(literal.this))
    if literal.is_string:
        return None if negative else str(literal.this)
    value = _number(source, literal)
    return -value if negative else value


def _spelled(text: str) -> int | float | None:
    """Return the number that a text spells, as SQL takes it beside a column of numbers."""
    digits = text.removeprefix("-").replace(".", "", 1)
    if not (digits.isascii() and digits.isdigit()) or len(digits) > _LONGEST_NUMBER:
        return None
    return float(text) if "." in text else int(text)


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
