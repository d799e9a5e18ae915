"""Test the report whether the server is ready, and why not."""

from datetime import timedelta

from tests.api.world import World, parsed

from penstock.persistence import Database


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
