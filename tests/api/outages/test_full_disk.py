"""Test a disk that fills up.

What grows is refused while there is still room to take access away.
"""

import os
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.world import QUERY, World, open_world, parsed
from tests.databases.homes import Home, Homes

from penstock.errors import NoRoom
from penstock.persistence import Need
from penstock.services.access import sessions
from penstock.services.access.principals import OPERATOR
from penstock.services.disk_room import Room, UpTo, on_disk
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec

ASK = "/api/v1/queries/visits/releases"
RESERVE = 2**20
KEPT: dict[str, tuple[str, str, Any]] = {
    "a release": ("POST", ASK, {"epsilon": 0.05}),
    "the level of a tier": ("POST", ASK, {}),
    "a query": ("POST", "/api/v1/queries", {**QUERY, "name": "new", "keys": ["a", "c"]}),
    "a tier": ("POST", "/api/v1/tiers", {"name": "new"}),
    "a user": ("POST", "/api/v1/users", {"name": "new", "roles": ["analyst"]}),
    "a token": ("POST", "/api/v1/users/root/tokens", {}),
}
LOWERED: dict[str, tuple[str, str, Any]] = {
    "a user is disabled": ("DELETE", "/api/v1/users/ann", None),
    "a clearance is lowered": ("PATCH", "/api/v1/users/ian", {"clearance": "public"}),
    "a role is taken away": ("PATCH", "/api/v1/users/olga", {"roles": ["analyst"]}),
    "a query is retired": ("POST", "/api/v1/queries/visits/retire", {}),
}


class Left:
    """Hold how many bytes are left; the test says how many."""

    bytes = 0

    def __call__(self) -> int:
        return self.bytes


@pytest.fixture
def left(world: World) -> Left:
    """Return the room of a world, of which nothing is left at first."""
    found = Left()
    world.server.database.keeper = Room(found, RESERVE)
    return found


@pytest.mark.parametrize("what", KEPT)
def test_what_grows_is_refused_and_is_done_when_there_is_room(
    world: World, left: Left, what: str
) -> None:
    verb, path, body = KEPT[what]
    by = "ian" if path == ASK else "root"
    left.bytes = RESERVE - 1
    response = world.call(verb, path, body, by=by)
    assert (response.status_code, parsed(response)["code"]) == (503, "NO_ROOM")
    left.bytes = 2 * RESERVE
    assert world.call(verb, path, body, by=by).status_code < 300


@pytest.mark.parametrize("what", LOWERED)
def test_what_takes_access_away_is_done_without_room(world: World, left: Left, what: str) -> None:
    left.bytes = 0
    verb, path, body = LOWERED[what]
    assert world.call(verb, path, body, by="root").status_code == 200


def test_a_token_is_revoked_without_room(world: World, left: Left) -> None:
    left.bytes = 2 * RESERVE
    issued = tokens.issue(world.server, OPERATOR, "ian", TokenSpec())
    left.bytes = 0
    path = f"/api/v1/users/ian/tokens/{issued.prefix}"
    assert world.call("DELETE", path, by="root").status_code == 200


def test_admins_sign_in_while_half_of_the_reserve_is_left_and_out_always(
    world: World, left: Left
) -> None:
    left.bytes = RESERVE // 2
    begun = sessions.sign_in(world.server, world.tokens["root"], "")
    left.bytes = RESERVE // 2 - 1
    with pytest.raises(NoRoom):
        sessions.sign_in(world.server, world.tokens["root"], "")
    sessions.end(world.server, begun.secret)


def test_what_was_handed_out_is_served_and_readiness_tells(world: World, left: Left) -> None:
    left.bytes = 0
    assert world.call("POST", ASK, {}, by="ann").status_code == 200  # she holds it
    response = world.call("GET", "/readyz")
    assert (response.status_code, parsed(response)["code"]) == (503, "NO_ROOM")
    left.bytes = RESERVE
    assert world.call("GET", "/readyz").status_code == 200


def test_a_level_that_others_hold_is_refused_like_one_that_is_new(world: World, left: Left) -> None:
    left.bytes = 2 * RESERVE
    world.answer("POST", ASK, {"epsilon": 0.05}, by="ian")
    left.bytes = RESERVE - 1
    told = [parsed(world.call("POST", ASK, {"epsilon": e}, by="ann")) for e in (0.05, 0.06)]
    assert told[0]["detail"] == told[1]["detail"]


def test_what_is_charged_is_finished_with_half_of_the_reserve(world: World, left: Left) -> None:
    """A query whose anchor has no room any more would have cost its budget for nothing."""
    taken: list[tuple[Need, int]] = []
    room = Room(left, RESERVE)

    class Filling:
        """Represent a disk that others fill behind the first that asks."""

        def require(self, need: Need, grows: int = 0) -> None:
            taken.append((need, grows))
            left.bytes = 2 * RESERVE if len(taken) == 1 else RESERVE // 2
            room.require(need, grows)

    world.server.database.keeper = Filling()
    spec = {**QUERY, "name": "new", "keys": ["a", "c"]}
    assert world.call("POST", "/api/v1/queries", spec, by="root").status_code == 201
    assert [need for need, _ in taken] == [Need.GROWTH, Need.LITTLE]


def test_the_write_ahead_log_counts_as_gone(tmp_path: Path) -> None:
    database = tmp_path / "penstock.db"
    measure = on_disk(tmp_path, log=database.with_name("penstock.db-wal"))
    log = tmp_path / "penstock.db-wal"
    log.touch()
    os.truncate(log, 2**43)  # a hole: nothing is taken
    assert measure() < 0
    with pytest.raises(NoRoom):
        Room(measure, RESERVE).require(Need.GROWTH)


def test_what_is_about_to_be_written_counts_twice() -> None:
    room = Room(lambda: 3 * RESERVE, RESERVE)
    room.require(Need.GROWTH, grows=RESERVE)
    with pytest.raises(NoRoom):
        room.require(Need.GROWTH, grows=RESERVE + 1)


@pytest.mark.only("postgresql")
def test_a_postgresql_database_is_held_to_a_size(open_copy: Callable[..., World]) -> None:
    world = open_copy(database_largest=1)
    assert parsed(world.call("POST", ASK, {}, by="ian"))["code"] == "NO_ROOM"
    assert world.call("DELETE", "/api/v1/users/ann", by="root").status_code == 200
    assert world.server.database.size() > 2**20
    roomy = open_copy(database_largest=2**40)
    assert roomy.call("POST", ASK, {}, by="ian").status_code == 200


def test_the_size_of_a_database_is_asked_for_now_and_then() -> None:
    sizes, now = iter([10, 50]), [0.0]
    left = UpTo(100, lambda: next(sizes), lambda: now[0])
    assert (left(), left()) == (90, 90)
    now[0] = 5.0
    assert left() == 50


SMALL = 10 * 2**20


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Yield a disk of ten megabytes."""
    place = tmp_path / "small"
    place.mkdir()
    options = ["-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(place)]
    if subprocess.run(["mount", *options], capture_output=True, check=False).returncode:
        pytest.skip("only root may mount a small disk, and not in every container")
    yield place
    subprocess.run(["umount", "--lazy", str(place)], check=True)


def filled(world: World) -> str:
    """Return why the last of very many levels was refused to an analyst: wide ones, then narrow."""
    wide = {**QUERY, "name": "wide", "keys": None, "values": [0] * 20_000}
    for query in (wide, {**wide, "name": "narrow", "values": [0]}):
        world.answer("POST", "/api/v1/queries", query, by="root")
    refusals = []
    for name in ("wide", "narrow"):
        path, epsilon, response = f"/api/v1/queries/{name}/releases", 0.0, None
        while response is None or response.status_code == 200:
            epsilon += 0.001
            response = world.call("POST", path, {"epsilon": epsilon}, by="ian")
        refusals.append(str(parsed(response)["code"]))
    return refusals[-1]


@pytest.mark.only("sqlite")
@pytest.mark.parametrize(
    ("reserve", "refused", "revoked"),
    [(RESERVE, {"NO_ROOM"}, 200), (0, {"DATABASE_UNAVAILABLE", "LOG_UNAVAILABLE"}, 503)],
    ids=["with a reserve", "without one it is found out"],
)
def test_who_fills_the_disk_can_still_be_shut_out(
    furnished: tuple[Home, dict[str, str]],
    homes: Homes,
    small_disk: Path,
    reserve: int,
    refused: set[str],
    revoked: int,
) -> None:
    copy = homes.copy(furnished[0], small_disk / "home")
    world = open_world(copy, dict(furnished[1]), room_reserve=reserve, level_bytes_per_day=0)
    try:
        assert filled(world) in refused
        prefix = world.tokens["ian"].split("_")[1]
        revoke = world.call("DELETE", f"/api/v1/users/ian/tokens/{prefix}", by="root")
        assert revoke.status_code == revoked
        assert world.call("DELETE", "/api/v1/users/ian", by="root").status_code == revoked
    finally:
        world.server.database.close()
