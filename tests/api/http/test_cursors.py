"""Test cursors: sealed, bound to their list, and refused if any part was altered."""

import base64
from typing import Any

from tests.api.world import QUERY, World, parsed

from penstock.http.cursors import Cursors
from penstock.services.pagination import Window

TIERS = "/api/v1/tiers"


def cursor_of(world: World, path: str = TIERS, by: str = "root") -> str:
    """Return where the second page of a list begins."""
    cursor: str = world.answer("GET", f"{path}?limit=1", by=by)["next_cursor"]
    return cursor


def assert_refused(world: World, cursor: str, path: str = TIERS) -> None:
    response = world.call("GET", f"{path}?cursor={cursor}", by="root")
    assert response.status_code == 422, response.text
    problem: dict[str, Any] = parsed(response)
    assert problem["errors"][0]["pointer"] == "/cursor"
    assert "start again without it" in problem["detail"]


def test_a_cursor_that_was_changed_anywhere_is_refused(world: World) -> None:
    cursor = cursor_of(world)
    assert world.answer("GET", f"{TIERS}?cursor={cursor}", by="root")["items"]
    for place, character in enumerate(cursor):
        other = "A" if character != "A" else "B"
        assert_refused(world, cursor[:place] + other + cursor[place + 1 :])
    for changed in (cursor[:-1], cursor[1:], cursor + "A", cursor.swapcase(), cursor * 2):
        assert_refused(world, changed)


def test_a_cursor_that_somebody_made_up_is_refused(world: World) -> None:
    plain = Window(limit=1).page([0, 1], str, int).next_cursor
    assert plain is not None
    assert Window.parse(None, plain).after == 0
    assert_refused(world, plain)


def test_a_cursor_of_another_list_is_refused(world: World) -> None:
    cursor = cursor_of(world)
    assert_refused(world, cursor, "/api/v1/users")
    assert_refused(world, cursor_of(world, "/api/v1/users"))


def test_a_cursor_does_not_count_what_is_out_of_sight(world: World) -> None:
    """The numbers inside count the rows of others as well."""
    world.answer("POST", "/api/v1/queries", {**QUERY, "name": "calls"}, by="root")
    lists = [("/api/v1/queries", "ann"), ("/api/v1/users", "root"), (TIERS, "ann")]
    cursors = [cursor_of(world, path, by) for path, by in lists]
    assert len({len(cursor) for cursor in cursors}) == 1
    for cursor in cursors:
        inside = base64.urlsafe_b64decode(cursor + "=" * (-len(cursor) % 4))
        assert b"after" not in inside
        assert len(set(inside)) > 20


def test_every_worker_opens_what_another_sealed(world: World) -> None:
    one, other = Cursors(world.server), Cursors(world.server)
    assert other.open(TIERS, one.seal(TIERS, "anything")) == "anything"


def test_all_cursors_are_of_one_length(world: World) -> None:
    sealer = Cursors(world.server)
    lengths = set()
    for last in (0, 10**18 - 1):
        cursor = Window(limit=1).page([last, last + 1], str, int).next_cursor
        assert cursor is not None
        sealed = sealer.seal(TIERS, cursor)
        assert sealer.open(TIERS, sealed) == cursor
        lengths.add(len(sealed))
    assert len(lengths) == 1
