"""Test a bucket that refuses, is not there or lost a chunk: it is said, and nothing is drawn."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pytest
from tests.altered_bytes import altered
from tests.databases.object_store import ACCESS_KEY, REGION, SECRET_KEY, ObjectStore
from tests.unit.connectors.storage.answering import Request, answering
from tests.unit.services.noise.long_vectors.stored_vectors import vectors
from tests.unit.worlds import World, push_long

from penstock.errors import IntegrityViolation, PenstockError, Unavailable
from penstock.persistence.chunks.bucket import BucketStore
from penstock.services.access.principals import OPERATOR
from penstock.services.verification.verification import verify


@pytest.fixture
def lake(world: World, object_store: ObjectStore, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return a world whose long query and one release of it are in a bucket."""
    environment = {
        "AWS_ENDPOINT": object_store.url,
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": ACCESS_KEY,
        "AWS_SECRET_ACCESS_KEY": SECRET_KEY,
        "AWS_REGION": REGION,
    }
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    place = f"s3://{object_store.bucket()}/chunks"
    settings = world.server.settings.model_copy(update={"chunks_folder": place})
    there = replace(world, server=replace(world.server, settings=settings))
    push_long(there, monkeypatch)
    there.ask("pia", "long")
    return there


def shown(world: World) -> list[float]:
    return [float(value) for value in np.asarray(world.ask("pia", "long").view.values)]


def bucket(world: World) -> BucketStore:
    chunks = world.server.chunks
    assert isinstance(chunks, BucketStore)
    return chunks


@contextmanager
def refusing() -> Iterator[str]:
    """Yield the address of a store that refuses everything, and writes what nobody may read."""

    def refuse(request: Request) -> None:
        request.reply(403, b"<Error><Message>of-the-store</Message></Error>")

    with answering(refuse) as host:
        yield f"http://{host}"


@contextmanager
def nowhere() -> Iterator[str]:
    yield "http://127.0.0.1:9"


@pytest.mark.parametrize(
    ("place", "says"), [(refusing, r"refuses the credentials \(403\)"), (nowhere, "in time")]
)
def test_a_bucket_that_does_not_answer_is_said_and_nothing_is_drawn(
    lake: World, monkeypatch: pytest.MonkeyPatch, place: Callable[..., Iterator[str]], says: str
) -> None:
    before, stored = shown(lake), set(vectors(lake))
    with place() as address, monkeypatch.context() as patch:  # type: ignore[attr-defined]
        patch.setenv("AWS_ENDPOINT", address)
        elsewhere = replace(lake, server=replace(lake.server))  # opens the bucket again
        for act in (lambda: elsewhere.ask("paul", "long"), lambda: shown(elsewhere)):
            with pytest.raises(Unavailable, match=says) as refused:
                act()
            for hidden in ("of-the-store", SECRET_KEY, "127.0.0.1"):
                assert hidden not in refused.value.detail
    assert set(vectors(lake)) == stored
    assert shown(lake) == before
    assert lake.ask("paul", "long").first
    assert verify(lake.server, OPERATOR).problems == []


@pytest.mark.parametrize("damage", ["missing", "altered", "swapped"])
def test_a_damaged_object_is_named_and_nothing_is_drawn_from_it(lake: World, damage: str) -> None:
    before, store = shown(lake), bucket(lake)
    attempt = vectors(lake)[max(vectors(lake))].manifest.attempt
    name, content = f"{attempt}/00000001", bytes(store.read(attempt, 1))
    if damage == "missing":
        store.store.delete(name)
    else:
        other = bytes(store.read(attempt, 0))
        store.store.put(name, other if damage == "swapped" else altered(content))
    attempts = list(store.attempts())
    for act in (lambda: shown(lake), lambda: lake.ask("paul", "long")):
        with pytest.raises(IntegrityViolation, match="Chunk 1 of 3 of release"):
            act()
    assert len(verify(lake.server, OPERATOR).problems) == 1
    assert len(vectors(lake)) == 2
    store.store.put(name, content)
    assert shown(lake) == before
    assert len(list(store.attempts())) >= len(attempts)


def test_a_draw_that_the_bucket_ends_in_the_middle_is_repeated_under_other_keys(
    lake: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    product, count = BucketStore.put, [0]

    def put(store: BucketStore, name: str, content: bytes) -> None:
        count[0] += 1
        if count[0] == 3:
            raise Unavailable("the bucket is gone")
        product(store, name, content)

    before = set(bucket(lake).attempts())
    with monkeypatch.context() as patch:
        patch.setattr(BucketStore, "put", put)
        with pytest.raises(PenstockError, match="gone"):
            lake.ask("paul", "long")
    assert set(bucket(lake).attempts()) == before
    assert lake.ask("paul", "long").first
    assert verify(lake.server, OPERATOR).problems == []
