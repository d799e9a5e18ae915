"""Compute statements over visits with plain DuckDB, as they are written."""

from collections.abc import Sequence
from typing import Any

import duckdb
import pyarrow as pa
from tests.property.sql.texts import COLUMNS

ONE_ROW = {"max_groups": 1, "max_rows_per_group": 1}
WIDTH_BUCKET = """
CREATE MACRO width_bucket
    (x, low, high, n) AS CASE WHEN x < low THEN 0 WHEN x >= high THEN n + 1
        ELSE CAST(floor((x - low) * n / (high - low)) AS INTEGER) + 1 END,
    (x, edges) AS len(list_filter(edges, lambda edge: edge <= x))
"""
_TYPES = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}


def table_of(cells: Sequence[tuple[Any, ...]]) -> pa.Table:
    """Return rows of different people as an Arrow table."""
    whole = [(f"p{number}", *row) for number, row in enumerate(cells)]
    return pa.table(
        {
            name: pa.array([row[place] for row in whole], _TYPES[column["type"]])
            for place, (name, column) in enumerate(COLUMNS.items())
        }
    )


def plainly(table: pa.Table, text: str) -> list[tuple[Any, ...]]:
    """Return what DuckDB answers to a statement as it is written."""
    with duckdb.connect() as connection:
        connection.execute(WIDTH_BUCKET)
        connection.register("visits", table)
        return connection.execute(text).fetchall()
