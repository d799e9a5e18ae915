"""Represent what derived columns are computed from, in one normal form with bounds.

Columns of integers are cut to their declared bounds before anything else.  Then the bounds of every
sum and product follow by interval arithmetic, and none may leave ``LARGEST_INTEGER``; so no engine
overflows.  Nor does a part of a sum or of a product, in whichever order an engine takes them: a
sum has at most 64 terms, and a product's absolute bounds, each at least 1, are multiplied.
"""

import json
import math
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import Any, Final

from pydantic import ConfigDict

from penstock.connectors.formulas.expressions import LARGEST_INTEGER
from penstock.connectors.formulas.formula import Column, Formula
from penstock.connectors.specs.cells import spelling
from penstock.connectors.specs.models import ColumnSpec
from penstock.errors import InvalidInput

Bounds = tuple[int, int]
"""The least and the largest value."""

MOST_OPERANDS: Final = 64
"""The most terms of a sum, and factors of a product: engines take ever longer for more of them."""


_LONGEST: Final = 10**40
"""The first number that messages do not write out."""


@dataclass(frozen=True)
class Constant:
    """Hold an integer or a text."""

    value: int | str

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that are read: none."""
        return ()

    @property
    def bounds(self) -> Bounds | None:
        """Return the integer twice; None of a text."""
        return None if isinstance(self.value, str) else (self.value, self.value)

    @property
    def categories(self) -> tuple[int | str, ...]:
        """Return the only value."""
        return (self.value,)

    @property
    def spelled(self) -> object:
        """Return the expression in one spelling, of which JSON is made."""
        return spelling(self.value)


@dataclass(frozen=True)
class Cut:
    """Hold an integer column's cell, brought between two bounds."""

    column: Column
    lowest: int
    highest: int

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the column."""
        return (self.column,)

    @property
    def bounds(self) -> Bounds:
        """Return the least and the largest value."""
        return self.lowest, self.highest

    @property
    def categories(self) -> None:
        """Return None: bounds list no values."""
        return

    @property
    def spelled(self) -> object:
        """Return the expression in one spelling, of which JSON is made."""
        return ["cut", self.column.name, self.lowest, self.highest]


@dataclass(frozen=True)
class TextCell:
    """Hold a text column's cell.  Its categories may be many, and follow from the column."""

    column: Column
    categories: tuple[str, ...] = field(hash=False, repr=False)

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the column."""
        return (self.column,)

    @property
    def bounds(self) -> None:
        """Return None: texts have no bounds."""
        return

    @property
    def spelled(self) -> object:
        """Return the expression in one spelling, of which JSON is made."""
        return ["cell", self.column.name]


@dataclass(frozen=True)
class Sum:
    """Hold a sum of two or more integers."""

    terms: "tuple[Computed, ...]"

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that are read, once each."""
        return _columns_of(self.terms)

    @cached_property
    def bounds(self) -> Bounds:
        """Return the sums of the terms' bounds."""
        lowest, highest = zip(*map(bounds_of, self.terms), strict=True)
        return sum(lowest), sum(highest)

    @property
    def categories(self) -> None:
        """Return None: bounds list no values."""
        return

    @cached_property
    def spelled(self) -> object:
        """Return the expression in one spelling, of which JSON is made."""
        return ["add", *(term.spelled for term in self.terms)]


@dataclass(frozen=True)
class Product:
    """Hold a product of two or more integers."""

    factors: "tuple[Computed, ...]"

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that are read, once each."""
        return _columns_of(self.factors)

    @cached_property
    def bounds(self) -> Bounds:
        """Return the least and the largest product."""
        return reduce(_multiplied, map(bounds_of, self.factors))

    @cached_property
    def reach(self) -> int:
        """Return a number that no product of some of the factors exceeds."""
        return math.prod(max(1, *map(abs, bounds_of(factor))) for factor in self.factors)

    @property
    def categories(self) -> None:
        """Return None: bounds list no values."""
        return

    @cached_property
    def spelled(self) -> object:
        """Return the expression in one spelling, of which JSON is made."""
        return ["multiply", *(factor.spelled for factor in self.factors)]


@dataclass(frozen=True)
class Cases:
    """Hold values by condition, of which the first that is true counts."""

    cases: "tuple[tuple[Formula, Computed], ...]"
    otherwise: "Computed | None"

    @cached_property
    def values(self) -> "tuple[Computed, ...]":
        """Return the values of all cases, in their order."""
        last = () if self.otherwise is None else (self.otherwise,)
        return (*(value for _, value in self.cases), *last)

    @cached_property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that are read, once each."""
        read = [column for formula, _ in self.cases for column in formula.columns]
        return tuple(dict.fromkeys((*read, *_columns_of(self.values))))

    @cached_property
    def bounds(self) -> Bounds | None:
        """Return the least and the largest value of any case; None of texts."""
        each = [value.bounds for value in self.values]
        integers = [bounds for bounds in each if bounds is not None]
        if not integers:
            return None
        lowest, highest = zip(*integers, strict=True)
        return min(lowest), max(highest)

    @cached_property
    def categories(self) -> tuple[int | str, ...] | None:
        """Return the values of all cases, once each; None unless each lists its own."""
        listed: dict[int | str, None] = {}
        for value in self.values:
            # Asked once: twice at every level would take twice as long for each level.
            own = value.categories
            if own is None:
                return None
            listed |= dict.fromkeys(own)
        return tuple(listed)

    @cached_property
    def spelled(self) -> object:
        """Return the expression in one spelling, of which JSON is made."""
        cases = [[formula.spelled, value.spelled] for formula, value in self.cases]
        return ["case", cases, None if self.otherwise is None else self.otherwise.spelled]


Computed = Constant | Cut | TextCell | Sum | Product | Cases


@dataclass(frozen=True)
class DerivedColumn(Column):
    """Represent a column that is computed from others; it has no name in the data."""

    computed: Computed

    def __hash__(self) -> int:
        """Return the hash of the fields, computed once: a statement looks columns up often."""
        return self._hash

    @cached_property
    def _hash(self) -> int:
        return hash((self.name, self.type, self.computed))

    @property
    def sources(self) -> tuple[Column, ...]:
        """Return the declared columns that are read."""
        return self.computed.columns

    @cached_property
    def spelled(self) -> str:
        """Return the expression after a tab, which no column's name has."""
        return "\t" + json.dumps(self.computed.spelled, ensure_ascii=False)


class DerivedSpec(ColumnSpec):
    """What a derived column may hold, and how it is computed."""

    model_config = ConfigDict(arbitrary_types_allowed=True)

    computed: Any


def may_be_missing(spec: ColumnSpec) -> bool:
    """Return True if a cell of a column, declared or derived, may have no value."""
    return may_have_none(spec.computed) if isinstance(spec, DerivedSpec) else spec.missing is None


def may_have_none(computed: Computed, present: Collection[Column] = ()) -> bool:
    """Return True if an expression may have no value where the columns ``present`` have one."""
    match computed:
        case Constant():
            return False
        case Cut() | TextCell():
            return computed.column.missing is None and computed.column not in present
        case Sum():
            return any(may_have_none(term, present) for term in computed.terms)
        case Product():
            return any(may_have_none(factor, present) for factor in computed.factors)
    if computed.otherwise is None:
        return True
    return any(may_have_none(value, present) for value in computed.values)


def bounds_of(computed: Computed) -> Bounds:
    """Return the bounds of an integer.  Raises ``TypeError`` for a text."""
    bounds = computed.bounds
    if bounds is None:
        raise TypeError("texts have no bounds")
    return bounds


def added(terms: Sequence[Computed]) -> Computed:
    """Return a sum in normal form.  Raises ``InvalidInput`` if it may be too large."""
    flat = [part for term in terms for part in (term.terms if isinstance(term, Sum) else (term,))]
    _require_few(flat, "A sum", "terms")
    constants, others = _parted(flat)
    constant = sum(constants)
    if constant or not others:
        others.append(Constant(constant))
    return _bounded(others[0] if len(others) == 1 else Sum(tuple(others)))


def multiplied(factors: Sequence[Computed]) -> Computed:
    """Return a product in normal form.  Raises ``InvalidInput`` if it may be too large."""
    flat = [
        part
        for factor in factors
        for part in (factor.factors if isinstance(factor, Product) else (factor,))
    ]
    _require_few(flat, "A product", "factors")
    constants, others = _parted(flat)
    constant = math.prod(constants)
    if constant == -1 and len(others) == 1 and isinstance(others[0], Sum):
        return added([negated(term) for term in others[0].terms])
    if constant != 1 or not others:
        others.append(Constant(constant))
    return _bounded(others[0] if len(others) == 1 else Product(tuple(others)))


def negated(computed: Computed) -> Computed:
    """Return the opposite in normal form."""
    return multiplied([Constant(-1), computed])


def _require_few(parts: Sequence[Computed], whole: str, each: str) -> None:
    if len(parts) > MOST_OPERANDS:
        raise InvalidInput(
            f"{whole} has at most {MOST_OPERANDS} {each}, also of sums and products within each"
            f" other, and this one has {len(parts)}. Compute the column in a view."
        )


def _bounded(computed: Computed) -> Computed:
    reach = max(map(abs, bounds_of(computed)))
    if isinstance(computed, Product):
        reach = max(reach, computed.reach)
    if reach > LARGEST_INTEGER:
        raise InvalidInput(
            f"This may be as large as {_shortly(reach)}, and integers stay exact up to 2^52."
            " Declare narrower bounds on the columns."
        )
    return computed


def _shortly(number: int) -> str:
    """Return a number, or the power of 2 above it: Python writes no more than 4,300 digits."""
    return f"{number}" if number < _LONGEST else f"2^{number.bit_length()}"


def _parted(parts: Sequence[Computed]) -> tuple[list[int], list[Computed]]:
    """Return the integers among parts, and all others in one order."""
    constants: list[int] = []
    others: list[Computed] = []
    for part in parts:
        if isinstance(part, Constant) and isinstance(part.value, int):
            constants.append(part.value)
        else:
            others.append(part)
    return constants, sorted(others, key=_order)


def _multiplied(left: Bounds, right: Bounds) -> Bounds:
    products = [first * second for first in left for second in right]
    return min(products), max(products)


def _columns_of(parts: Iterable[Computed]) -> tuple[Column, ...]:
    return tuple(dict.fromkeys(column for part in parts for column in part.columns))


def _order(part: Computed) -> str:
    return json.dumps(part.spelled)
