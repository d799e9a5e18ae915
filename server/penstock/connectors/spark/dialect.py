"""Write statements for Spark, in its ANSI mode."""

from typing import ClassVar

from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import TypedDialect
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.statement import SALT


class Spark(TypedDialect):
    """Add integers as DECIMAL(38, 0).

    A sum, difference or product of such numbers and integers is one again, and an overflow is an
    error; ``parts`` says why there is none.
    """

    name: ClassVar[str] = "spark"
    exact: ClassVar[str] = "DECIMAL(38, 0)"
    text: ClassVar[str] = "STRING"

    def salt(self) -> Node:
        """Return the only cell of the relation ``salt``.

        A parameter would be a literal of the plan, which Spark's pages show to the cluster's
        operators; the rows of a relation are not shown.
        """
        return sql.scalar(sql.select([sql.column(SALT)], sql.table(SALT)))

    def is_finite(self, node: Node) -> Node:
        """Return a condition; NaN is above infinity here."""
        infinity = sql.cast(sql.text("Infinity"), self.real)
        return sql.compared(sql.call("abs", node), "<", infinity)

    def length(self, node: Node) -> Node:
        """Return the number of a text's code points."""
        return sql.call("char_length", node)

    def sha256(self, node: Node) -> Node:
        """Return the SHA-256 of a text in UTF-8, in lower-case digits."""
        return sql.call("sha2", node, sql.number(256))

    def quotient(self, left: Node, right: Node, *, again: tuple[Node, Node]) -> Node:
        """Return the whole part of a quotient, which has no digits after its point.

        Spark's own ``div`` returns 64 bits, one fewer than the largest quotient has, which is
        twice a unit's bound; the division leaves 32 digits before the point.
        """
        return sql.cast(super().quotient(left, right, again=again), self.exact)
