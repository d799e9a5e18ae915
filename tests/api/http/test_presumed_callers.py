"""Test that a caller is known again by one statement, and by nothing that is no longer so."""

import zlib
from collections.abc import Callable
from datetime import timedelta

import pytest
from tests.api.world import World
from tests.unit.statements import statements

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens, users
from penstock.services.schemas.people.users import UserChange

pytestmark = pytest.mark.each_database

RELEASES = "/api/v1/queries/visits/releases"


def prefix(world: World, name: str) -> str:
    return world.tokens[name].split("_")[1]


@pytest.fixture
def known(world: World) -> World:
    """Return a world that knows ann, the query and what she was handed from her last requests."""
    for _ in range(2):
        world.answer("POST", RELEASES, {}, by="ann")
    assert prefix(world, "ann") in world.server.signed_in
    return world


def test_a_repeat_takes_one_statement_and_a_first_release_nine(known: World) -> None:
    known.answer("POST", RELEASES, {"epsilon": 0.05}, by="ann")
    with statements() as seen:
        again = known.answer("POST", RELEASES, {"epsilon": 0.05}, by="ann")
    assert len(seen) == 1, seen
    with statements(everywhere=True) as seen:
        first = known.answer("POST", RELEASES, {"epsilon": 0.04}, by="ann")
    assert len(seen) <= 9, "\n".join(seen)
    assert first["id"] != again["id"]


def revoked(world: World) -> None:
    tokens.revoke(world.server, OPERATOR, "ann", prefix(world, "ann"))


def disabled(world: World) -> None:
    users.disable(world.server, OPERATOR, "ann")


def expired(world: World) -> None:
    world.clock.now += timedelta(days=4000)


def without_the_secret(world: World) -> None:
    # The public beginning of ann's token, and the rest of another one.
    body = world.tokens["ann"][:13] + world.tokens["ian"][13:56]
    world.tokens["ann"] = f"{body}_{zlib.crc32(body.encode()):08x}"


@pytest.mark.parametrize("body", [b"{}", b"{"], ids=["good", "cut"])
@pytest.mark.parametrize("change", [revoked, disabled, expired, without_the_secret])
def test_who_is_no_longer_who_they_were_is_refused_at_once_whatever_they_send(
    known: World, change: Callable[[World], None], body: bytes
) -> None:
    change(known)
    answer = known.call("POST", RELEASES, by="ann", data=body)
    assert answer.status_code == 401
    assert prefix(known, "ann") not in known.server.signed_in


def test_who_lost_the_role_is_refused(known: World) -> None:
    users.change(known.server, OPERATOR, "ann", UserChange(roles=["auditor"]))
    assert known.call("POST", RELEASES, {}, by="ann").status_code == 403


def test_who_lost_the_clearance_finds_no_query(known: World) -> None:
    hidden = "/api/v1/queries/secret/releases"
    for _ in range(3):
        known.answer("POST", hidden, {}, by="ian")
    users.change(known.server, OPERATOR, "ian", UserChange(clearance="public"))
    assert known.call("POST", hidden, {}, by="ian").status_code == 404


def test_a_wrong_body_of_a_known_caller_is_refused_as_ever(known: World) -> None:
    assert known.call("POST", RELEASES, by="ann", data=b"{").status_code == 400
    assert known.call("POST", RELEASES, {"epsilon": -1}, by="ann").status_code == 422
    assert known.call("POST", f"{RELEASES}?unknown=1", {}, by="ann").status_code == 422
    assert known.answer("POST", RELEASES, {}, by="ann")["query"] == "visits"
