"""State what an engine does otherwise than others, as expressions in its own functions and types.

The template is the same for all engines; whatever depends on the engine is a method here.  Three
rules hold for every engine:

* No expression fails for a cell, whatever it holds: an error that depends on a cell is forbidden.
* Integers are exact up to 38 decimal digits, in the type ``exact``: sums are cast to it before they
  are added, unless the engine's own sum has such a type.
* Texts are compared byte for byte, and their lengths are in code points.
"""

import datetime
import math
import sys
from abc import ABC, abstractmethod
from fractions import Fraction
from typing import ClassVar

from sqlglot import exp

from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.plan import Summand
from penstock.connectors.specs.cells import Cell
from penstock.connectors.statements import expressions as sql
from penstock.connectors.statements.expressions import Node
from penstock.structures.sparse_histogram.domain import Domain, Sha256Prefix, Strings, Uint64

_HEX_DIGITS = 16
"""How many hexadecimal digits of a SHA-256 a key has."""


class Dialect(ABC):
    """Write the parts of a statement in which engines differ.

    ``name`` is the one that SQLGlot has for the engine; the types are the engine's own.
    """

    name: ClassVar[str]
    exact: ClassVar[str]
    whole: ClassVar[str] = "BIGINT"
    real: ClassVar[str] = "DOUBLE"
    text: ClassVar[str] = "VARCHAR"
    date: ClassVar[str] = "DATE"
    quotes_all: ClassVar[bool] = True
    """Whether names of ours are quoted too, so that none is a word of the engine."""
    shares_rows: ClassVar[bool] = True
    """Whether the same rows are read wherever a statement, run by its connector, names a relation.

    Otherwise statements name each relation once: with counts and their size of two states, one
    person could change more than the noise is for.
    """

    def written(self, node: Node) -> str:
        """Return the text of an expression."""
        return node.sql(
            dialect=self.name,
            pretty=True,
            identify=self.quotes_all,
            normalize_functions=False,
            comments=False,
            copy=False,
        )

    @abstractmethod
    def salt(self) -> Node:
        """Return the parameter of the salt, as the engine's driver binds it."""

    @abstractmethod
    def cell(self, column: Column) -> Node:
        """Return a column's cell as a value of its declared type, or NULL; it never fails."""

    def open_cell(self, column: Column) -> Node:
        """Return the cell of an open key."""
        return self.cell(column)

    def literal(self, value: Cell) -> Node:
        """Return a value as it stands in a statement: a text, or a numeral cast to its type."""
        match value:
            case bool():
                return exp.Boolean(this=value)
            case int():
                return sql.cast(sql.text(str(value)), self.whole)
            case float():
                return sql.cast(sql.text(repr(value)), self.real)
            case datetime.date():
                return sql.cast(sql.text(value.isoformat()), self.date)
        return sql.text(value)

    def wide(self, value: int) -> Node:
        """Return an integer as the widest exact one."""
        return sql.cast(sql.number(value), self.exact)

    def text_of(self, node: Node) -> Node:
        """Return the text of an integer, a boolean, a day or a text."""
        return sql.cast(node, self.text)

    def length(self, node: Node) -> Node:
        """Return the number of a text's code points."""
        return sql.call("length", node)

    def digest(self, node: Node) -> Node:
        """Return the MD5 of a text in UTF-8, in lower-case digits that sort byte for byte."""
        return sql.call("md5", node)

    def sha256(self, node: Node) -> Node:
        """Return the SHA-256 of a text in UTF-8, in lower-case digits."""
        return sql.call("sha256", node)

    def total(self, node: Node) -> Node:
        """Return the exact sum of 64-bit integers."""
        return sql.call("sum", sql.cast(node, self.exact))

    def quotient(self, left: Node, right: Node, *, again: tuple[Node, Node]) -> Node:
        """Return the whole part of a quotient of integers that are not negative.

        ``again`` are the same operands as other nodes.
        """
        rest = sql.call("mod", *again)
        # The difference is a multiple of the divisor, so that no digits follow it.
        return sql.exact_quotient(sql.minus(left, rest), right)

    def steps(self, summand: Summand, cell: Node, again: Node) -> Node:
        """Return a cell in whole steps between the bounds, halves upwards.

        ``again`` is the same cell as another node.
        """
        low, high = self.literal(float(summand.lowest)), self.literal(float(summand.highest))
        clamped = sql.clamped(self.scaled(summand, cell, again), low, high)
        half = sql.plus(clamped, self.literal(0.5))
        return sql.cast(sql.call("floor", half), self.whole)

    def scaled(self, summand: Summand, cell: Node, again: Node) -> Node:
        """Return a cell in units of steps, exactly as doubles divide.

        Engines differ over quotients that are too large or too small for a double: some fail.  So
        cells that are beyond both bounds, or nearer to 0 than a quarter of a step, are brought
        to where the clamped and rounded number of steps is the same.
        """
        step = float(summand.step)
        bound = max(abs(summand.lowest), abs(summand.highest)) * summand.step
        most = math.nextafter(_double(bound), math.inf)
        most = min(most, sys.float_info.max)
        small = sql.compared(
            sql.call("abs", self.as_real(summand.column, again)), "<", self.literal(step / 4)
        )
        inside = sql.clamped(
            self.as_real(summand.column, cell), self.literal(-most), self.literal(most)
        )
        guarded = sql.case((small, self.literal(0.0)), otherwise=inside)
        return sql.divided(guarded, self.literal(step))

    def as_real(self, column: Column, cell: Node) -> Node:
        """Return a number's cell as a double."""
        return cell if column.type == "number" else sql.cast(cell, self.real)

    def open_key(self, domain: Domain, cell: Node) -> Node:
        """Return the key of a row whose cell meets ``open_conditions``."""
        if isinstance(domain, Sha256Prefix):
            return sql.call("substr", self.sha256(cell), sql.number(1), sql.number(_HEX_DIGITS))
        return cell

    def open_conditions(self, domain: Domain, cell: Node, again: Node) -> list[Node]:
        """Return the conditions that a row has a key of the domain."""
        match domain:
            case Uint64(size=size):
                return [sql.between(cell, sql.number(0), sql.number(size - 1))]
            case Strings(length=length):
                return [
                    sql.compared(self.length(cell), "=", sql.number(length)),
                    self.only_letters(again, domain.alphabet),
                ]
        return [sql.negated(sql.is_null(cell))]

    def only_letters(self, cell: Node, alphabet: str) -> Node:
        """Return a condition: a text has no other letters than those of ``alphabet``."""
        rest = sql.call("translate", cell, sql.text(alphabet), sql.text(""))
        return sql.compared(rest, "=", sql.text(""))


class TypedDialect(Dialect):
    """Write statements over columns that have their declared types already.

    The relation ``source`` has texts of valid UTF-8, 64-bit integers, doubles, booleans and days:
    the connector makes it so, and refuses columns of other types.
    """

    def cell(self, column: Column) -> Node:
        """Return a column's cell; numbers that are not finite are none."""
        cell: Node = sql.column(column.name, quoted=True)
        if column.type == "number":
            cell = sql.case((self.is_finite(sql.column(column.name, quoted=True)), cell))
        if column.missing is None:
            return cell
        return sql.call("coalesce", cell, self.literal(column.missing))

    @abstractmethod
    def is_finite(self, node: Node) -> Node:
        """Return a condition: a double is neither NaN nor infinite."""


def _double(value: Fraction) -> float:
    try:
        return float(value)
    except OverflowError:
        return sys.float_info.max
