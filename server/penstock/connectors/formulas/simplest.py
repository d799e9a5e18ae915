"""Rewrite conditions and columns, so that more of those that say the same are equal.

This is for the hash of a statistic; what is run is spelled as it was sent.  Two conditions become
one only if they are true for the same rows: all comparisons of one column that are joined make a
set of its cells (``value_sets``), with or without the missing one, and a set has one spelling.
What is known of all rows that count may be used: ``Known`` has the columns whose cells are never
missing there, and those that have one of some values.

A column that is derived as the cell of another one is that column, wherever the bounds to which it
is cut make no difference.
"""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final

from penstock.connectors.formulas import value_sets
from penstock.connectors.formulas.arithmetic import (
    Cases,
    Computed,
    Constant,
    Cut,
    DerivedColumn,
    Product,
    Sum,
    TextCell,
    added,
    bounds_of,
    may_have_none,
    multiplied,
    negated,
)
from penstock.connectors.formulas.formula import (
    Column,
    Filter,
    Formula,
    Joining,
    Junction,
    joined,
    junction,
)
from penstock.connectors.formulas.value_sets import ALL, NONE, Values
from penstock.connectors.specs.cells import Cell, spelling
from penstock.errors import InvalidInput

TRUE: Final = Junction("all", ())
"""What holds for every row."""

FALSE: Final = Junction("any", ())
"""What holds for no row."""

_INTEGERS: Final = (-(2**63), 2**63 - 1)


@dataclass(frozen=True)
class Known:
    """Hold what is known of the rows that count: ``present`` columns, and values of some."""

    present: frozenset[Column] = frozenset()
    among: Mapping[Column, tuple[Cell, ...]] = field(default_factory=dict)

    def and_present(self, columns: Iterable[Column]) -> "Known":
        """Return this with further columns whose cells are not missing."""
        return replace(self, present=self.present | frozenset(columns))


@dataclass(frozen=True)
class _Cells:
    """Hold the cells of a column that meet a condition; ``missing`` says whether no value does."""

    values: Values
    missing: bool


_Compared = dict[Column, list[_Cells]]


def conjunction(formulas: Iterable[Formula], known: Known) -> tuple[Formula, ...]:
    """Return what has to hold, in fewer words.  Nothing is left of what holds anyway."""
    whole = _joined("all", formulas, known)
    return whole.parts if isinstance(whole, Junction) and whole.joining == "all" else (whole,)


def column(each: Column, known: Known) -> Column:
    """Return a column with the same cells in all rows that count.

    The name of a derived column is left out.
    """
    if not isinstance(each, DerivedColumn):
        return each
    computed = _computed(each.computed, known)
    return computed.column if isinstance(computed, TextCell) else _derived(each, computed)


def listed_column(each: Column, known: Known) -> Column:
    """Return a column as ``column`` does, or itself if that one listed other keys."""
    if not isinstance(each, DerivedColumn):
        return each
    computed = _computed(each.computed, known)
    if computed.categories != each.computed.categories:
        return each
    return computed.column if isinstance(computed, TextCell) else _derived(each, computed)


def cut_of(each: Column) -> Cut | None:
    """Return the bounds and the column of which a column is the cell; ``None`` of any other."""
    computed = each.computed if isinstance(each, DerivedColumn) else None
    return computed if isinstance(computed, Cut) else None


def needed_by(each: Column) -> Iterator[Column]:
    """Yield a column, and those without whose cells it has none."""
    yield each
    if isinstance(each, DerivedColumn):
        yield from _needed(each.computed)


def _needed(computed: Computed) -> Iterator[Column]:
    match computed:
        case Cut() | TextCell():
            yield computed.column
        case Sum():
            yield from (inner for term in computed.terms for inner in _needed(term))
        case Product():
            yield from (inner for factor in computed.factors for inner in _needed(factor))


def _derived(each: Column, computed: Computed) -> DerivedColumn:
    return DerivedColumn("", each.type, None, computed)


def _computed(computed: Computed, known: Known) -> Computed:
    """Return an expression with the same value in all rows that count."""
    try:
        match computed:
            case Sum():
                return added([_computed(term, known) for term in computed.terms])
            case Product():
                return multiplied([_computed(factor, known) for factor in computed.factors])
    except InvalidInput:
        # Sums and products that were in cases by themselves may be too long together.
        return computed
    return _cases(computed, known) if isinstance(computed, Cases) else computed


def _cases(computed: Cases, known: Known) -> Computed:
    """Return cases without those that never count; equal values in a row are of one case."""
    cases: list[tuple[Formula, Computed]] = []
    otherwise = None if computed.otherwise is None else _computed(computed.otherwise, known)
    for formula, value in computed.cases:
        condition, own = _formula(formula, known), _computed(value, known)
        if condition == TRUE:
            otherwise = own
            break
        if condition == FALSE:
            continue
        if cases and cases[-1][1] == own:
            condition = _joined("any", [cases.pop()[0], condition], known)
        cases.append((condition, own))
    while cases and cases[-1][1] == otherwise:
        cases.pop()
    if not cases and otherwise is not None:
        return otherwise
    return Cases(tuple(cases), otherwise) if cases else computed


def _formula(formula: Formula, known: Known) -> Formula:
    parts = formula.parts if isinstance(formula, Junction) else (formula,)
    return _joined(formula.joining if isinstance(formula, Junction) else "all", parts, known)


def _joined(joining: Joining, formulas: Iterable[Formula], known: Known) -> Formula:
    """Return parts that are joined: one set of cells for each column, and all other parts."""
    compared: _Compared = {}
    others: list[Formula] = []
    _gather(joining, joined(joining, formulas), known, compared, others)
    cells = _together(joining, compared)
    if others:
        # What is compared has a cell in each row that the other parts are asked about.
        inner = known.and_present(_present(cells)) if joining == "all" else known
        waiting, others = others, []
        _gather(joining, [_formula(each, inner) for each in waiting], known, compared, others)
        cells = _together(joining, compared)
    neutral, absorbing = (TRUE, FALSE) if joining == "all" else (FALSE, TRUE)
    implied = known.and_present(_implied(cells)) if joining == "all" else known
    # Only declared columns: of two derived ones each might be left out because of the other.
    parts = [
        _spelled(each, own, known if isinstance(each, DerivedColumn) else implied)
        for each, own in cells.items()
    ]
    parts += others
    if absorbing in parts:
        return absorbing
    parts = [part for part in parts if part != neutral]
    return junction(joining, parts) if parts else neutral


def _gather(
    joining: Joining,
    formulas: Iterable[Formula],
    known: Known,
    compared: _Compared,
    others: list[Formula],
) -> None:
    """Add the comparisons among parts to those of their columns, and list the other parts."""
    for each in formulas:
        if isinstance(each, Junction) and each.joining == joining and each.parts:
            _gather(joining, each.parts, known, compared, others)
        elif isinstance(each, Junction):
            single = _of_single_column(each, known)
            if single is None:
                others.append(each)
            else:
                compared.setdefault(single[0], []).append(single[1])
        else:
            own, values = _compared(each, known)
            compared.setdefault(own, []).append(values)


def _of_single_column(formula: Junction, known: Known) -> tuple[Column, _Cells] | None:
    """Return the cells for which a junction holds that compares one column alone."""
    compared: _Compared = {}
    for part in formula.parts:
        if isinstance(part, Junction):
            single = _of_single_column(part, known)
            if single is None:
                return None
        else:
            single = _compared(part, known)
        compared.setdefault(single[0], []).append(single[1])
    if len(compared) != 1:
        return None
    return next(iter(_together(formula.joining, compared).items()))


def _together(joining: Joining, compared: _Compared) -> dict[Column, _Cells]:
    """Return the cells of each column that meet any, or all, of its comparisons."""
    return {each: _joined_cells(joining, several) for each, several in compared.items()}


def _joined_cells(joining: Joining, several: Sequence[_Cells]) -> _Cells:
    if len(several) == 1:
        return several[0]
    if joining == "any":
        missing = any(each.missing for each in several)
        return _Cells(value_sets.united(each.values for each in several), missing)
    outside = value_sets.united(value_sets.opposite(each.values) for each in several)
    return _Cells(value_sets.opposite(outside), all(each.missing for each in several))


def _compared(each: Filter, known: Known) -> tuple[Column, _Cells]:
    """Return the column that is compared, and which of its cells meet the comparison."""
    compared, kind = column(each.column, known), each.column.type
    listed = value_sets.points(kind, each.values)
    match each.op:
        case "is_null":
            own = _Cells(NONE, missing=True)
        case "is_not_null":
            own = _Cells(ALL, missing=False)
        case "in":
            own = _Cells(listed, missing=False)
        case "not_in":
            own = _Cells(value_sets.opposite(listed), missing=False)
        case _:
            own = _Cells(value_sets.beyond(kind, each.op, each.values[0]), missing=False)
    if isinstance(compared, DerivedColumn) and compared.type == "integer":
        computed, values = _turned(compared.computed, own.values)
        if isinstance(computed, Cut):
            # The cells that are brought to values of the set.
            values = value_sets.within(values, computed.lowest, computed.highest)
        own = replace(own, values=values)
        compared = computed.column if isinstance(computed, Cut) else _derived(compared, computed)
    return compared, own


def _turned(computed: Computed, values: Values) -> tuple[Computed, Values]:
    """Return an integer without what is added to it, and of it and its opposite the first one.

    With it come the values that it has where the whole had ``values``.
    """
    if isinstance(computed, Sum):
        constants = [term for term in computed.terms if isinstance(term, Constant)]
        others = [term for term in computed.terms if not isinstance(term, Constant)]
        if constants and others:
            added_up = sum(bounds_of(constant)[0] for constant in constants)
            computed, values = added(others), value_sets.moved(values, -added_up)
    try:
        turned = negated(computed)
    except InvalidInput:
        return computed, values
    spelled, other = json.dumps(computed.spelled), json.dumps(turned.spelled)
    if (len(other), other) < (len(spelled), spelled):
        return turned, value_sets.mirrored(values)
    return computed, values


def _present(cells: Mapping[Column, _Cells]) -> Iterator[Column]:
    """Yield the columns whose missing cells leave a row out, by one of the comparisons."""
    for each, own in cells.items():
        if not own.missing:
            yield from needed_by(each)


def _implied(cells: Mapping[Column, _Cells]) -> Iterator[Column]:
    """Yield the declared columns without whose cells a derived one that is compared has none."""
    for each, own in cells.items():
        if not own.missing:
            yield from (inner for inner in needed_by(each) if inner != each)


def _spelled(each: Column, own: _Cells, known: Known) -> Formula:
    """Return the one condition that holds for these cells of a column."""
    whole, values = ALL, own.values
    listed = _listed(each, known)
    if listed is not None:
        whole = value_sets.points(each.type, listed)
        values = value_sets.shared(values, whole)
    elif each.type == "integer":
        bounds = each.computed.bounds if isinstance(each, DerivedColumn) else None
        values = value_sets.within(values, *(bounds or _INTEGERS))
    missing = own.missing and _may_be_missing(each, known)
    parts: list[Formula] = [Filter(each, "is_null", ())] if missing else []
    if values == whole:
        if missing or not _may_be_missing(each, known):
            return TRUE
        return Filter(each, "is_not_null", ())
    if values:
        parts += _ranges(each, values, whole)
    return junction("any", parts) if parts else FALSE


def _ranges(each: Column, values: Values, whole: Values) -> list[Formula]:
    """Return conditions of which one holds for every value of a set."""
    short, longer = value_sets.listed(each.type, value_sets.opposite(values))
    if whole == ALL and not longer:
        return [_within(each, "not_in", short)]
    short, longer = value_sets.listed(each.type, values)
    parts: list[Formula] = [_within(each, "in", short)] if short else []
    for low, high in longer:
        compared = value_sets.comparisons(each.type, low, high)
        parts.append(junction("all", [Filter(each, op, (value,)) for op, value in compared]))
    return parts


def _within(each: Column, op: str, values: Iterable[Cell]) -> Filter:
    return Filter(each, op, tuple(sorted(values, key=spelling)))


def _listed(each: Column, known: Known) -> tuple[Cell, ...] | None:
    """Return all values that a column has in rows that count; ``None`` if they are not listed."""
    if each in known.among:
        return known.among[each]
    if each.type == "boolean":
        return (False, True)
    if isinstance(each, DerivedColumn) and not _has_texts(each.computed):
        return each.computed.categories
    return None


def _has_texts(computed: Computed) -> bool:
    """Return True if an expression has a cell of texts, which may be none of its categories."""
    if isinstance(computed, Cases):
        return any(map(_has_texts, computed.values))
    return isinstance(computed, TextCell)


def _may_be_missing(each: Column, known: Known) -> bool:
    if each in known.present or each in known.among:
        return False
    if isinstance(each, DerivedColumn):
        return may_have_none(each.computed, known.present)
    return each.missing is None
