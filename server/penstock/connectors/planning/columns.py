"""Look up the columns that a query names in its dataset's declaration."""

import math
from collections.abc import Sequence

from penstock.connectors.formulas.arithmetic import DerivedColumn, DerivedSpec
from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.domain import ALL
from penstock.connectors.planning.plan import Grouping
from penstock.connectors.planning.refusals import Refusals, pointer
from penstock.connectors.specs.cells import NUMERIC, cell
from penstock.connectors.specs.models import ColumnSpec, DatasetSpec
from penstock.connectors.specs.moments import (
    MOST_CELLS,
    MOST_NUMBERS,
    MOST_TABLES,
    MOST_TREE_KEYS,
    MarginalTables,
    RowsByColumn,
    RowsOfColumn,
)
from penstock.connectors.specs.moments import Workload as WorkloadSpec
from penstock.errors import InvalidInput
from penstock.structures.factorization.kronecker import Factor, Workload
from penstock.structures.factorization.rows import TREE, Given, Spans
from penstock.structures.marginals.lattice import Marginals, up_to

_ORDER = 2
"""The most columns of a marginal if nothing is said."""

_MOST_JOINT = 2**62

_BOUNDS = {"lower": 0, "upper": 100}
"""Examples of bounds, for messages."""


def column_of(dataset: DatasetSpec, name: str) -> Column:
    """Return a declared column as plans have it."""
    spec = dataset.columns[name]
    if isinstance(spec, DerivedSpec):
        return DerivedColumn(name, spec.type, None, spec.computed)
    missing = None if spec.missing is None else cell(spec.type, spec.missing)
    return Column(name, spec.type, missing)


def declared(dataset: DatasetSpec, name: str, *at: str | int) -> ColumnSpec:
    """Return a column's declaration.  Raises ``InvalidInput`` at ``at`` if there is none."""
    if name not in dataset.columns:
        raise InvalidInput(
            f"The dataset {dataset.name} declares no column of this name; it declares"
            f" {', '.join(sorted(dataset.columns)[:20])}.",
            pointer=pointer(*at),
        )
    return dataset.columns[name]


def numeric(dataset: DatasetSpec, name: str, *at: str | int) -> ColumnSpec:
    """Return the declaration of a column of integers or numbers.  Raises ``InvalidInput``."""
    spec = declared(dataset, name, *at)
    if spec.type not in NUMERIC:
        raise InvalidInput(
            f"Only integers and numbers add up; {name} is declared as {spec.type}.",
            pointer=pointer(*at),
        )
    return spec


def bound(spec: ColumnSpec, kind: str, side: str, own: int | float | None, *at: str | int) -> float:
    """Return a bound, ``lower`` or ``upper``: a query's ``own``, or the column's.

    ``kind`` is the statistic, for messages.  Raises ``InvalidInput`` if there is none.
    """
    known: int | float | None = own if own is not None else getattr(spec, side)
    if known is None:
        raise InvalidInput(
            f"Bounds are needed for {kind}: declare {side} here, for example"
            f" {_BOUNDS[side]}, or on the column.",
            pointer=pointer(*at),
        )
    return float(known) + 0.0


def grouping(
    dataset: DatasetSpec, name: str, bins: tuple[int | float, ...] | None, *at: str | int
) -> Grouping:
    """Return the keys of a column: its bins, or its categories.  Raises ``InvalidInput``."""
    spec = declared(dataset, name, *at, "column")
    column = column_of(dataset, name)
    if bins is not None:
        return Grouping(column, edges=_edges(spec, name, bins, *at))
    if spec.type == "boolean":
        return Grouping(column, categories=(False, True))
    if spec.categories is None:
        raise InvalidInput(
            f"Keys are declared, never discovered: give bins here, for example 0, 18, 65,"
            f" 120, or {name} its categories in the dataset.",
            pointer=pointer(*at, "column"),
        )
    cells = (cell(spec.type, category) for category in spec.categories)
    return Grouping(column, categories=tuple(value for value in cells if value is not None))


def _edges(
    spec: ColumnSpec, name: str, bins: tuple[int | float, ...], *at: str | int
) -> tuple[float, ...]:
    if spec.type not in NUMERIC:
        raise InvalidInput(
            f"Bins are for integers and numbers; {name} is declared as {spec.type}.",
            pointer=pointer(*at, "bins"),
        )
    edges = tuple(float(edge) + 0.0 for edge in bins)
    for position in range(1, len(edges)):
        if edges[position - 1] >= edges[position]:
            raise InvalidInput(
                "The edges of bins rise, each above the one before.",
                pointer=pointer(*at, "bins", position),
            )
    return edges


def marginals_of(aggregate: object, groupings: Sequence[Grouping]) -> Marginals | None:
    """Return the marginals of the columns of ``groupings``; None for any other statistic.

    Raises ``InvalidInput`` for columns that say nothing, sets of other columns or that are named
    twice, and too many cells.
    """
    if not isinstance(aggregate, MarginalTables):
        return None
    refusals = Refusals()
    for place, each in enumerate(groupings):
        with refusals:
            _require_keys(each, "aggregate", "columns", place)
    names = [each.column.name for each in groupings]
    sets: list[tuple[int, ...]] = []
    for place, names_of_set in enumerate(aggregate.sets or ()):
        with refusals:
            columns = _set_of(names_of_set, names, "aggregate", "sets", place)
            _require_new(columns, sets, "aggregate", "sets", place)
            sets.append(columns)
    refusals.raise_all()
    named = tuple(sorted(sets, key=lambda each: (len(each), each)))
    order = min(aggregate.up_to or _ORDER, len(names))
    marginals = Marginals(tuple(map(len, groupings)), named or up_to(len(names), order))
    _require_few(marginals)
    return marginals


def _require_keys(each: Grouping, *at: str | int) -> None:
    if len(each) < 2:
        raise InvalidInput(
            f"{each.column.name} has one key alone, so that its tables say nothing; leave it"
            " out, or give it more categories or bins.",
            pointer=pointer(*at),
        )
    if ALL in each.labels:
        raise InvalidInput(
            f"A category of {each.column.name} is {ALL!r}, which stands for the columns that a"
            " marginal does not have; name it otherwise in the data.",
            pointer=pointer(*at),
        )


def _set_of(named: Sequence[str], names: Sequence[str], *at: str | int) -> tuple[int, ...]:
    for place, name in enumerate(named):
        if name not in names or name in named[:place]:
            raise InvalidInput(
                "A set has columns that are listed in columns, each once.",
                pointer=pointer(*at, place),
            )
    return tuple(sorted(names.index(name) for name in named))


def _require_new(columns: tuple[int, ...], before: Sequence[object], *at: str | int) -> None:
    if columns in before:
        raise InvalidInput(
            "A set of columns is named twice, so that its table would be listed twice. Name each"
            " set once.",
            pointer=pointer(*at),
        )


def _require_few(marginals: Marginals) -> None:
    """Raise ``InvalidInput`` for more tables or cells than one query may have."""
    tables, at = len(marginals.protected), pointer("aggregate")
    if tables > MOST_TABLES:
        raise InvalidInput(
            f"The sets have {tables} subsets, and a query has at most {MOST_TABLES}. Name fewer"
            " sets, or smaller ones.",
            pointer=at,
        )
    if marginals.dimension > MOST_NUMBERS:
        raise InvalidInput(
            f"The marginals and those within them have {marginals.dimension} cells, and a query has"
            f" at most {MOST_NUMBERS}. Name fewer or smaller sets, or coarser bins.",
            pointer=at,
        )
    if math.prod(marginals.sizes) > _MOST_JOINT:
        raise InvalidInput(
            "The columns have more than 2^62 cells together, which are too many for exact"
            " integers. Name fewer columns, or coarser bins.",
            pointer=pointer("aggregate", "columns"),
        )


def workload_of(aggregate: object, groupings: Sequence[Grouping]) -> Workload | None:
    """Return the workload over the columns of ``groupings``; None for any other statistic.

    Raises ``InvalidInput`` for matrices of other sizes than the columns have, for queries that the
    strategy does not answer, and for too many cells, nodes and answers.
    """
    if not isinstance(aggregate, WorkloadSpec):
        return None
    refusals = Refusals()
    for place, each in enumerate(groupings):
        with refusals:
            _require_keys(each, "aggregate", "columns", place)
    refusals.raise_all()
    matrices = []
    for field, rows in (("queries", aggregate.queries), ("strategy", aggregate.strategy)):
        with refusals:
            matrices.append(_matrices(rows, groupings, field))
    refusals.raise_all()
    workload = Workload(tuple(Factor(*both) for both in zip(*matrices, strict=True)))
    _require_room(workload)
    named = isinstance(aggregate.strategy, str)
    for place, factor in enumerate(workload.factors):
        with refusals:
            at = ("aggregate", "strategy") if named else ("aggregate", "strategy", place)
            _require_answered(factor, groupings[place], *at)
    refusals.raise_all()
    return workload


def _matrices(rows: RowsByColumn, groupings: Sequence[Grouping], field: str) -> list[Given | Spans]:
    """Return the matrix of each column.  Raises ``InvalidInput``."""
    at = ("aggregate", field)
    if isinstance(rows, str):
        return [_matrix(rows, each, *at) for each in groupings]
    if len(rows) != len(groupings):
        raise InvalidInput(
            f"There are {len(groupings)} columns, and {field} has {len(rows)} entries; give a name"
            " or a matrix for each column, in their order.",
            pointer=pointer(*at),
        )
    refusals, matrices = Refusals(), []
    for place, (own, each) in enumerate(zip(rows, groupings, strict=True)):
        with refusals:
            matrices.append(_matrix(own, each, *at, place))
    refusals.raise_all()
    return matrices


def _matrix(rows: RowsOfColumn, each: Grouping, *at: str | int) -> Given | Spans:
    """Return a column's matrix.  Raises ``InvalidInput`` for one that does not fit its keys."""
    name, size = each.column.name, len(each)
    if isinstance(rows, str):
        if rows == TREE and size > MOST_TREE_KEYS:
            raise InvalidInput(
                f"{name} has {size} keys, and a tree is over at most {MOST_TREE_KEYS}. Take coarser"
                " bins, or identity or marginals.",
                pointer=pointer(*at),
            )
        return Spans(rows, size)
    if len(rows[0]) != size:
        raise InvalidInput(
            f"Each row has {len(rows[0])} integers, and {name} has {size} keys; give one for each.",
            pointer=pointer(*at),
        )
    empty = next((place for place, row in enumerate(rows) if not any(row)), None)
    if empty is not None:
        raise InvalidInput(
            f"Row {empty + 1} of the matrix of {name} is all 0; leave it out.",
            pointer=pointer(*at, empty),
        )
    given = Given(rows)
    if at[1] == "strategy" and not given.column_sums.all():
        key = each.labels[int(given.column_sums.argmin())]
        raise InvalidInput(
            f"All rows of the strategy of {name} are 0 for the key {key}; add one that is not.",
            pointer=pointer(*at),
        )
    return given


def _require_room(workload: Workload) -> None:
    """Raise ``InvalidInput`` for more cells, nodes or answers than one query may have."""
    numbers = (
        ("columns", "cells", math.prod(workload.sizes), MOST_CELLS),
        ("strategy", "sums that are protected", workload.dimension, MOST_CELLS),
        ("queries", "answers", workload.count, MOST_NUMBERS),
    )
    for field, what, number, most in numbers:
        if number > most:
            raise InvalidInput(
                f"The columns have {number} {what} together, and a workload has at most {most}."
                " Name fewer columns, coarser bins, or matrices with fewer rows.",
                pointer=pointer("aggregate", field),
            )


def _require_answered(factor: Factor, each: Grouping, *at: str | int) -> None:
    """Raise ``InvalidInput`` unless a column's queries are combinations of its strategy's rows."""
    row = factor.outside
    if row is not None:
        label = factor.queries.labels(each.labels)[row]
        raise InvalidInput(
            f"The query {label} of {each.column.name} is no combination of the rows of the"
            " strategy, so that nothing answers it. Add rows to the strategy.",
            pointer=pointer(*at),
        )
    if not factor.is_computed:
        raise InvalidInput(
            f"Rows of the strategy of {each.column.name} are so nearly combinations of each other"
            " that the answers cannot be computed. Give rows that differ more.",
            pointer=pointer(*at),
        )
