"""Write statements for PostgreSQL."""

from typing import ClassVar

from sqlglot import exp

from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import TypedDialect
from penstock.connectors.statements.expressions import Node


class PostgreSQL(TypedDialect):
    """Add integers as NUMERIC, and sort by bytes whatever the database's locale."""

    name: ClassVar[str] = "postgres"
    exact: ClassVar[str] = "NUMERIC"
    real: ClassVar[str] = "DOUBLE PRECISION"
    text: ClassVar[str] = "TEXT"

    def salt(self) -> Node:
        """Return the first parameter."""
        return exp.Parameter(this=exp.Literal.number(1))

    def is_finite(self, node: Node) -> Node:
        """Return a condition; NaN is above infinity here."""
        infinity = sql.cast(sql.text("Infinity"), self.real)
        return sql.compared(sql.call("abs", node), "<", infinity)

    def total(self, node: Node) -> Node:
        """Return the sum, which is NUMERIC for 64-bit integers."""
        return sql.call("sum", node)

    def quotient(self, left: Node, right: Node, *, again: tuple[Node, Node]) -> Node:  # noqa: ARG002
        """Return the whole part of a quotient."""
        return sql.call("div", left, right)

    def digest(self, node: Node) -> Node:
        """Return the MD5 of a text; the database's encoding is UTF-8."""
        return sql.collated(sql.call("md5", node), "C")

    def sha256(self, node: Node) -> Node:
        """Return the SHA-256 of a text."""
        encoded = sql.call("convert_to", node, sql.text("UTF8"))
        return sql.call("encode", sql.call("sha256", encoded), sql.text("hex"))
