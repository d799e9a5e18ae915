"""An Iceberg table is read at the snapshot that was registered, through its store alone."""

from collections.abc import Callable, Iterator
from typing import Any

import duckdb
import obstore
import pyarrow as pa
import pytest
from tests.databases.object_store import ACCESS_KEY, REGION, SECRET_KEY, ObjectStore
from tests.unit.connectors.storage.lakes import dataset, s3_access

from penstock.connectors.storage.lake import Lake, located, registered
from penstock.connectors.storage.stores.objects import StoredObject
from penstock.connectors.storage.tables import iceberg, iceberg_files
from penstock.errors import InvalidInput, SourceChanged

KEY = bytes(range(32))
ROWS = pa.table({"a": pa.array([1, 2, 3], pa.int64()), "text": ["x", "y", None]})
pytestmark = pytest.mark.slow


@pytest.fixture
def made(object_store: ObjectStore) -> Iterator[Callable[[], tuple[Any, str]]]:
    """Return what makes a table of the rows, and the name of its bucket."""
    from pyiceberg.catalog.memory import InMemoryCatalog

    catalogs = []

    def make() -> tuple[Any, str]:
        bucket = object_store.bucket()
        catalog = InMemoryCatalog(
            "tests",
            warehouse=f"s3://{bucket}/warehouse",
            **{
                "s3.endpoint": object_store.url,
                "s3.access-key-id": ACCESS_KEY,
                "s3.secret-access-key": SECRET_KEY,
                "s3.region": REGION,
            },
        )
        catalogs.append(catalog)
        catalog.create_namespace("lake")
        table = catalog.create_table("lake.visits", schema=ROWS.schema)
        table.append(ROWS)
        return table, bucket

    yield make
    for catalog in catalogs:
        catalog.engine.dispose()


def cells(lake: Lake, *names: str) -> list[tuple[str | None, ...]]:
    with duckdb.connect() as connection:
        connection.register("rows", lake.relation({name: name for name in names}))
        columns = ", ".join(f"CAST({name} AS VARCHAR)" for name in names)
        return connection.execute(f"SELECT {columns} FROM rows ORDER BY ALL").fetchall()  # noqa: S608


def test_columns_are_found_by_their_numbers_and_empty_where_they_came_later(
    made: Callable[[], tuple[Any, str]], object_store: ObjectStore
) -> None:
    from pyiceberg.types import LongType

    table, _ = made()
    with table.update_schema() as update:
        update.rename_column("text", "ward")
        update.add_column("later", LongType())
    table.append(
        pa.table(
            {"a": [9], "ward": ["z"], "later": pa.array([7], pa.int64())}, table.schema().as_arrow()
        )
    )
    lake = located(s3_access(object_store.url), f"iceberg+{table.metadata_location}")
    lake.check(dataset(a="integer", ward="string", later="integer"))
    assert cells(lake, "a", "ward", "later") == [
        ("1", "x", None),
        ("2", "y", None),
        ("3", None, None),
        ("9", "z", "7"),
    ]


def test_a_snapshot_is_pinned_and_files_that_are_gone_are_a_change(
    made: Callable[[], tuple[Any, str]], object_store: ObjectStore
) -> None:
    table, bucket = made()
    access = s3_access(object_store.url)
    lake = located(access, f"iceberg+{table.metadata_location}")
    number = table.current_snapshot().snapshot_id
    assert str(lake.address).endswith(f".metadata.json?snapshot={number}")
    table.append(ROWS)
    again = registered(access, str(lake.address), KEY, lake.fingerprint(KEY))
    assert len(cells(again, "a")) == 3
    later = located(access, f"iceberg+{table.metadata_location}")
    assert later.fingerprint(KEY) != lake.fingerprint(KEY)
    with pytest.raises(InvalidInput, match="Snapshot 5 is not"):
        located(access, f"iceberg+{table.metadata_location}?snapshot=5")
    obstore.delete(object_store.opened(bucket), lake.parts[0].item.name)
    with pytest.raises(SourceChanged, match="gone"):
        registered(access, str(lake.address), KEY, lake.fingerprint(KEY))


def test_what_is_no_table_is_refused(object_store: ObjectStore) -> None:
    bucket = object_store.bucket()
    access = s3_access(object_store.url)
    place = f"iceberg+s3://{bucket}/t/metadata/v1.metadata.json"
    with pytest.raises(InvalidInput, match="not there"):
        located(access, place)
    obstore.put(object_store.opened(bucket), "t/metadata/v1.metadata.json", b'{"cell": 1}')
    with pytest.raises(InvalidInput, match="damaged") as refused:
        located(access, place)
    assert "cell" not in refused.value.detail


class _Store:
    root = "s3://lake/"

    def head(self, name: str) -> StoredObject:
        return StoredObject(name, 10, '"1"')


@pytest.mark.parametrize(
    ("location", "name"),
    [
        ("s3://lake/a/b.parquet", "a/b.parquet"),
        ("s3a://lake/a/b.parquet", "a/b.parquet"),
        ("s3://other/a/b.parquet", None),
        ("s3://lake.evil.example/a", None),
        ("file:///etc/passwd", None),
        ("/etc/passwd", None),
        ("http://169.254.169.254/latest", None),
        ("s3://lake/../other/a", None),
    ],
)
def test_metadata_that_name_files_elsewhere_are_refused(location: str, name: str | None) -> None:
    store: Any = _Store()
    if name is not None:
        assert iceberg_files.named(store, location) == name
        return
    for attempt in (
        lambda: iceberg_files.named(store, location),
        lambda: iceberg_files.StoreFiles(store).new_input(location),
    ):
        with pytest.raises(InvalidInput, match="outside"):
            attempt()


def test_files_whose_rows_were_deleted_elsewhere_are_refused() -> None:
    """Asked of the check itself: the library that writes tables here rewrites files instead."""

    def task(deletes: int, kind: str, size: int = 10) -> Any:
        form = type("Form", (), {"value": kind})()
        file = type(
            "File",
            (),
            {"file_path": "s3://lake/a", "file_format": form, "file_size_in_bytes": size},
        )()
        return type("Task", (), {"file": file, "delete_files": [1] * deletes})()

    store: Any = _Store()
    assert len(iceberg._parts(store, [task(0, "PARQUET")], {"a": 1})) == 1
    for bad, word in [
        (task(1, "PARQUET"), "delete files"),
        (task(0, "ORC"), "not Parquet"),
        (task(0, "PARQUET", 11), "gone"),
    ]:
        with pytest.raises(InvalidInput, match=word):
            iceberg._parts(store, [bad], {"a": 1})
