"""A dataset in a bucket is registered, queried and refused as one in a file is."""

import io
from dataclasses import replace
from pathlib import Path
from typing import Any

import obstore
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from deltalake import write_deltalake
from pydantic import SecretStr
from sqlmodel import select
from tests.databases.object_store import ACCESS_KEY, REGION, SECRET_KEY, ObjectStore
from tests.unit.connectors.storage.answering import answering
from tests.unit.connectors.storage.lakes import s3_setting
from tests.unit.worlds import World

from penstock.connectors.storage.failures import failure
from penstock.connectors.storage.stores.bucket import Bucket
from penstock.errors import Conflict, InvalidInput, SourceChanged, Unavailable
from penstock.persistence.tables import Charge
from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import datasets
from penstock.services.queries import registered, registration
from penstock.services.schemas.queries import (
    ComputedQueryRequest,
    DatasetRequest,
    VersionRequest,
)

pytestmark = pytest.mark.slow
VISITS = pa.table({"person": ["ann", "bob", "bob"], "ward": ["a", "b", "b"]})


class Lake:
    """Represent a world with a connection to a bucket of its own."""

    def __init__(self, world: World, server: ObjectStore) -> None:
        self.url, self.bucket = server.url, server.bucket()
        self.inside = server.opened(self.bucket)
        self.world = world
        self.server = self.connected(s3_setting(server.url))

    def connected(self, setting: str) -> Any:
        settings = self.world.server.settings
        connections = {"lake": SecretStr(setting)}
        changed = settings.model_copy(update={"connections": connections})
        return replace(self.world.server, settings=changed)

    def put(self, name: str, rows: pa.Table = VISITS) -> None:
        stream = io.BytesIO()
        pq.write_table(rows, stream)
        obstore.put(self.inside, name, stream.getvalue())

    def request(self, path: str, name: str = "visits", prefix: str = "") -> DatasetRequest:
        uri = f"{prefix}s3://{self.bucket}/{path}"
        return DatasetRequest.model_validate(
            {
                "name": name,
                "source": {"engine": "duckdb", "connection": "lake", "uri": uri},
                "privacy_unit": {"column": "person"},
                "neighboring": "add_remove",
                "delta": 1e-6,
                "columns": {
                    "person": {"type": "string"},
                    "ward": {"type": "string", "categories": ["a", "b"]},
                },
                "budgets": {"public": {"epsilon": 1}},
            }
        )

    def register(self, path: str, **more: str) -> Any:
        return datasets.register(self.server, OPERATOR, self.request(path, **more))

    def count(self, server: Any = None, dataset: str = "visits") -> Any:
        query = ComputedQueryRequest.model_validate(
            {
                "name": "by_ward",
                "dataset": dataset,
                "aggregate": {"type": "count_units"},
                "group_by": ["ward"],
                "contribution": {"max_groups": 1},
                "mechanism": "gaussian",
                "share": 0.1,
            }
        )
        return registration.register(server or self.server, OPERATOR, query)

    def charges(self) -> int:
        with self.server.database.read() as session:
            return len(session.exec(select(Charge)).all())


@pytest.fixture
def lake(world: World, object_store: ObjectStore) -> Lake:
    return Lake(world, object_store)


def test_a_pattern_is_registered_and_a_query_is_answered(lake: Lake) -> None:
    for place in range(2):
        lake.put(f"visits/{place}.parquet")
    view = lake.register("visits/*.parquet")
    assert view.source == {
        "engine": "duckdb",
        "connection": "lake",
        "uri": f"s3://{lake.bucket}/visits/*.parquet",
    }
    assert lake.count().dimension == 2


def test_objects_under_two_names_are_refused(lake: Lake) -> None:
    lake.put("visits/1.parquet")
    lake.register("visits/*.parquet")
    for path in ("visits/1.parquet", "**/*.parquet"):
        with pytest.raises(Conflict, match="registered already"):
            lake.register(path, name="again")


def test_a_change_of_the_objects_charges_nothing_and_the_same_request_works_later(
    lake: Lake,
) -> None:
    lake.put("visits/1.parquet")
    lake.register("visits/*.parquet")
    lake.put("visits/2.parquet")
    with pytest.raises(SourceChanged):
        lake.count()
    assert lake.charges() == 0
    obstore.delete(lake.inside, "visits/2.parquet")
    lake.count()
    assert lake.charges() == 3  # one for each tier


def test_a_store_that_refuses_charges_nothing_and_the_same_request_works_later(lake: Lake) -> None:
    lake.put("visits/1.parquet")
    lake.register("visits/*.parquet")
    with (
        answering(lambda request: request.reply(403)) as host,
        pytest.raises(Unavailable, match="403"),
    ):
        lake.count(lake.connected(s3_setting(f"http://{host}")))
    with pytest.raises(Unavailable, match="no connection 'lake'"):
        lake.count(lake.world.server)
    assert lake.charges() == 0
    lake.count()
    assert lake.charges() == 3  # one for each tier


def test_a_store_that_refuses_amid_the_reading_says_that_the_query_is_charged_and_waits(
    lake: Lake, monkeypatch: pytest.MonkeyPatch
) -> None:
    lake.put("visits/1.parquet")
    lake.register("visits/*.parquet")

    def refused(*_: object) -> bytes:
        raise failure(OSError("status code: 403"), "The store")

    with monkeypatch.context() as patch:
        patch.setattr(Bucket, "read", refused)
        with pytest.raises(Unavailable) as problem:
            lake.count()
    assert lake.charges() == 3  # one for each tier
    assert "refuses the connection's credentials (403)" in problem.value.detail
    assert "Query 'by_ward' is charged and waits for its data" in problem.value.detail
    assert "nothing charged" not in problem.value.detail
    lake.count()
    assert lake.charges() == 3


def test_a_table_s_version_is_registered_with_it(lake: Lake) -> None:
    place = f"s3://{lake.bucket}/table"
    options = {
        "AWS_ENDPOINT_URL": lake.url,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": REGION,
        "AWS_S3_ALLOW_UNSAFE_RENAME": "true",
    }
    write_deltalake(place, VISITS, storage_options=options)
    view = lake.register("table", prefix="delta+")
    assert view.source["uri"] == f"delta+{place}?version=0"
    write_deltalake(place, VISITS, storage_options=options, mode="append")
    assert lake.count().dimension == 2
    # A registration that was cut off is found by the request that had no version.
    request = lake.request("table", prefix="delta+")
    assert registered.dataset(lake.server, OPERATOR, request) == "visits"
    other = lake.request("table2", prefix="delta+")
    assert registered.dataset(lake.server, OPERATOR, other) is None
    # So is a version, though the table has another one by then: else both would have a budget.
    later = VersionRequest.model_validate({"source": request.source, "budgets": request.budgets})
    assert registered.version(lake.server, OPERATOR, "visits", later) is None
    assert datasets.add_version(lake.server, OPERATOR, "visits", later).version == 2
    write_deltalake(place, VISITS, storage_options=options, mode="append")
    assert registered.version(lake.server, OPERATOR, "visits", later) == "visits"


def secrets_in(folder: Path) -> list[Path]:
    return [
        path
        for path in folder.rglob("*")
        if path.is_file() and SECRET_KEY.encode() in path.read_bytes()
    ]


def test_the_secret_is_in_no_file_of_the_home(lake: Lake) -> None:
    lake.put("visits/1.parquet")
    lake.register("visits/*.parquet")
    lake.count()
    assert secrets_in(lake.server.settings.home) == []


@pytest.mark.parametrize(
    "source",
    [
        {"uri": "file:///etc/passwd"},
        {"uri": "file:///etc/visits.parquet", "connection": "lake"},
        {"uri": "delta+file:///etc/visits", "connection": "lake"},
        {"uri": "s3://lake/visits.parquet"},
        {"uri": "memory://lake/visits.parquet", "connection": "lake"},
        {"uri": "https://127.0.0.1/visits.parquet", "connection": "lake"},
        {"uri": "visits.parquet", "connection": "lake"},
    ],
)
def test_no_address_gets_around_the_rules_for_files_and_hosts(
    lake: Lake, source: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    settings = lake.server.settings.model_copy(update={"data_anywhere": True})
    server = replace(lake.server, settings=settings)
    fields = lake.request("visits.parquet").model_dump(mode="json")
    request = DatasetRequest.model_validate({**fields, "source": {"engine": "duckdb", **source}})
    with pytest.raises(InvalidInput) as refused:
        datasets.register(server, OPERATOR, request)
    assert {place for place, _ in refused.value.errors} <= {"/source/uri", "/source/connection"}
