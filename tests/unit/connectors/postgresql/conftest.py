"""Provide a warehouse with a view of visits."""

from collections.abc import Iterator

import pytest
from tests.databases.cluster import Cluster
from tests.databases.warehouse import Warehouse, made
from tests.unit.connectors.cases import dataset_of

from penstock.connectors.specs.models import DatasetSpec

TYPES = {
    "person": "text",
    "ward": "varchar(9)",
    "age": "int",
    "cost": "numeric",
    "urgent": "boolean",
    "day": "date",
}
ROWS = [
    ("ann", "a", 30, "1.5", True, "2026-01-01"),
    ("ann", "b", 31, "NaN", False, "2026-01-02"),
    ("ben", "a", None, "1e400", None, "infinity"),
    ("ben", "c", 64, "1e-400", True, None),
    (None, "a", 1, "1", True, "2026-01-01"),
]


@pytest.fixture(scope="module")
def house(cluster: Cluster) -> Iterator[Warehouse]:
    """Yield the warehouse that the tests of a module share."""
    with made(cluster) as warehouse:
        yield warehouse


@pytest.fixture
def warehouse(house: Warehouse) -> Warehouse:
    """Return the warehouse, with the table of visits as it was."""
    house.fill("visits", TYPES, ROWS)
    return house


@pytest.fixture
def visits() -> DatasetSpec:
    """Return the dataset of the table of visits."""
    return dataset_of(
        source={"engine": "postgresql", "connection": "warehouse", "table": "data.visits"}
    )
