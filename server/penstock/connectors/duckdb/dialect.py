"""Write statements for DuckDB, whose files are read as texts."""

from typing import ClassVar

from sqlglot import exp

from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.plan import Summand
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import Dialect
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.statement import SALT
from penstock.structures.sparse_histogram.domain import Domain, Uint64


class DuckDB(Dialect):
    """Read each cell as text and cast it; sums of 64-bit integers have 128 bits."""

    name: ClassVar[str] = "duckdb"
    exact: ClassVar[str] = "HUGEINT"
    quotes_all: ClassVar[bool] = False

    def salt(self) -> Node:
        """Return the parameter of the salt."""
        return exp.Parameter(this=exp.Var(this=SALT))

    def cell(self, column: Column) -> Node:
        """Return a column's cell, cast from text."""
        return self._cast(column, self.whole)

    def open_cell(self, column: Column) -> Node:
        """Return the cell of an open key, cast to HUGEINT: unsigned 64 bits do not fit BIGINT."""
        return self._cast(column, self.exact)

    def _cast(self, column: Column, whole: str) -> Node:
        match column.type:
            case "string":
                cell: Node = _text(column)
            case "integer":
                number = sql.compared(_number(column), "=", sql.call("floor", _number(column)))
                cell = sql.case((number, sql.try_cast(_text(column), whole)))
            case "number":
                cell = sql.case((sql.call("isfinite", _number(column)), _number(column)))
            case _:
                cell = sql.try_cast(_text(column), column.type.upper())
        if column.missing is None:
            return cell
        return sql.call("coalesce", cell, self.literal(column.missing))

    def total(self, node: Node) -> Node:
        """Return the sum, which has 128 bits."""
        return sql.call("sum", node)

    def quotient(self, left: Node, right: Node, *, again: tuple[Node, Node]) -> Node:  # noqa: ARG002
        """Return the whole part of a quotient."""
        return sql.whole_quotient(left, right)

    def scaled(self, summand: Summand, cell: Node, again: Node) -> Node:  # noqa: ARG002
        """Return the quotient; one that no double holds is infinite or 0."""
        return sql.divided(cell, self.literal(float(summand.step)))

    def as_real(self, column: Column, cell: Node) -> Node:  # noqa: ARG002
        """Return the cell: integers are cast where they meet doubles."""
        return cell

    def open_key(self, domain: Domain, cell: Node) -> Node:
        """Return the key of a row."""
        if isinstance(domain, Uint64):
            return sql.try_cast(cell, "UBIGINT")
        return super().open_key(domain, cell)


def _text(column: Column) -> Node:
    return sql.column(column.name, quoted=True)


def _number(column: Column) -> Node:
    return sql.try_cast(_text(column), "DOUBLE")
