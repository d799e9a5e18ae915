"""List what surrounds a statement: its tables of declared keys, and the columns that it reads.

Each connector makes these tables in its own way; their names and columns are the same everywhere.
"""

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.connectors.formulas.formula import Column
from penstock.connectors.planning.plan import Grouping, Plan
from penstock.connectors.specs.cells import Cell
from penstock.connectors.specs.models import ColumnType
from penstock.connectors.statements.statement import BINS, TAKEN

if TYPE_CHECKING:
    import pyarrow as pa

Keys = Mapping[str, tuple[Cell, ...] | tuple[float, ...] | tuple[int, ...]]
"""The columns of a table of keys: ``value``, or ``lower`` and ``upper``, and ``position``."""


def groupings(plan: Plan) -> dict[str, Grouping]:
    """Return what each table of keys is made of, by its name."""
    tables = {f"keys_{place}": grouping for place, grouping in enumerate(plan.groupings)}
    if plan.summand is not None and plan.summand.categories:
        tables[TAKEN] = Grouping(plan.summand.column, categories=plan.summand.categories)
    if plan.bins is not None:
        tables[BINS] = plan.bins
    return tables


def keys_of(grouping: Grouping) -> Keys:
    """Return the columns of one table of keys."""
    positions = tuple(range(len(grouping)))
    if grouping.categories:
        return {"value": grouping.categories, "position": positions}
    # The last bin is closed: it ends just below the next larger double.
    ends = (*grouping.edges[1:-1], math.nextafter(grouping.edges[-1], math.inf))
    return {"lower": grouping.edges[:-1], "upper": ends, "position": positions}


def table_of_keys(grouping: Grouping) -> "pa.Table":
    """Return one table of keys, as Arrow."""
    import pyarrow as pa

    kinds = {"value": arrow_type(grouping.column.type), "position": pa.int64()}
    columns = keys_of(grouping).items()
    return pa.table(
        {name: pa.array(cells, kinds.get(name, pa.float64())) for name, cells in columns}
    )


def arrow_type(kind: ColumnType) -> "pa.DataType":
    """Return Arrow's type of a declared column's values."""
    import pyarrow as pa

    match kind:
        case "integer":
            return pa.int64()
        case "boolean":
            return pa.bool_()
        case "date":
            return pa.date32()
        case "number":
            return pa.float64()
    return pa.string()


def columns_of(plan: Plan) -> dict[str, Column]:
    """Return the columns that a plan reads, by name, in the order of names."""
    key = plan.open_keys.column if plan.open_keys else None
    used = [column for column in (plan.unit, key, *plan.sources) if column is not None]
    return {column.name: column for column in sorted(used, key=lambda column: column.name)}
