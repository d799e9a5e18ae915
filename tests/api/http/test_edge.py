"""What surrounds every answer: headers, request ids, the log, the policies."""

from datetime import timedelta

import pytest
from tests.api.world import World, parsed

from penstock.http.edge import HEADERS
from penstock.persistence import Database
from penstock.services.people import users

ADDRESSES = ["/docs", "/openapi.json", "/healthz", "/readyz", "/api/v1/me", "/nothing"]


@pytest.mark.parametrize("path", ADDRESSES)
@pytest.mark.parametrize("by", [None, "ann"])
def test_every_answer_has_the_security_headers(world: World, path: str, by: str | None) -> None:
    response = world.call("GET", path, by=by)
    for name, value in HEADERS.items():
        assert response.headers.getlist(name) == [value]
    policy = response.headers["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "default-src 'none'" in policy
    assert response.headers["Cache-Control"] == "no-store"


def test_a_failure_has_the_security_headers_too(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(users, "me", lambda *_: 1 / 0)
    response = world.call("GET", "/api/v1/me", by="ann")
    assert response.status_code == 500
    assert all(response.headers[name] == value for name, value in HEADERS.items())


def test_every_answer_has_an_id_of_its_own(world: World) -> None:
    answers = [
        world.call("GET", "/api/v1/me", by="ann", headers={"X-Request-Id": "mine"})
        for _ in range(3)
    ]
    ids = {response.headers["X-Request-Id"] for response in answers}
    assert len(ids) == 3
    assert "mine" not in ids


def test_what_is_ready_says_so_and_what_is_not_says_why(world: World) -> None:
    assert parsed(world.call("GET", "/readyz")) == {"status": "ready"}
    ring = world.server.settings.keys_path / "keyring.json"
    ring.rename(ring.with_suffix(".away"))
    response = world.call("GET", "/readyz")
    assert (response.status_code, parsed(response)["code"]) == (503, "KEYS_UNAVAILABLE")
    assert parsed(world.call("GET", "/healthz")) == {"status": "up"}


def test_a_clock_that_was_set_back_is_not_ready_and_serves(world: World) -> None:
    world.clock.now += timedelta(hours=1)
    world.answer("POST", "/api/v1/tiers", {"name": "noted"}, by="root")
    world.clock.now -= timedelta(hours=1)
    response = world.call("GET", "/readyz")
    assert (response.status_code, parsed(response)["code"]) == (503, "UNAVAILABLE")
    assert "acknowledge-clock" in parsed(response)["detail"]
    assert world.answer("GET", "/api/v1/me", by="ann")["name"] == "ann"


def test_a_database_of_another_version_is_not_ready(world: World) -> None:
    owner = Database(world.server.settings.resolved_migration_url)
    with owner.write() as session:
        session.connection().exec_driver_sql("UPDATE alembic_version SET version_num = 'other'")
    response = world.call("GET", "/readyz")
    assert (response.status_code, parsed(response)["code"]) == (503, "SCHEMA_UNKNOWN")
