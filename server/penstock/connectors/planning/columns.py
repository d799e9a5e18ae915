"""Look up the columns that a query names in its dataset's declaration."""

import math
from collections.abc import Sequence

from penstock.connectors.planning.domain import ALL
from penstock.connectors.planning.plan import Column, Grouping
from penstock.connectors.planning.refusals import Refusals, pointer
from penstock.connectors.specs.cells import NUMERIC, cell
from penstock.connectors.specs.models import ColumnSpec, DatasetSpec
from penstock.connectors.specs.moments import MOST_NUMBERS, MOST_TABLES, MarginalTables
from penstock.errors import InvalidInput
from penstock.structures.marginals.lattice import Marginals, up_to

_ORDER = 2
"""The most columns of a marginal if nothing is said."""

_MOST_JOINT = 2**62

_BOUNDS = {"lower": 0, "upper": 100}
"""Examples of bounds, for messages."""


def column_of(dataset: DatasetSpec, name: str) -> Column:
    """Return a declared column as plans have it."""
    spec = dataset.columns[name]
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

    Raises ``InvalidInput`` for columns that say nothing, sets of other columns, and too many cells.
    """
    if not isinstance(aggregate, MarginalTables):
        return None
    refusals = Refusals()
    for place, each in enumerate(groupings):
        with refusals:
            _require_keys(each, "aggregate", "columns", place)
    names = [each.column.name for each in groupings]
    sets = []
    for place, names_of_set in enumerate(aggregate.sets or ()):
        with refusals:
            sets.append(_set_of(names_of_set, names, "aggregate", "sets", place))
    refusals.raise_all()
    named = tuple(sorted(set(sets), key=lambda each: (len(each), each)))
    order = min(aggregate.up_to or _ORDER, len(names))
    marginals = Marginals(tuple(map(len, groupings)), named or up_to(len(names), order))
    _require_few(marginals)
    return marginals


def _require_keys(each: Grouping, *at: str | int) -> None:
    if len(each) < 2:
        raise InvalidInput(
            f"{each.column.name} has one key alone, so that its marginals say nothing; leave it"
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
