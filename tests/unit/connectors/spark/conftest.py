"""Provide a Spark with a view of visits, within this process and behind Spark Connect."""

import datetime
from collections.abc import Iterator

import pyarrow as pa
import pytest
from tests.databases import spark, spark_connect
from tests.databases.spark import Cluster
from tests.databases.spark_connect import Server
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


@pytest.fixture(scope="session")
def local() -> Iterator[Cluster]:
    """Yield the Spark inside this process, which the tests of a process share."""
    with spark.started() as cluster:
        yield cluster


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """Yield the server of Spark Connect, which the tests of a process share."""
    with spark_connect.started(tmp_path_factory.mktemp("connect"), pages=True) as running:
        yield running


@pytest.fixture(params=["local", "server"])
def running(request: pytest.FixtureRequest) -> Cluster:
    """Return the Spark of this process, and then the one behind Spark Connect."""
    cluster: Cluster = request.getfixturevalue(request.param)
    return cluster


@pytest.fixture
def cluster(running: Cluster) -> Cluster:
    """Return the Spark, with the view of visits as it was."""
    running.fill("visits", pa.table(ROWS))
    return running


@pytest.fixture
def visits() -> DatasetSpec:
    """Return the dataset of the view of visits."""
    return dataset_of(source=dict(spark.source_of("visits")))
