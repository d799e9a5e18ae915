"""Write the columns and the constants of a spec in SQL."""

from dataclasses import dataclass

from sqlglot import exp

from penstock.connectors.specs.cells import cell
from penstock.connectors.specs.models import ColumnType, DatasetSpec
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.expressions import Node


@dataclass(frozen=True)
class CellWriter:
    """Write the columns of a dataset, with what stands in for missing cells."""

    dataset: DatasetSpec

    def column(self, name: str) -> Node:
        """Return a declared column as the spec reads it."""
        spec = self.dataset.columns[name]
        plain = sql.column(name, quoted=True)
        if spec.missing is None:
            return plain
        return exp.Coalesce(this=plain, expressions=[constant(spec.type, spec.missing)])

    def may_be_missing(self, name: str) -> bool:
        """Return True if a cell of a column may have no value."""
        return self.dataset.columns[name].missing is None

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
