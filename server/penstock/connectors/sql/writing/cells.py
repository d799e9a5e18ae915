"""Write the columns and the constants of a spec in SQL."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sqlglot import exp

from penstock.connectors.formulas.arithmetic import may_be_missing
from penstock.connectors.specs.cells import cell
from penstock.connectors.specs.models import ColumnType, DatasetSpec
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.expressions import Node

Write = Callable[["CellWriter", Any], Node]
"""Writes an expression; it is an argument, since conditions in it are written by this module."""


@dataclass(frozen=True)
class CellWriter:
    """Write the columns of a query: declared ones with what stands in for missing cells.

    ``dataset`` has the derived columns, too, and ``derived`` says how they are computed.
    """

    dataset: DatasetSpec
    derived: Mapping[str, Any] = field(default_factory=dict)
    write: Write | None = None

    def column(self, name: str) -> Node:
        """Return a column as the spec reads it."""
        if self.write is not None and name in self.derived:
            return self.write(self, self.derived[name])
        spec = self.dataset.columns[name]
        plain = sql.column(name, quoted=True)
        if spec.missing is None:
            return plain
        return exp.Coalesce(this=plain, expressions=[constant(spec.type, spec.missing)])

    def may_be_missing(self, name: str) -> bool:
        """Return True if a cell of a column may have no value."""
        return may_be_missing(self.dataset.columns[name])

    def type_of(self, name: str) -> ColumnType:
        """Return a column's type."""
        return self.dataset.columns[name].type


def constant(kind: ColumnType, value: object) -> Node:
    """Return a value of a column of type ``kind``, as specs have it."""
    read = cell(kind, value)
    if isinstance(read, bool):
        return exp.Boolean(this=read)
    if isinstance(read, int | float):
        return sql.number(repr(read))
    if isinstance(read, str):
        return sql.text(read)
    return exp.Cast(this=sql.text(str(value)), to=exp.DataType.build("date"))


def text_of(node: Node) -> str:
    """Return the text of an expression."""
    return node.sql("duckdb")
