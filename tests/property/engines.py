"""Open the engines that have to agree, each with a table of typed rows.

Another engine is one more entry in ``ENGINES``: a function that yields an ``Engine``, and skips
where what it needs is not installed.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.databases.clickhouse import embedded
from tests.databases.warehouse import made
from tests.property.typed_rows import COLUMNS, EVERY, TYPES, Row, meaningful
from tests.support.thorough import by_count
from tests.unit.connectors.cases import KEY, SALT, dataset_of

from penstock.connectors.choice import connector_of
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.prepare import answer, fingerprint
from penstock.connectors.sources import Sources
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec


@dataclass(frozen=True)
class Engine:
    """Hold an engine: where it reads, and how its table is filled anew."""

    source: dict[str, str]
    sources: Sources
    fill: Callable[[Sequence[Row]], None]
    step: int = 1
    """Of ``step`` kinds one is asked over many rows; a slow engine is asked all by night."""

    def dataset(self, unit: dict[str, Any]) -> DatasetSpec:
        """Return the dataset of the table."""
        return dataset_of(source=self.source, columns=COLUMNS, unit=unit, max_units=1000)

    def answers(self, unit: dict[str, Any], queries: Sequence[ComputedQuery]) -> list[list[int]]:
        """Return the exact vector of each query, in steps."""
        dataset = self.dataset(unit)
        registered = fingerprint(dataset, KEY, self.sources)
        connector = connector_of(dataset, self.sources)
        return [
            [
                int(number)
                for number in answer(
                    dataset,
                    connector.statement(interpret(dataset, query)),
                    salt=SALT,
                    fingerprint_key=KEY,
                    fingerprint=registered,
                    sources=self.sources,
                ).steps
            ]
            for query in queries
        ]


_ARROW = {
    "string": pa.string(),
    "integer": pa.int64(),
    "number": pa.float64(),
    "boolean": pa.bool_(),
    "date": pa.date32(),
}
_POSTGRESQL = {
    "string": "text",
    "integer": "bigint",
    "number": "double precision",
    "boolean": "boolean",
    "date": "date",
}


def arrow_table(rows: Sequence[Row]) -> Any:
    """Return the rows as an Arrow table, with their types."""
    columns = zip(*rows, strict=True) if rows else ([] for _ in TYPES)
    return pa.table(
        {
            name: pa.array(list(cells), _ARROW[kind])
            for (name, kind), cells in zip(TYPES.items(), columns, strict=True)
        }
    )


@contextmanager
def duckdb(_: pytest.FixtureRequest, folder: Path) -> Iterator[Engine]:
    """Yield DuckDB over a Parquet file: what the others are compared with."""
    yield Engine(
        {"engine": "duckdb", "uri": "visits.parquet"},
        Sources(folder, threads=1),
        lambda rows: pq.write_table(arrow_table(rows), folder / "visits.parquet"),
    )


@contextmanager
def postgresql(request: pytest.FixtureRequest, _: Path) -> Iterator[Engine]:
    """Yield PostgreSQL, with a database of its own."""
    types = {name: _POSTGRESQL[kind] for name, kind in TYPES.items()}
    with made(request.getfixturevalue("cluster")) as warehouse:
        yield Engine(
            {"engine": "postgresql", "connection": "warehouse", "table": "data.visits"},
            warehouse.sources,
            lambda rows: warehouse.fill("visits", types, rows),
        )


@contextmanager
def clickhouse(_: pytest.FixtureRequest, folder: Path) -> Iterator[Engine]:
    """Yield the ClickHouse inside this process, with a folder of its own."""
    with embedded(folder) as tables:
        yield Engine(
            dict(tables.source_of("visits")),
            tables.sources,
            lambda rows: tables.fill("visits", arrow_table(rows)),
            by_count(3, 1),
        )


Opening = Callable[[pytest.FixtureRequest, Path], AbstractContextManager[Engine]]

ENGINES: dict[str, Opening] = {"postgresql": postgresql, "clickhouse": clickhouse}
"""All engines but DuckDB, by name."""


def differences(
    engine: Engine, reference: Engine, unit: dict[str, Any], queries: list[ComputedQuery]
) -> list[ComputedQuery]:
    """Return the queries that the two answer differently."""
    pairs = zip(
        queries, engine.answers(unit, queries), reference.answers(unit, queries), strict=True
    )
    return [query for query, left, right in pairs if left != right]


def every(engine: Engine, unit: dict[str, Any]) -> list[ComputedQuery]:
    """Return one query of each kind."""
    return meaningful(engine.dataset(unit), EVERY)
