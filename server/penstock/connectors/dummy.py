"""Make up rows that fit a declared dataset, for trying out code before anything is released.

The rows follow from the declaration alone, which every user who sees the dataset can read, so they
reveal nothing about the data.  The seed determines them.
"""

import datetime
import hashlib
import math

from penstock.connectors.specs.cells import Cell, cell
from penstock.connectors.specs.models import ColumnSpec, DatasetSpec, UnitColumn
from penstock.randomness.stream import Stream

MOST_ROWS = 10_000
SHARE_MISSING = 0.05
"""The share of empty cells in a column that declares a value for missing cells."""

FIRST_DAY = datetime.date(2000, 1, 1)
DAYS = 366 * 20
DEFAULT_WIDTH = 100
WORDS = 26
ROWS_OF_A_UNIT = 3
"""The mean number of rows of a privacy unit; some have far more."""

Rows = list[dict[str, Cell | None]]


def dummy_rows(dataset: DatasetSpec, rows: int, seed: int) -> Rows:
    """Return ``rows`` made-up rows, by the names of the columns in their declared order.

    Numbers lie between the declared bounds, texts and dates among the declared
    categories; undeclared ones are made up too.
    """
    # The key is public on purpose: no noise is drawn here, and a repeat gives the same rows.
    key = hashlib.sha256(f"dummy rows, seed {seed}".encode()).digest()
    stream = Stream.from_key(key)
    unit = dataset.privacy_unit
    columns = {
        name: _units(column, rows, stream)
        if isinstance(unit, UnitColumn) and unit.column == name
        else _cells(column, rows, stream)
        for name, column in dataset.columns.items()
    }
    return [dict(zip(columns, cells, strict=True)) for cells in zip(*columns.values(), strict=True)]


def _units(column: ColumnSpec, rows: int, stream: Stream) -> list[Cell | None]:
    count = max(rows // ROWS_OF_A_UNIT, 1)
    numbers = (count * stream.generator.random(rows) ** 2).astype(int).tolist()
    return [1 + n if column.type == "integer" else f"unit-{1 + n}" for n in numbers]


def _cells(column: ColumnSpec, rows: int, stream: Stream) -> list[Cell | None]:
    cells: list[Cell | None] = list(_present(column, rows, stream))
    if column.missing is None:
        return cells
    empty = stream.generator.random(rows) < SHARE_MISSING
    return [None if gone else kept for kept, gone in zip(cells, empty, strict=True)]


def _present(column: ColumnSpec, rows: int, stream: Stream) -> list[Cell]:
    draw = stream.generator
    if column.categories is not None:
        places = draw.integers(0, len(column.categories), rows).tolist()
        read = {place: cell(column.type, column.categories[place]) for place in set(places)}
        return [value for place in places if (value := read[place]) is not None]
    match column.type:
        case "boolean":
            return [number == 1 for number in draw.integers(0, 2, rows).tolist()]
        case "date":
            days = draw.integers(0, DAYS, rows).tolist()
            return [FIRST_DAY + datetime.timedelta(days=number) for number in days]
        case "string":
            return [f"text-{number}" for number in draw.integers(0, WORDS, rows).tolist()]
    lower, upper = _bounds(column)
    if column.type == "integer":
        low, high = math.ceil(lower), math.floor(upper)
        return list(draw.integers(min(low, high), high, rows, endpoint=True).tolist())
    return [lower + (upper - lower) * part for part in draw.random(rows).tolist()]


def _bounds(column: ColumnSpec) -> tuple[float, float]:
    lower, upper = column.lower, column.upper
    if lower is None:
        lower = 0 if upper is None else min(0, upper - DEFAULT_WIDTH)
    if upper is None:
        upper = max(lower + DEFAULT_WIDTH, DEFAULT_WIDTH)
    return lower, upper
