"""Write statements for ClickHouse, under the settings of ``session``.

Its traps: a sum of 64-bit integers wraps around without a word, ``/`` divides as doubles, a numeral
above 2^64 is a double, a cast of NULL to a type fails (a setting changes that), texts are any
bytes, and its days end in 2299.
"""

from typing import ClassVar

from penstock.connectors.specs.cells import Cell
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import TypedDialect
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.statement import SALT


class ClickHouse(TypedDialect):
    """Add integers in 256 bits, which no sum of rows reaches; days are texts, ordered as days."""

    name: ClassVar[str] = "clickhouse"
    exact: ClassVar[str] = "Int256"
    whole: ClassVar[str] = "Int64"
    real: ClassVar[str] = "Float64"
    text: ClassVar[str] = "String"
    date: ClassVar[str] = "String"

    def literal(self, value: Cell) -> Node:
        """Return a value as it stands in a statement."""
        if isinstance(value, str):
            # Only what is cast does not become the name of its column.
            return sql.cast(sql.text(value), self.text)
        return super().literal(value)

    def salt(self) -> Node:
        """Return the only cell of the relation ``salt``, which no log of statements has."""
        return sql.scalar(sql.select([sql.column(SALT)], sql.table(SALT)))

    def wide(self, value: int) -> Node:
        """Return an integer, cast from its text."""
        return sql.cast(sql.text(str(value)), self.exact)

    def length(self, node: Node) -> Node:
        """Return the number of a text's code points."""
        return sql.call("lengthUTF8", node)

    def digest(self, node: Node) -> Node:
        """Return the MD5 in lower-case digits."""
        return _lower_digits("MD5", node)

    def sha256(self, node: Node) -> Node:
        """Return the SHA-256 in lower-case digits."""
        return _lower_digits("SHA256", node)

    def quotient(self, left: Node, right: Node, *, again: tuple[Node, Node]) -> Node:  # noqa: ARG002
        """Return the whole part of a quotient."""
        return sql.call("intDiv", left, right)

    def is_finite(self, node: Node) -> Node:
        """Return a condition: a double is neither NaN nor infinite."""
        return sql.call("isFinite", node)

    def only_letters(self, cell: Node, alphabet: str) -> Node:
        """Return a condition: a text has no other letters than those of ``alphabet``."""
        rest = sql.call("translateUTF8", cell, sql.text(alphabet), sql.text(""))
        return sql.compared(rest, "=", sql.text(""))


def _lower_digits(function: str, node: Node) -> Node:
    return sql.call("lower", sql.call("hex", sql.call(function, node)))
