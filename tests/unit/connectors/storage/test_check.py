"""A connection is tried by listing its buckets, and says so when it names none."""

import json

import pytest
from tests.databases.object_store import SECRET_KEY, ObjectStore
from tests.unit.connectors.storage.answering import answering
from tests.unit.connectors.storage.lakes import s3_setting

from penstock.connectors.storage.check import UNTRIED, check
from penstock.errors import InvalidInput, Unavailable

pytestmark = pytest.mark.slow


def test_buckets_that_are_named_are_listed(object_store: ObjectStore) -> None:
    bucket = object_store.bucket()
    store, conformance = check(s3_setting(object_store.url, buckets=[bucket]))
    assert store == f"s3 ({bucket})"
    assert conformance == "passed"
    assert UNTRIED in check(s3_setting("http://127.0.0.1:9"))[0]
    with pytest.raises(InvalidInput, match="no bucket 'elsewhere'"):
        check(s3_setting(object_store.url, buckets=[bucket, "elsewhere"]))


def test_a_store_that_refuses_is_reported_without_its_secret() -> None:
    with (
        answering(lambda request: request.reply(403)) as host,
        pytest.raises(Unavailable, match=r"\(403\)") as refused,
    ):
        check(s3_setting(f"http://{host}", buckets=["lake"]))
    assert SECRET_KEY not in refused.value.detail


def test_no_host_is_asked_for_what_nobody_named() -> None:
    asked: list[str] = []
    with answering(lambda request: asked.append(request.path)) as host:
        store, _ = check(json.dumps({"store": "http", "hosts": [host]}))
    assert host in store
    assert asked == []
