"""Answer a query exactly on made-up rows of its dataset, for trying it out.

The statement is that of DuckDB for the same plan, whatever engine reads the data, and it runs as on
a registered file: locked down, on a file of made-up rows in a folder that is then deleted.
"""

import datetime
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from penstock.connectors.dummy import Rows, dummy_rows
from penstock.connectors.planning.plan import Plan
from penstock.connectors.specs.models import ColumnType, DatasetSpec

SALT = b"dummy rows"
"""The salt by which groups are chosen; it is public, as the rows are."""

THREADS = 1
MEMORY = "512MB"


def dummy_answer(dataset: DatasetSpec, plan: Plan, rows: int, seed: int) -> NDArray[np.int64]:
    """Return the exact answer in lattice steps, shape ``(plan.dimension,)``.

    It is the same for the same ``seed``, and depends on no cell of the data.  Raises
    ``Unavailable`` if memory is short.
    """
    from penstock.connectors.duckdb import source
    from penstock.connectors.duckdb.dialect import DuckDB
    from penstock.connectors.duckdb.source_file import locate_path
    from penstock.connectors.statements.template import statement

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "dummy.parquet"
        _write(dataset, dummy_rows(dataset, rows, seed), path)
        return source.run(
            statement(plan, DuckDB()),
            locate_path(path),
            tuple(dataset.columns),
            SALT,
            threads=THREADS,
            memory=MEMORY,
        )


def _write(dataset: DatasetSpec, rows: Rows, path: Path) -> None:
    """Write rows as a Parquet file with the declared types."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    types: dict[ColumnType, Any] = {
        "string": pa.string(),
        "integer": pa.int64(),
        "number": pa.float64(),
        "boolean": pa.bool_(),
        "date": pa.date32(),
    }
    columns: dict[str, Sequence[str | int | float | bool | datetime.date | None]] = {
        name: [row[name] for row in rows] for name in dataset.columns
    }
    arrays = {
        name: pa.array(cells, types[dataset.columns[name].type]) for name, cells in columns.items()
    }
    pq.write_table(pa.table(arrays), path)
