"""Test the metrics: they show the server's health, and nothing about who requests what."""

from collections.abc import Callable

import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.api.http.counting.monitoring import ASK, HEADERS, TOKEN, read
from tests.api.world import QUERY, World

from penstock.services.audit.refusals import CAUSES

pytestmark = pytest.mark.only("sqlite")


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    return open_copy(metrics_token=TOKEN)


def test_the_page_is_read_by_prometheus_as_it_is_read_here(world: World) -> None:
    world.call("POST", ASK.format("visits"), {}, by="ian")
    text = world.call("GET", "/metrics", headers=HEADERS).text
    families = text_string_to_metric_families(text)
    known = {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in families
        for sample in family.samples
    }
    found = read(world)
    assert found.keys() == known.keys()
    assert len(found) > 100
    # The one request that was made meanwhile is that for the page itself.
    changed = {
        dict(labels).get("route")
        for name, labels in found
        if found[name, labels] != known[name, labels]
    }
    assert changed == {"/metrics"}


def test_whichever_queries_are_asked_the_page_has_the_same_labels(
    open_copy: Callable[..., World],
) -> None:
    """Two runs that ask for different queries, by different people, look the same."""
    pages = []
    for query, by in (("visits", "ann"), ("secret", "ian")):
        world = open_copy(metrics_token=TOKEN)
        fresh = {**QUERY, "name": f"of {by}", "dataset": "sites"}
        world.answer("POST", "/api/v1/queries", fresh, by="root")
        world.call("POST", ASK.format(query), {}, by=by)
        world.call("GET", f"/api/v1/queries/{query}", by=by)
        world.call("GET", f"/api/v1/unheard-of/{by}?user={by}", by=by)
        pages.append(read(world))
    assert pages[0] == pages[1], "labels and counts"
    written = str(pages)
    for name in ("visits", "secret", "sites", "unheard", "of ann", "of ian", "root"):
        assert name not in written


def test_a_first_hand_out_and_a_repeat_count_alike(world: World) -> None:
    """A draw, a value found stored and a repeat move the same counts by as much."""
    moves = []
    for by, body in (("ian", {"epsilon": 0.2}), ("ian", {"tier": "public"}), ("ian", {})) * 2:
        before = read(world)
        assert world.call("POST", ASK.format("visits"), body, by=by).status_code == 200
        after = read(world)
        moves.append({key: after[key] - before[key] for key in after if after[key] != before[key]})
    assert all(move == moves[0] for move in moves)
    assert len(moves[0]) > 1


def test_parts_that_fail_are_shown_as_down(world: World) -> None:
    clock, database, keys, room = (
        ("penstock_part_up", (("part", "clock"),)),
        ("penstock_part_up", (("part", "database"),)),
        ("penstock_part_up", (("part", "keys"),)),
        ("penstock_part_up", (("part", "room"),)),
    )
    found = read(world)
    assert (found[clock], found[database], found[keys], found[room]) == (1, 1, 1, 1)
    ring = world.server.settings.keys_path / "keyring.json"
    ring.rename(ring.with_suffix(".away"))
    found = read(world)
    assert (found[database], found[keys]) == (1, 0)
    log = ("penstock_part_up", (("part", "log"),))
    assert found[log] == 1
    witness = world.server.settings.witness_path / "log.json"
    witness.rename(witness.with_suffix(".away"))
    assert read(world)[log] == 0
    world.server.database.close()
    (world.server.settings.database_path / "penstock.db").unlink()
    assert read(world)[database] == 0


def test_refusals_are_counted_by_their_cause_alone(world: World) -> None:
    """Of a query that does not exist and one that is hidden there is the same count."""
    calls: list[tuple[str, str, str | None, str]] = [
        ("GET", "/api/v1/queries/absent", "ann", "not_found"),
        ("GET", "/api/v1/queries/secret", "ann", "not_found"),
        ("GET", "/api/v1/users", "ann", "not_allowed"),
        ("GET", "/api/v1/me", None, "not_signed_in"),
        ("GET", "/api/v1/me", "ann", ""),
    ]
    for verb, path, by, cause in calls:
        before = read(world)
        world.call(verb, path, by=by)
        after = read(world)
        moved = {
            dict(labels)["cause"]: after[name, labels] - before[name, labels]
            for name, labels in after
            if name == "penstock_refusals_total"
        }
        assert moved == {each: float(each == cause) for each in CAUSES}, path


@pytest.mark.parametrize("by", [None, "ann", "root"])
def test_the_page_takes_its_own_token(world: World, by: str | None) -> None:
    refused = world.call("GET", "/metrics", by=by)
    assert refused.status_code == 401
    assert "penstock_" not in refused.text


def test_the_metrics_token_opens_nothing_else(world: World) -> None:
    assert world.call("GET", "/api/v1/me", headers=HEADERS).status_code == 401


def test_guessing_the_metrics_token_is_counted_by_address(world: World) -> None:
    guess = {"Authorization": "Bearer guessed"}
    statuses = [world.call("GET", "/metrics", headers=guess).status_code for _ in range(12)]
    assert statuses == [401] * 10 + [429] * 2
    assert world.call("GET", "/metrics", headers=HEADERS).status_code == 200


def test_without_a_token_in_the_settings_there_is_no_page(open_copy: Callable[..., World]) -> None:
    world = open_copy()
    for header in ({}, HEADERS, {"Authorization": "Bearer "}):
        refused = world.call("GET", "/metrics", headers=header)
        missing = world.call("GET", "/nothing")
        assert (refused.status_code, missing.status_code) == (404, 404)
        assert refused.text[:-50] == missing.text[:-50]
