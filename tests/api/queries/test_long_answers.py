"""Test releases whose answers are streamed: as others, and nothing is open while they are sent."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import event
from sqlalchemy.pool import Pool
from sqlmodel import col, select
from tests.api.world import QUERY, World
from werkzeug.test import TestResponse

from penstock.errors import Unavailable
from penstock.http.answers import STREAMED, rendered
from penstock.persistence.tables.log import Leaf
from penstock.services.access.principals import acting_as
from penstock.services.releases import history
from penstock.transparency_log.sequencer import Sequencer

SIZE = 80_000
LONG: dict[str, Any] = {
    **{name: value for name, value in QUERY.items() if name not in ("keys", "values")},
    "name": "long",
    "values": list(range(SIZE)),
    "levels": {"internal": {"epsilon": 0.5}},
}
ASK = "/api/v1/queries/long/releases"


@pytest.fixture
def long(world: World) -> World:
    """Provide a query of so many values that its answers are longer than what is kept whole."""
    world.answer("POST", "/api/v1/queries", LONG, by="root")
    return world


@pytest.fixture
def connections() -> Iterator[set[int]]:
    """Provide the connections to the database that somebody uses, whatever for."""
    used: set[int] = set()

    def taken(connection: object, *_: object) -> None:
        used.add(id(connection))

    def returned(connection: object, *_: object) -> None:
        used.discard(id(connection))

    event.listen(Pool, "checkout", taken)
    event.listen(Pool, "checkin", returned)
    yield used
    event.remove(Pool, "checkout", taken)
    event.remove(Pool, "checkin", returned)


def begun(world: World) -> tuple[TestResponse, Iterator[bytes], bytes]:
    """Request the release; the response, what is still to come, and the first bytes."""
    response = world.call("POST", ASK, {}, by="ian")
    assert response.status_code == 200
    rest = response.iter_encoded()
    return response, rest, next(rest)


def test_a_streamed_release_is_the_one_that_is_stored(long: World) -> None:
    response = long.call("POST", ASK, {}, by="ian")
    assert response.is_streamed
    assert "Content-Length" not in response.headers
    assert response.mimetype == "application/json"
    assert len(response.data) > STREAMED
    release = json.loads(response.data)["id"]
    server = long.server
    stored = history.values(server, acting_as(server, "ian"), release)
    assert response.data == rendered(stored)
    again = long.call("GET", f"/api/v1/releases/{release}/values", by="ian")
    assert again.data == response.data
    assert again.headers["Vary"] == "Accept"


def test_nothing_is_sent_before_the_witness_covers_the_leaf(
    long: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun(long)
    with long.server.database.read() as session:
        newest = session.exec(select(Leaf).order_by(col(Leaf.id).desc())).first()
    assert newest is not None
    assert newest.kind == "release"
    assert newest.index is not None
    assert long.server.sequencer.covers(newest.index)

    def unseen(*_: object) -> None:
        raise Unavailable("The witness cannot be written.")

    monkeypatch.setattr(Sequencer, "covers", lambda *_: False)
    monkeypatch.setattr(Sequencer, "cover", unseen)
    refused = long.call("POST", ASK, {}, by="ian")
    assert refused.status_code == 503
    assert refused.mimetype == "application/problem+json"
    assert b"values" not in refused.data


def test_whoever_stops_reading_leaves_nothing_open(long: World, connections: set[int]) -> None:
    with long.server.database.read() as session:
        session.connection()
        assert connections
    response, rest, first = begun(long)
    assert first.startswith(b'{"id":')
    assert not connections
    # A writer is not held up by an answer that is half read.
    long.answer("POST", "/api/v1/tiers", {"name": "between", "rank": 20}, by="root")
    response.close()
    assert next(rest, None) is None
    assert not connections
    assert long.call("POST", ASK, {}, by="ian").data.startswith(first)
