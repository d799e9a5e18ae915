"""Represent columns and the conditions on them as plans have them, in one normal form.

A condition has no negation: the opposite of each comparison is another one, and that of ``any`` is
the ``all`` of opposites (De Morgan), which holds in SQL's logic of three values too.  So a formula
is true for the same rows if what is unknown counts as false.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal, TypeGuard

from penstock.connectors.specs.cells import Cell, spelling
from penstock.connectors.specs.models import ColumnType

OPPOSITES: Final = {
    "in": "not_in",
    "<": ">=",
    "<=": ">",
    "is_null": "is_not_null",
    "not_in": "in",
    ">=": "<",
    ">": "<=",
    "is_not_null": "is_null",
}
"""The comparison that is true where the other one is false."""

Joining = Literal["any", "all"]


@dataclass(frozen=True)
class Column:
    """Represent a column of the file, read as ``type``; ``missing`` stands in for no value."""

    name: str
    type: ColumnType
    missing: Cell | None

    @property
    def spelled(self) -> str:
        """Return what a statistic is told apart by where it uses this column."""
        return self.name

    @property
    def sources(self) -> "tuple[Column, ...]":
        """Return the columns of the data that are read for it: itself."""
        return (self,)


@dataclass(frozen=True)
class Filter:
    """Hold where a cell stands in relation ``op`` to the values: one, in a set any, or none."""

    column: Column
    op: str
    values: tuple[Cell, ...]

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that are read."""
        return (self.column,)

    @property
    def spelled(self) -> object:
        """Return the condition in one spelling, of which JSON is made."""
        return [self.column.spelled, self.op, [spelling(value) for value in self.values]]


@dataclass(frozen=True)
class Junction:
    """Hold where any, or all, of two or more parts hold; no part is joined in the same way."""

    joining: Joining
    parts: "tuple[Formula, ...]"

    @property
    def columns(self) -> tuple[Column, ...]:
        """Return the columns that are read, once each."""
        return tuple(dict.fromkeys(each for part in self.parts for each in part.columns))

    @property
    def spelled(self) -> object:
        """Return the condition in one spelling, of which JSON is made."""
        return {self.joining: [part.spelled for part in self.parts]}


Formula = Filter | Junction


def joined(joining: Joining, parts: Iterable[Formula]) -> tuple[Formula, ...]:
    """Return the parts of a junction in normal form: flat, each once, in one order."""
    flat: dict[Formula, None] = {}
    for part in parts:
        inner = part.parts if isinstance(part, Junction) and part.joining == joining else (part,)
        flat |= dict.fromkeys(inner)
    if joining == "all":
        # A comparison that is true has a cell: that it is there says nothing more.
        compared = {each.column for each in flat if _is_compared(each)}
        flat = {each: None for each in flat if not _is_there(each, compared)}
    return tuple(sorted(flat, key=_order))


def _is_compared(each: Formula) -> TypeGuard[Filter]:
    return isinstance(each, Filter) and each.op not in {"is_null", "is_not_null"}


def _is_there(each: Formula, compared: set[Column]) -> bool:
    return isinstance(each, Filter) and each.op == "is_not_null" and each.column in compared


def junction(joining: Joining, parts: Iterable[Formula]) -> Formula:
    """Return a junction in normal form, which of one part is the part itself."""
    flat = joined(joining, parts)
    return flat[0] if len(flat) == 1 else Junction(joining, flat)


def _order(each: Formula) -> tuple[int, str, str, list[list[str]]]:
    if isinstance(each, Filter):
        values = [spelling(value) for value in each.values]
        return 0, each.column.spelled, each.op, values
    return 1, json.dumps(each.spelled), "", []
