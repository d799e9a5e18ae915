"""Test the server while PostgreSQL hangs.

The first callers are refused soon, all others at once, and the server recovers.

The server would wait for ten minutes for a lock or for the log, and no test for so long.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest
from sqlalchemy import event
from tests.api.outages.askers import LONG, at_once
from tests.api.world import World, parsed
from tests.databases.cluster import Cluster

from penstock.persistence.postgresql.breaker import Breaker
from penstock.persistence.postgresql.connections import PostgreSQL

pytestmark = pytest.mark.only("postgresql")

ASK = "/api/v1/queries/visits/releases"


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    """Return a server that waits for everything but a silent database."""
    return open_copy(busy_timeout=LONG, log_patience=LONG, database_patience=0.5)


@pytest.fixture
def freezing(cluster: Cluster) -> Iterator[ExitStack]:
    """Yield what thaws the server in the end."""
    with ExitStack() as stack:
        yield stack


def breaker(world: World) -> Breaker:
    dialect = world.server.database._dialect
    assert isinstance(dialect, PostgreSQL)
    return dialect.breaker


def test_a_frozen_database_is_a_503_soon_then_at_once_and_heals(
    world: World, cluster: Cluster, freezing: ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    world.answer("GET", "/api/v1/me", by="ann")  # so that a connection lies ready
    freezing.enter_context(cluster.frozen())
    response = at_once(lambda: world.call("GET", "/api/v1/me", by="ann"))
    assert (response.status_code, parsed(response)["code"]) == (503, "DATABASE_UNAVAILABLE")
    assert "did not answer in time" in parsed(response)["detail"]
    assert breaker(world).open
    # From now on nobody asks the database at all.
    monkeypatch.setattr(PostgreSQL, "_configure", None)
    assert world.call("GET", "/readyz").status_code == 503
    assert world.call("GET", "/api/v1/me", by="ann").status_code == 503
    assert world.call("POST", ASK, {}, by="ann").status_code == 503
    assert world.call("GET", "/healthz").status_code == 200
    monkeypatch.undo()
    freezing.close()
    while world.call("GET", "/readyz").status_code == 503:
        pass
    assert not breaker(world).open
    assert world.call("POST", ASK, {}, by="ann").status_code == 200


def test_who_must_connect_to_a_frozen_database_is_told_soon_too(
    world: World, cluster: Cluster, freezing: ExitStack
) -> None:
    world.server.database.close()
    freezing.enter_context(cluster.frozen())
    response = at_once(lambda: world.call("GET", "/readyz"))
    assert (response.status_code, parsed(response)["code"]) == (503, "DATABASE_UNAVAILABLE")
    assert breaker(world).open


@pytest.mark.parametrize("step", ["WITH logged", "COMMIT"])
def test_a_release_that_freezes_is_drawn_once(
    world: World, cluster: Cluster, freezing: ExitStack, step: str
) -> None:
    def reached(statement: str) -> None:
        if statement.startswith(step) and not breaker(world).open and not done:
            done.append(step)
            freezing.enter_context(cluster.frozen())

    done: list[str] = []
    engine = world.server.database._engines.beside
    event.listen(engine, "before_cursor_execute", lambda *given: reached(given[2]))
    event.listen(engine, "commit", lambda _: reached("COMMIT"))
    between = {"epsilon": 0.3}  # a level that is drawn for this
    response = at_once(lambda: world.call("POST", ASK, between, by="ian"))
    assert (done, response.status_code) == ([step], 503)
    assert "values" not in json.loads(response.data)
    freezing.close()
    while (response := world.call("POST", ASK, between, by="ian")).status_code == 503:
        pass
    assert world.answer("POST", ASK, between, by="ian") == parsed(response)
    listed = world.answer("GET", "/api/v1/releases", by="ian")["items"]
    assert [item["id"] for item in listed] == [parsed(response)["id"]]


def test_a_server_that_only_takes_its_time_is_waited_for(world: World, cluster: Cluster) -> None:
    """Longer than it may say nothing: it answers the probe."""
    heard = breaker(world)._heard
    with world.server.database.read() as session:
        session.connection().exec_driver_sql("SELECT pg_sleep(2)")
    assert not breaker(world).open
    assert breaker(world)._heard > heard
