"""Test the server while PostgreSQL is stopped.

Every caller is refused at once, without a value, and the server recovers.
"""

import json
import os
import signal
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from sqlalchemy import Connection, event
from tests.api.bad_input.snapshot import tables_of
from tests.api.outages.askers import LONG, at_once
from tests.api.world import QUERY, World, parsed
from tests.databases.cluster import Cluster

from penstock.persistence.postgresql import connections

pytestmark = pytest.mark.only("postgresql")

ASK = "/api/v1/queries/visits/releases"
CALLS: list[tuple[str, str, Any, str]] = [
    ("GET", "/api/v1/me", None, "ann"),
    ("GET", "/api/v1/queries", None, "ian"),
    ("POST", ASK, {}, "ann"),
    ("POST", ASK, {}, "ian"),
    ("POST", "/api/v1/tiers", {"name": "new"}, "root"),
    ("POST", "/api/v1/queries", {**QUERY, "name": "new"}, "root"),
]


@pytest.fixture
def stopped(world: World, cluster: Cluster) -> Iterator[Cluster]:
    """Yield the server's database, gone after it was used."""
    world.answer("GET", "/api/v1/me", by="ann")
    cluster.stop()
    yield cluster
    if cluster.process.poll() is not None:
        cluster.start()


def test_a_database_that_is_gone_is_a_503_for_everybody_and_heals(
    world: World, stopped: Cluster
) -> None:
    for verb, path, body, by in CALLS:
        response = world.call(verb, path, body, by=by)
        problem = parsed(response)
        assert (response.status_code, problem["code"]) == (503, "DATABASE_UNAVAILABLE")
        assert "127.0.0.1" not in response.text
        assert response.headers["Retry-After"]
    assert world.call("GET", "/readyz").status_code == 503
    assert world.call("GET", "/healthz").status_code == 200
    stopped.start()
    assert world.call("GET", "/readyz").status_code == 200
    for verb, path, body, by in CALLS:
        assert world.call(verb, path, body, by=by).status_code < 300


def stop_at(world: World, cluster: Cluster, step: str) -> None:
    """Stop the database before the next statement that begins so."""
    gone: list[str] = []

    def reached(statement: str) -> None:
        if statement.startswith(step) and "advisory" not in statement and not gone:
            cluster.stop()
            gone.append(statement)

    engines = world.server.database._engines
    for engine in {engines.alone, engines.beside}:
        event.listen(engine, "before_cursor_execute", lambda *given: reached(given[2]))
        event.listen(engine, "commit", lambda _: reached("COMMIT"))


@pytest.mark.parametrize("step", ["SELECT", "WITH logged", "COMMIT"])
def test_a_database_that_goes_in_mid_request_gives_no_value_and_loses_nothing(
    world: World, cluster: Cluster, step: str
) -> None:
    stop_at(world, cluster, step)
    between = {"epsilon": 0.3}  # a level that is drawn for this
    response = world.call("POST", ASK, between, by="ian")
    assert response.status_code == 503
    assert parsed(response)["code"] == "DATABASE_UNAVAILABLE"
    assert "values" not in json.loads(response.data)
    cluster.start()
    first = world.answer("POST", ASK, between, by="ian")
    assert world.answer("POST", ASK, between, by="ian") == first
    listed = world.answer("GET", "/api/v1/releases", by="ian")["items"]
    assert [item["id"] for item in listed] == [first["id"]]


CHANGES: list[tuple[str, str, Any, str]] = [
    ("POST", "/api/v1/tiers", {"name": "new"}, "INSERT INTO tier"),
    ("POST", "/api/v1/tiers", {"name": "new"}, "COMMIT"),
    ("POST", "/api/v1/queries", {**QUERY, "name": "new"}, "INSERT INTO charge"),
    ("POST", "/api/v1/queries", {**QUERY, "name": "new"}, "INSERT INTO query_level"),
    ("POST", "/api/v1/queries", {**QUERY, "name": "new"}, "COMMIT"),
    ("PATCH", "/api/v1/queries/visits", {"levels": {"public": {"epsilon": 0.2}}}, "INSERT INTO"),
    ("PATCH", "/api/v1/queries/visits", {"levels": {"public": {"epsilon": 0.2}}}, "COMMIT"),
    ("POST", "/api/v1/users/ann/tokens", {}, "COMMIT"),
]


@pytest.mark.parametrize(("verb", "path", "body", "step"), CHANGES)
def test_a_database_that_goes_in_mid_request_is_told_at_once_and_nothing_changed(
    open_copy: Callable[..., World], cluster: Cluster, verb: str, path: str, body: Any, step: str
) -> None:
    world = open_copy(busy_timeout=LONG, log_patience=LONG)
    before = tables_of(world.server.database)
    stop_at(world, cluster, step)
    response = at_once(lambda: world.call(verb, path, body, by="root"))
    assert cluster.process.poll() is not None
    assert (response.status_code, parsed(response)["code"]) == (503, "DATABASE_UNAVAILABLE")
    assert response.headers["Retry-After"]
    cluster.start()
    assert tables_of(world.server.database) == before
    world.answer(verb, path, body, by="root")


def test_a_database_that_falls_silent_in_mid_request_is_given_up_without_a_value(
    open_copy: Callable[..., World],
) -> None:
    world = open_copy(busy_timeout=0.1)
    silent: list[int] = []

    def executing(connection: Connection, *arguments: Any) -> None:
        if arguments[1].startswith("WITH logged") and not silent:
            driver: Any = connection.connection.driver_connection
            assert driver.patience == 0.1 + connections.WORK_SECONDS + connections.SILENCE_SECONDS
            silent.append(driver.info.backend_pid)
            os.kill(silent[0], signal.SIGSTOP)
            driver.patience = 0.1  # of this connection alone: every other has time to work

    event.listen(world.server.database._engines.beside, "before_cursor_execute", executing)
    between = {"epsilon": 0.3}
    try:
        response = world.call("POST", ASK, between, by="ian")
        assert (response.status_code, parsed(response)["code"]) == (503, "DATABASE_UNAVAILABLE")
        assert "values" not in response.text
        # What it holds is held as long as it is not known to be gone.
        assert world.call("POST", ASK, between, by="ian").status_code == 503
        assert world.call("POST", ASK, {}, by="ann").status_code == 200
    finally:
        os.kill(silent[0], signal.SIGCONT)
    while (response := world.call("POST", ASK, between, by="ian")).status_code == 503:
        assert "locked" in parsed(response)["detail"]
    assert world.answer("POST", ASK, between, by="ian") == parsed(response)
