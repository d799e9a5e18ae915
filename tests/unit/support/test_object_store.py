"""The S3 server of the tests keeps objects, checks ``If-Match`` and locks, and ends."""

import httpx
import obstore
import pytest
from obstore.exceptions import PreconditionError
from tests.databases.object_store import ObjectStore

pytestmark = pytest.mark.slow


def test_a_bucket_keeps_what_is_put_into_it_and_tells_one_object_from_another(
    object_store: ObjectStore,
) -> None:
    store = object_store.opened(object_store.bucket())
    first = obstore.put(store, "a/b", b"first")["e_tag"]
    assert bytes(obstore.get(store, "a/b", options={"if_match": first}).bytes()) == b"first"
    obstore.put(store, "a/b", b"second")
    with pytest.raises(PreconditionError):
        obstore.get(store, "a/b", options={"if_match": first})


def test_buckets_are_apart(object_store: ObjectStore) -> None:
    one, other = object_store.bucket(), object_store.bucket()
    obstore.put(object_store.opened(one), "a", b"1")
    assert [list(page) for page in obstore.list(object_store.opened(other))] == []


def test_a_bucket_may_have_versions_and_object_lock(object_store: ObjectStore) -> None:
    for bucket in (object_store.bucket(versions=True), object_store.bucket(locked=True)):
        put = obstore.put(object_store.opened(bucket), "a", b"1")
        assert put["version"] is not None
    status = httpx.get(f"{object_store.url}/{bucket}?object-lock", trust_env=False)
    assert "Enabled" in status.text
