"""Provide small datasets for tests: rows to a file, a spec over it, a question asked of it."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from penstock.connectors.planning.prepare import PreparedQuery, answer, fingerprint, prepare
from penstock.connectors.sources import Sources
from penstock.connectors.specs.correlated import CorrelatedQuery
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.statements.statement import Statement

KEY = bytes(range(32))
SALT = bytes(reversed(range(32)))

Row = Sequence[str | int | float | bool | None]

VISITS: dict[str, object] = {
    "person": {"type": "string"},
    "ward": {"type": "string", "categories": ["a", "b", "c"]},
    "age": {"type": "integer", "lower": 0, "upper": 120},
    "cost": {"type": "number", "lower": -10, "upper": 50, "step": 0.5},
    "urgent": {"type": "boolean"},
    "day": {"type": "date", "categories": ["2026-01-01", "2026-01-02"]},
}


def dataset_of(
    uri: str = "visits.csv",
    columns: Mapping[str, object] | None = None,
    unit: object = None,
    **changes: object,
) -> DatasetSpec:
    """Return a dataset of hospital visits, with whatever else a test wants."""
    return DatasetSpec.model_validate(
        {
            "name": "visits",
            "source": {"engine": "duckdb", "uri": uri},
            "privacy_unit": {"column": "person"} if unit is None else unit,
            "neighboring": "add_remove",
            "columns": VISITS if columns is None else dict(columns),
            **changes,
        }
    )


def query_of(aggregate: object = None, **changes: object) -> ComputedQuery:
    """Return a count of at most two rows a person in at most two groups, unless told more."""
    return ComputedQuery.model_validate(
        {
            "name": "question",
            "dataset": "visits",
            "aggregate": {"type": "count"} if aggregate is None else aggregate,
            "contribution": {"max_groups": 2, "max_rows_per_group": 2},
            **changes,
        }
    )


def correlated_of(aggregate: object = None, **changes: object) -> CorrelatedQuery:
    """Return counts that are protected together, otherwise as ``query_of``."""
    plain = query_of(aggregate).model_dump(exclude_none=True)
    return CorrelatedQuery.model_validate({**plain, "structure": "correlated", **changes})


def prepared(dataset: DatasetSpec, query: ComputedQuery) -> PreparedQuery:
    """Return the query, prepared for version 1 under Gaussian noise."""
    return prepare(dataset, query, version=1, mechanism="gaussian")


def stated(dataset: DatasetSpec, query: ComputedQuery) -> Statement:
    """Return the statement that is recorded and run for the query."""
    statement = prepared(dataset, query).statement
    if statement is None:
        raise TypeError("a query that is computed has a statement")
    return statement


def csv_text(names: Sequence[str], rows: Sequence[Row]) -> str:
    """Return the rows as CSV: an empty field for None."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([["" if cell is None else cell for cell in row] for row in rows])
    return text.getvalue()


@dataclass
class Folder:
    """Hold a folder of data files, and the answers that they give."""

    path: Path
    names: list[str] = field(default_factory=lambda: list(VISITS))

    def csv(self, rows: Sequence[Row], name: str = "visits.csv") -> None:
        """Write rows of the folder's columns as CSV."""
        (self.path / name).write_text(csv_text(self.names, rows), encoding="utf-8")

    def parquet(self, columns: Mapping[str, object], name: str = "visits.parquet") -> None:
        """Write columns as Parquet."""
        pq.write_table(pa.table(dict(columns)), self.path / name)

    def ask(
        self,
        dataset: DatasetSpec,
        query: ComputedQuery,
        threads: int = 1,
        salt: bytes = SALT,
    ) -> NDArray[np.int64]:
        """Return the exact answer in steps, the file being as it is now."""
        return answer(
            dataset,
            stated(dataset, query),
            salt=salt,
            fingerprint_key=KEY,
            fingerprint=fingerprint(dataset, KEY, Sources(self.path)),
            sources=Sources(self.path, threads=threads),
        ).steps
