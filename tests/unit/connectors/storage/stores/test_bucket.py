"""A bucket is read through its library, and its failures are said in our own words."""

import json
import threading
from datetime import timedelta
from urllib.parse import unquote

import obstore
import pytest
from tests.databases.object_store import SECRET_KEY, ObjectStore
from tests.unit.connectors.storage.answering import Request, answering
from tests.unit.connectors.storage.lakes import Memory, s3_access

from penstock.connectors.storage.access import access_of
from penstock.connectors.storage.address import parsed
from penstock.connectors.storage.failures import Missing, Replaced
from penstock.connectors.storage.stores import bucket
from penstock.connectors.storage.stores.bucket import opened
from penstock.connectors.storage.stores.objects import StoredObject
from penstock.errors import InvalidInput, Unavailable

pytestmark = pytest.mark.slow
AT = parsed("s3://lake/a.parquet")


def test_objects_are_listed_looked_up_and_read_by_ranges(object_store: ObjectStore) -> None:
    name = object_store.bucket()
    for path in ("visits/1.parquet", "visits/deep/2.parquet", "visits2/3.parquet"):
        obstore.put(object_store.opened(name), path, path.encode())
    store = opened(s3_access(object_store.url), parsed(f"s3://{name}/visits/*.parquet"))
    listed = {item.name: item for item in store.under("visits")}
    assert set(listed) == {"visits/1.parquet", "visits/deep/2.parquet"}
    item = store.head("visits/1.parquet")
    assert item == listed["visits/1.parquet"]
    assert store.read(item, 7, 16) == b"1.parquet"
    with pytest.raises(Missing):
        store.head("visits/3.parquet")


def test_a_version_that_is_not_there_any_more_is_not_read(object_store: ObjectStore) -> None:
    name = object_store.bucket(versions=True)
    inside = object_store.opened(name)
    obstore.put(inside, "a.parquet", b"first")
    store = opened(s3_access(object_store.url), parsed(f"s3://{name}/a.parquet"))
    item = store.head("a.parquet")
    obstore.put(inside, "a.parquet", b"other")
    with pytest.raises(Replaced):
        store.read(item, 0, 5)
    obstore.delete(inside, "a.parquet")
    with pytest.raises(Missing):
        store.read(item, 0, 5)


def test_a_store_that_ignores_the_condition_is_noticed() -> None:
    """The tag in its answer is another one."""
    store = Memory()
    store.put("a", b"first")
    item = store.head("a")

    def ignoring(request: Request) -> None:
        request.reply(
            206, b"other", ETag='"2"', Content_Range="bytes 0-4/5", Last_Modified=MODIFIED
        )

    with answering(ignoring) as host:
        read = opened(s3_access(f"http://{host}"), AT)
        with pytest.raises(Replaced):
            read.read(StoredObject("a.parquet", item.size, '"1"'), 0, 5)


MODIFIED = "Wed, 25 Nov 2026 12:00:00 GMT"


def test_a_store_without_strong_tags_is_refused() -> None:
    def weak(request: Request) -> None:
        request.reply(200, b"other", ETag='W/"1"', Last_Modified=MODIFIED)

    with answering(weak) as host, pytest.raises(Unavailable, match="entity tag"):
        opened(s3_access(f"http://{host}"), AT).head("a.parquet")


@pytest.mark.parametrize(("status", "word"), [(403, "(403)"), (401, "(401)"), (400, "400")])
def test_a_refusal_is_reported_without_what_the_store_wrote(status: int, word: str) -> None:
    def refusing(request: Request) -> None:
        request.reply(status, b"<Error><Message>cell-of-the-data</Message></Error>")

    with answering(refusing) as host:
        store = opened(s3_access(f"http://{host}"), AT)
        for attempt in (
            lambda: list(store.under("visits")),
            lambda: store.read(StoredObject("a.parquet", 5, '"1"'), 0, 5),
        ):
            with pytest.raises(Unavailable) as refused:
                attempt()
            assert word in refused.value.detail
            for hidden in ("cell-of-the-data", SECRET_KEY, "Signature", host):
                assert hidden not in refused.value.detail


def test_a_store_that_is_not_there_or_never_answers_is_unreachable(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bucket, "_RETRIES", 0)
    monkeypatch.setattr(bucket, "_SILENCE", timedelta(milliseconds=50))
    done = threading.Event()
    with answering(lambda _: (done.wait(), None)[1]) as host:
        for endpoint in (f"http://{host}", "http://127.0.0.1:9"):
            with pytest.raises(Unavailable, match="cannot be reached"):
                opened(s3_access(endpoint), AT).head("a.parquet")
        done.set()


def test_buckets_of_google_and_containers_of_azure_are_read_alike() -> None:
    """Under the names that these services have for the same requests."""
    asked: list[str] = []

    def store(request: Request) -> None:
        asked.append(request.path)
        if "Range" in request.headers:
            begin, end = request.span()
            request.reply(
                206,
                b"content"[begin:end],
                ETag='"1"',
                Content_Range=f"bytes {begin}-{end - 1}/7",
                Last_Modified=MODIFIED,
            )
        else:
            request.reply(200, b"content", ETag='"1"', Last_Modified=MODIFIED)

    with answering(store) as host:
        settings = [
            ({"store": "gcs", "base_url": f"http://{host}"}, "gs://lake/a b/1.parquet"),
            (
                {"store": "azure", "account_name": "account", "endpoint": f"http://{host}"},
                "az://lake/a b/1.parquet",
            ),
        ]
        for setting, uri in settings:
            text = json.dumps({**setting, "allow_http": True, "anonymous": True})
            read = opened(access_of(text, "lake"), parsed(uri))
            item = read.head("a b/1.parquet")
            assert item == StoredObject("a b/1.parquet", 7, '"1"')
            assert read.read(item, 3, 7) == b"tent"
    assert {unquote(path.partition("?")[0]) for path in asked} == {"/lake/a b/1.parquet"}


def test_a_bucket_that_the_connection_does_not_name_is_not_opened() -> None:
    with pytest.raises(InvalidInput):
        opened(s3_access("http://127.0.0.1:9", buckets=["other"]), AT)
