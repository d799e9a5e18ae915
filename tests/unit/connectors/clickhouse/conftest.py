"""Provide a ClickHouse with a view of visits, for all tests of this folder."""

import datetime
from collections.abc import Iterator

import pyarrow as pa
import pytest
from tests.databases.clickhouse import Tables, embedded
from tests.unit.connectors.cases import dataset_of

from penstock.connectors.specs.models import DatasetSpec

NEW_YEAR = datetime.date(2026, 1, 1)
ROWS = {
    "person": pa.array(["ann", "ann", "ben", "ben", None]),
    "ward": pa.array(["a", "b", "a", "c", "a"]),
    "age": pa.array([30, 31, None, 64, 1], pa.int32()),
    "cost": pa.array([1.5, float("nan"), float("inf"), -2.0, 1.0]),
    "urgent": pa.array([True, False, None, True, True]),
    "day": pa.array([NEW_YEAR, NEW_YEAR, None, None, NEW_YEAR]),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Tables]:
    """Yield a folder of tables, which this process has open."""
    with embedded(tmp_path_factory.mktemp("tables")) as tables:
        yield tables


@pytest.fixture
def tables(folder: Tables) -> Tables:
    """Return the folder, with the table of visits as it was."""
    folder.fill("visits", pa.table(ROWS))
    return folder


@pytest.fixture
def visits(folder: Tables) -> DatasetSpec:
    """Return the dataset of the table of visits."""
    return dataset_of(source=dict(folder.source_of("visits")))
