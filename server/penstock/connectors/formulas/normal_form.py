"""Read conditions against their dataset, in the one form that equal conditions have.

Equal are: other orders and repetitions, lists within lists that are joined in the same way, lists
of one, a negation of a negation, and what De Morgan's laws make of each other; and a statistic
is the same with and without the condition that a cell is there which it needs anyway.
"""

from collections.abc import Collection, Sequence

from penstock.connectors.formulas.arithmetic import DerivedSpec
from penstock.connectors.formulas.conditions import (
    OF_NOTHING,
    AllOf,
    AnyOf,
    Condition,
    Entry,
    NotOf,
)
from penstock.connectors.formulas.formula import (
    OPPOSITES,
    Column,
    Filter,
    Formula,
    Joining,
    joined,
    junction,
)
from penstock.connectors.planning.columns import column_of, declared
from penstock.connectors.planning.refusals import Refusals, pointer
from penstock.connectors.specs.cells import EXAMPLES, ORDERED, Cell, cell, spelling
from penstock.connectors.specs.models import DatasetSpec
from penstock.errors import InvalidInput


def formulas_of(
    dataset: DatasetSpec, entries: Sequence[Entry], *at: str | int
) -> tuple[Formula, ...]:
    """Return what has to hold, each part once, in one order.

    Raises ``InvalidInput`` with the place of every comparison that is not valid.
    """
    reader = _Reader(dataset)
    parts = [reader.formula(entry, (*at, place)) for place, entry in enumerate(entries)]
    reader.refusals.raise_all()
    return joined("all", (part for part in parts if part is not None))


def formula_of(dataset: DatasetSpec, entry: Entry, *at: str | int) -> Formula:
    """Return one condition.  Raises ``InvalidInput`` with the places of what is not valid."""
    reader = _Reader(dataset)
    formula = reader.formula(entry, at)
    reader.refusals.raise_all()
    if formula is None:
        raise RuntimeError("what is not refused has a formula")
    return formula


def without_needless(
    formulas: Sequence[Formula], present: Collection[Column]
) -> tuple[Formula, ...]:
    """Return what has to hold, without ``is_not_null`` where a cell always has a value.

    That is a cell of a column with a stand-in, and of the columns ``present``, whose missing cells
    leave their row out of the statistic anyway.
    """

    def is_needless(each: Formula) -> bool:
        if not isinstance(each, Filter) or each.op != "is_not_null":
            return False
        return each.column in present or each.column.missing is not None

    return tuple(each for each in formulas if not is_needless(each))


class _Reader:
    """Read entries, and collect the refusals of their comparisons."""

    def __init__(self, dataset: DatasetSpec) -> None:
        self._dataset = dataset
        self.refusals = Refusals()

    def formula(
        self, entry: Entry, at: tuple[str | int, ...], *, opposite: bool = False
    ) -> Formula | None:
        """Return the formula of an entry, or of its opposite; None if it was refused."""
        match entry:
            case NotOf():
                return self.formula(entry.not_of, (*at, "not"), opposite=not opposite)
            case AnyOf():
                joining: Joining = "all" if opposite else "any"
                return self._junction(joining, entry.any_of, (*at, "any"), opposite=opposite)
            case AllOf():
                joining = "any" if opposite else "all"
                return self._junction(joining, entry.all_of, (*at, "all"), opposite=opposite)
        with self.refusals:
            return _filter(self._dataset, entry, at, opposite=opposite)
        return None

    def _junction(
        self,
        joining: Joining,
        entries: Sequence[Entry],
        at: tuple[str | int, ...],
        *,
        opposite: bool,
    ) -> Formula | None:
        parts = [
            self.formula(entry, (*at, place), opposite=opposite)
            for place, entry in enumerate(entries)
        ]
        read = [part for part in parts if part is not None]
        return junction(joining, read) if read else None


def _filter(
    dataset: DatasetSpec, condition: Condition, at: tuple[str | int, ...], *, opposite: bool
) -> Filter:
    values = _values(dataset, condition, at)
    op = {"=": "in", "!=": "not_in"}.get(condition.op, condition.op)
    return Filter(column_of(dataset, condition.column), OPPOSITES[op] if opposite else op, values)


def _values(
    dataset: DatasetSpec, condition: Condition, at: tuple[str | int, ...]
) -> tuple[Cell, ...]:
    """Return what a cell is compared with, each value once, in one order."""
    spec = declared(dataset, condition.column, *at, "column")
    if condition.op in OF_NOTHING:
        return ()
    several = condition.op in {"in", "not_in"}
    if several != isinstance(condition.value, tuple):
        operand = "a list of values" if several else "one value"
        raise InvalidInput(f"{condition.op} takes {operand}.", pointer=pointer(*at, "value"))
    if condition.op in {"<", "<=", ">", ">="} and spec.type not in ORDERED:
        raise InvalidInput(
            f"{condition.op} compares integers, numbers and dates; {condition.column} is"
            f" declared as {spec.type}.",
            pointer=pointer(*at, "op"),
        )
    sent = condition.value if isinstance(condition.value, tuple) else (condition.value,)
    cells = [cell(spec.type, value) for value in sent]
    read = {value for value in cells if value is not None}
    if None in cells:
        raise InvalidInput(
            f"A value for {condition.column} must be {EXAMPLES[spec.type]}, as the column's"
            " type says.",
            pointer=pointer(*at, "value", *([cells.index(None)] if several else [])),
        )
    if isinstance(spec, DerivedSpec) and spec.type == "integer":
        # Its categories are the values that it may have, and not all that it is compared with.
        return tuple(sorted(read, key=spelling))
    if spec.categories and not read <= {cell(spec.type, entry) for entry in spec.categories}:
        raise InvalidInput(
            f"A value for {condition.column} is none of the categories that the dataset declares.",
            pointer=pointer(*at, "value"),
        )
    return tuple(sorted(read, key=spelling))
