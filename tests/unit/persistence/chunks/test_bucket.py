"""Test chunks in a bucket: put once, and never taken from who writes them."""

from datetime import timedelta

import pytest
from tests.databases.object_store import ACCESS_KEY, REGION, SECRET_KEY, ObjectStore

from penstock.errors import Unavailable
from penstock.persistence.chunks import bucket
from penstock.persistence.chunks.bucket import BucketStore, bucket_store
from penstock.persistence.chunks.store import ChunkMissing

ONE, OTHER = "1" * 32, "2" * 32


@pytest.fixture
def store(object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> BucketStore:
    environment = {
        "AWS_ENDPOINT": object_store.url,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": REGION,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    return bucket_store(f"s3://{object_store.bucket()}/chunks")


def test_a_chunk_is_read_as_it_was_written_and_written_once(store: BucketStore) -> None:
    writing = store.begin(ONE)
    writing.put(0, b"first")
    writing.put(1, b"second")
    writing.settle()
    assert store.read(ONE, 1) == b"second"
    assert list(store.chunks(ONE)) == [0, 1]
    assert list(store.attempts()) == [ONE]
    with pytest.raises(Unavailable, match="has an object of this name already"):
        writing.put(0, b"other")
    assert store.read(ONE, 0) == b"first"
    with pytest.raises(Unavailable):
        store.begin(ONE)


def test_a_missing_chunk_is_reported(store: BucketStore) -> None:
    with pytest.raises(ChunkMissing):
        store.read(ONE, 0)


def test_an_attempt_counts_as_being_written_for_a_day(
    store: BucketStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.begin(ONE).close()
    store.begin(OTHER).keep()
    assert list(store.abandoned()) == [ONE]
    with store.claimed(ONE) as mine:
        assert not mine
    monkeypatch.setattr(bucket, "DAY", timedelta(0))
    with store.claimed(ONE) as mine:
        assert mine
    store.remove(ONE)
    assert list(store.attempts()) == [OTHER]


def test_what_others_keep_in_the_bucket_is_no_attempt_and_stays(
    store: BucketStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bucket, "DAY", timedelta(0))
    others = ["visits/2026.parquet", f"{ONE}0/begun", f"old/{ONE}/begun", OTHER]
    for name in others:
        store.store.put(name, b"not ours")
    store.begin(ONE).close()
    assert list(store.attempts()) == list(store.abandoned()) == [ONE]
    for attempt in store.abandoned():
        store.remove(attempt)
    left = [entry["path"] for batch in store.store.list() for entry in batch]
    assert sorted(left) == sorted(others)


def test_an_attempt_that_is_kept_is_looked_at_once(
    store: BucketStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.begin(ONE).keep()
    assert list(store.abandoned()) == []
    looked: list[str] = []
    listed = BucketStore._listed

    def counted(self: BucketStore, attempt: str) -> object:
        looked.append(attempt)
        return listed(self, attempt)

    monkeypatch.setattr(BucketStore, "_listed", counted)
    store.begin(OTHER).close()
    assert list(store.abandoned()) == list(store.abandoned()) == [OTHER]
    assert looked == [OTHER, OTHER]


@pytest.mark.usefixtures("store")
def test_a_bucket_that_refuses_is_named_with_what_it_said() -> None:
    missing = bucket_store("s3://another/path")
    with pytest.raises(Unavailable, match="has no such bucket") as caught:
        missing.begin(ONE)
    assert "another" not in caught.value.detail
    assert ONE not in caught.value.detail
    assert str(caught.value.data["path"]).startswith(f"s3://another/path/{ONE}")
