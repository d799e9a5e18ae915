"""Look up the columns that a query names in its dataset's declaration."""

from penstock.connectors.planning.plan import Column
from penstock.connectors.planning.refusals import pointer
from penstock.connectors.specs.cells import NUMERIC, cell
from penstock.connectors.specs.models import ColumnSpec, DatasetSpec
from penstock.errors import InvalidInput

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
            f"A {kind} needs bounds: declare {side} here, for example"
            f" {_BOUNDS[side]}, or on the column.",
            pointer=pointer(*at),
        )
    return float(known) + 0.0
