"""Write statements for Trino, BigQuery and Snowflake.

Their differences, by the traps that they hold:

* **Exact integers**: ``DECIMAL(38, 0)``; on BigQuery BIGNUMERIC, whose NUMERIC has 29 digits only.
  Numerals are cast from texts, since Trino has no numeral above 2^63.
* **Quotients**: exact, of a multiple of the divisor, so that no digit is ever cut; without the
  cast to a double that SQLGlot adds for Trino.
* **Not finite**: Snowflake orders NaN above all other numbers and has no function for it.
* **Digests**: Trino and BigQuery give bytes, which become lower-case digits.
* **Casts of cells** do not occur: columns have their types already (``TypedDialect``).
"""

import math
import sys
from typing import ClassVar

from sqlglot import exp

from penstock.connectors.specs.cells import Cell
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.dialect import TypedDialect
from penstock.connectors.statements.expressions import Node
from penstock.connectors.statements.statement import SALT
from penstock.structures.sparse_histogram.domain import Domain, Uint64

LARGEST = 2**63 - 1
"""The largest integer of a typed column."""


class WarehouseDialect(TypedDialect):
    """Write what the three have in common.

    ``repeats`` says that a statement has the salt's parameter twice, by position.
    """

    repeats: ClassVar[bool] = True
    infinity: ClassVar[str] = "Infinity"

    def literal(self, value: Cell) -> Node:
        """Return a value; numbers that are not finite, as the engine reads them."""
        if isinstance(value, float) and not math.isfinite(value):
            words = "NaN" if math.isnan(value) else self.infinity
            return sql.cast(sql.text(words if value != -math.inf else f"-{words}"), self.real)
        return super().literal(value)

    def valid_text(self, cell: Node, again: tuple[Node, Node]) -> Node:  # noqa: ARG002
        """Return a text, or NULL for one that is not UTF-8; ``again`` are the same as other nodes.

        BigQuery and Snowflake have no such texts.
        """
        return cell

    def salt(self) -> Node:
        """Return a parameter by position."""
        return exp.Placeholder()

    def wide(self, value: int) -> Node:
        """Return an integer, cast from its text."""
        return sql.cast(sql.text(str(value)), self.exact)

    def quotient(self, left: Node, right: Node, *, again: tuple[Node, Node]) -> Node:
        """Return the whole part of a quotient, which stays exact: no cast is added."""
        return sql.divided(sql.minus(left, sql.call("mod", *again)), right)

    def open_conditions(self, domain: Domain, cell: Node, again: Node) -> list[Node]:
        """Return the conditions; cells are never above the largest 64-bit integer."""
        if isinstance(domain, Uint64):
            most = min(domain.size - 1, LARGEST)
            return [sql.between(cell, sql.number(0), sql.number(most))]
        return super().open_conditions(domain, cell, again)


class Trino(WarehouseDialect):
    """Digests are of bytes and give bytes; sums of BIGINT fail above 64 bits.

    Connectors may give a VARCHAR any bytes, and ``translate`` fails at those that are not UTF-8.
    A part that is named twice is read twice, and not all catalogs read the same rows again.
    """

    name: ClassVar[str] = "trino"
    exact: ClassVar[str] = "DECIMAL(38, 0)"
    shares_rows: ClassVar[bool] = False

    def valid_text(self, cell: Node, again: tuple[Node, Node]) -> Node:
        """Return a text that stays the same when it is decoded, which never fails."""
        read = sql.call("from_utf8", sql.call("to_utf8", again[0]))
        return sql.case((sql.compared(read, "=", again[1]), cell))

    def digest(self, node: Node) -> Node:
        """Return the MD5 in lower-case digits."""
        return _lower_digits("md5", node)

    def sha256(self, node: Node) -> Node:
        """Return the SHA-256 in lower-case digits."""
        return _lower_digits("sha256", node)

    def is_finite(self, node: Node) -> Node:
        """Return a condition: a double is neither NaN nor infinite."""
        return sql.call("is_finite", node)


class BigQuery(WarehouseDialect):
    """Digests give bytes, whose digits are in lower case; parameters have names."""

    name: ClassVar[str] = "bigquery"
    exact: ClassVar[str] = "BIGNUMERIC"
    whole: ClassVar[str] = "INT64"
    real: ClassVar[str] = "FLOAT64"
    text: ClassVar[str] = "STRING"
    repeats: ClassVar[bool] = False

    def written(self, node: Node) -> str:
        """Return the text of an expression.

        Nothing is said of where NULL stands in an order: windows do not know the words.
        """
        for each in node.find_all(exp.Ordered):
            each.set("nulls_first", value=True)
        return super().written(node)

    def salt(self) -> Node:
        """Return the parameter by its name."""
        return exp.Parameter(this=exp.Var(this=SALT))

    def digest(self, node: Node) -> Node:
        """Return the MD5 in lower-case digits."""
        return sql.call("to_hex", sql.call("md5", node))

    def sha256(self, node: Node) -> Node:
        """Return the SHA-256 in lower-case digits."""
        return sql.call("to_hex", sql.call("sha256", node))

    def is_finite(self, node: Node) -> Node:
        """Return a condition: a double is neither NaN nor infinite."""
        return sql.all_of(
            [
                sql.negated(sql.call("is_nan", node)),
                sql.negated(sql.call("is_inf", node.copy())),
            ]
        )


class Snowflake(WarehouseDialect):
    """Every whole number is a DECIMAL(38, 0); NaN stands above infinity in its order."""

    name: ClassVar[str] = "snowflake"
    exact: ClassVar[str] = "DECIMAL(38, 0)"
    infinity: ClassVar[str] = "inf"

    def sha256(self, node: Node) -> Node:
        """Return the SHA-256 in lower-case digits."""
        return sql.call("sha2", node, sql.number(256))

    def is_finite(self, node: Node) -> Node:
        """Return a condition: a double lies between the least and the largest finite one."""
        most = sys.float_info.max
        return sql.between(node, self.literal(-most), self.literal(most))


def _lower_digits(function: str, node: Node) -> Node:
    return sql.call("lower", sql.call("to_hex", sql.call(function, sql.call("to_utf8", node))))
