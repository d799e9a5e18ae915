"""A dataset in a bucket is the objects that were registered, and nothing that came after."""

import json

import obstore
import pytest
from tests.databases.object_store import ObjectStore
from tests.unit.connectors.storage.lakes import Memory, dataset, parquet, s3_access

from penstock.connectors.storage.address import parsed
from penstock.connectors.storage.lake import Lake, located, registered
from penstock.connectors.storage.stores.objects import Part
from penstock.errors import InvalidInput, SourceChanged

KEY = bytes(range(32))
pytestmark = pytest.mark.slow


def one(number: int) -> bytes:
    return parquet({"a": [number]})


def test_objects_that_are_added_removed_renamed_or_replaced_are_a_change(
    object_store: ObjectStore,
) -> None:
    bucket = object_store.bucket()
    store, access = object_store.opened(bucket), s3_access(object_store.url)
    uri = f"s3://{bucket}/visits/*.parquet"
    for name in ("1", "2"):
        obstore.put(store, f"visits/{name}.parquet", one(int(name)))
    before = located(access, uri).fingerprint(KEY)

    def is_known() -> bool:
        try:
            registered(access, uri, KEY, before)
        except SourceChanged:
            return False
        return True

    assert is_known()
    obstore.put(store, "visits/note.txt", b"not of the pattern")
    obstore.put(store, "visits/later/3.parquet", b"nor in the folder")
    assert is_known()
    obstore.put(store, "visits/3.parquet", one(3))
    assert not is_known()
    obstore.rename(store, "visits/3.parquet", "other.parquet")
    assert is_known()
    obstore.put(store, "visits/2.parquet", one(5))
    assert not is_known()
    obstore.put(store, "visits/2.parquet", one(2))
    assert is_known()
    obstore.rename(store, "visits/2.parquet", "visits/0.parquet")
    assert not is_known()
    obstore.delete(store, ["visits/0.parquet", "visits/1.parquet"])
    assert not is_known()


def test_a_manifest_belongs_to_what_is_registered(object_store: ObjectStore) -> None:
    bucket = object_store.bucket()
    store, access = object_store.opened(bucket), s3_access(object_store.url)
    obstore.put(store, "1.parquet", one(1))
    obstore.put(store, "list.json", json.dumps({"entries": ["1.parquet"]}).encode())
    uri = f"s3://{bucket}/list.json"
    lake = located(access, uri)
    assert len(lake.parts) == 1
    obstore.put(store, "list.json", json.dumps({"entries": ["1.parquet"]}, indent=1).encode())
    with pytest.raises(SourceChanged):
        registered(access, uri, KEY, lake.fingerprint(KEY))


def lake_of(store: Memory, *names: str) -> Lake:
    parts = [Part(store.head(name)) for name in names]
    return Lake(store, parsed("s3://lake/*.parquet"), parts)


def test_the_fingerprint_is_keyed_and_the_same_however_the_objects_are_named_in_a_spec() -> None:
    store = Memory()
    store.put("1.parquet", one(1))
    lake = lake_of(store, "1.parquet")
    assert lake.fingerprint(KEY) != lake.fingerprint(KEY[::-1])
    alone = Lake(store, parsed("s3://lake/1.parquet"), lake.parts)
    assert alone.fingerprint(KEY) == lake.fingerprint(KEY)


def test_a_footer_is_all_that_is_read_of_an_object_that_is_registered() -> None:
    store = Memory()
    store.put_table("1.parquet", {"a": list(range(1 << 20))}, compression="none")
    size = store.head("1.parquet").size
    lake_of(store, "1.parquet").check(dataset(a="integer"))
    assert store.read_bytes <= 1 << 16 < size


def test_an_object_without_a_declared_column_is_named() -> None:
    store = Memory()
    store.put_table("1.parquet", {"a": [1], "b": [1]})
    store.put_table("2.parquet", {"a": [1]})
    store.put_table("3.parquet", {"a": [1], "b": ["x"]})
    lake_of(store, "1.parquet", "2.parquet", "3.parquet").check(dataset(a="integer"))
    with pytest.raises(InvalidInput) as refused:
        lake_of(store, "1.parquet", "2.parquet").check(dataset(a="integer", b="integer"))
    assert refused.value.errors[0][0] == "/columns/b"
    assert "'2.parquet'" in refused.value.errors[0][1]
    with pytest.raises(InvalidInput, match=r"string in the object '3\.parquet' and int64"):
        lake_of(store, "1.parquet", "3.parquet").check(dataset(b="integer"))


def test_types_come_from_the_first_object_that_has_cells() -> None:
    store = Memory()
    store.put_table("1.parquet", {"a": [1]})
    lake = Lake(
        store,
        parsed("s3://lake/*.parquet"),
        [Part(store.head("1.parquet"), {"b": None}), Part(store.head("1.parquet"), {"b": "x"})],
    )
    assert {name: str(kind) for name, kind in lake.types(["a", "b"]).items()} == {
        "a": "int64",
        "b": "large_string",
    }
