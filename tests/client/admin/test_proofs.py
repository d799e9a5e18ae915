"""Test proofs against a log that a test may rewrite."""

from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from tests.client.servers.hosts import CHECKPOINT, INCLUSION, TOKEN, Host, more

from penstock_client import Admin, Event, InvalidArgument, LogRefused
from penstock_client._http.fields import Fields
from penstock_client._log.tree import leaf_hash


@pytest.fixture
def log() -> Host:
    host = Host({}, size=11)
    host.changed[INCLUSION] = lambda answer: {
        **answer,
        "leaf_hash": leaf_hash(host.leaves[4]).hex(),
    }
    return host


@pytest.fixture
def admin(log: Host) -> Iterator[Admin]:
    with Admin("http://127.0.0.1", TOKEN, transport=httpx.MockTransport(log)) as client:
        yield client


def event(log: Host, index: int | None) -> Event:
    leaf = leaf_hash(log.leaves[4]).hex()
    fields = {"index": index, "leaf_hash": leaf, "kind": "release", "actor": "ann"}
    return Event.read(Fields({**fields, "at": "2026-11-20T12:00:00Z"}, "event"))


def test_an_event_is_proven(admin: Admin, log: Host) -> None:
    proof = admin.prove(event(log, 4))
    assert (proof.index, proof.checkpoint.size, proof.checkpoint.root) == (4, 11, log.root(11))
    assert admin.prove(4) == proof


def test_another_leaf_or_place_is_refused(admin: Admin, log: Host) -> None:
    with pytest.raises(LogRefused, match="leaf 4"):
        admin.prove(replace(event(log, 4), leaf_hash="ab" * 32))
    with pytest.raises(LogRefused, match="leaf 5"):
        admin.prove(event(log, 5))
    with pytest.raises(InvalidArgument):
        admin.prove(event(log, None))


def test_an_earlier_checkpoint_is_continued_or_refused(admin: Admin, log: Host) -> None:
    old = admin.verify()
    log.leaves += more(1, 2)
    assert admin.prove_continued(old).size == 13
    with pytest.raises(LogRefused, match="does not begin"):
        admin.prove_continued(replace(old, root=bytes(32)))
    with pytest.raises(LogRefused, match="had 99"):
        admin.prove_continued(replace(old, size=99))
    log.changed[CHECKPOINT] = lambda answer: {**answer, "note": "nothing"}
    with pytest.raises(LogRefused):
        admin.prove_continued(old)
