"""Test every operation, called by everybody: each cell of the matrix is asserted."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlmodel import select
from tests.api.bad_input.snapshot import tables_of
from tests.api.routes.requested import request_in
from tests.api.sight.matrix import ELEMENTS, MATRIX, STREAM, TOKENS, Row
from tests.api.sight.scheduled import schedule_in
from tests.api.world import World, copies, open_world, propose
from tests.databases.homes import Home, Homes

from penstock.api import OPERATIONS
from penstock.persistence.tables import Query

STRANGERS = ("malformed", "expired", "revoked", "gone")
CALLERS = ("noa", "ann", "ian", "root", "olga")


STREAMS = {
    "STREAM": ["public"],
    "HIDDEN": ["internal"],
    "READ": ["public"],
    "BOTH": ["public", "internal"],
}
OPEN = {"healthz", "readyz"}
VERBS = {operation.name: operation.verb for operation in OPERATIONS}


READING = {"preview_query", "preview_stream", "preview_schedule"}
"""These change nothing, though they are posted."""

FREELY: Mapping[str, Any] = {"request_rate": 0, "failed_sign_ins": 1_000_000}


@dataclass(frozen=True)
class Seats:
    """Hold a home with all that rows name, the tokens, the names, and a server to read only.

    Who reads a stream there gets an entry in the log; no row of the matrix is answered otherwise.
    """

    home: Home
    tokens: dict[str, str]
    names: dict[str, str]
    unchanged: World

    def path(self, row: Row) -> str:
        """Return the address of a row; what else stands in capitals is a stream of that name."""
        path = row.path
        for word, name in self.names.items():
            path = path.replace(word, name)
        return path


def furnish(world: World) -> dict[str, str]:
    """Open the streams, propose, and issue a token; what stands for each word in capitals."""
    for word, levels in STREAMS.items():
        body = {**STREAM, "name": word, "levels": {tier: {"epsilon": 0.1} for tier in levels}}
        world.answer("POST", "/api/v1/streams", body, by="root")
        if word in ("READ", "BOTH"):
            world.answer("POST", f"/api/v1/streams/{word}/elements", ELEMENTS, by="root")
    schedule_in(world)
    held = world.answer("GET", "/api/v1/releases", by="ann")["items"]
    issued = world.answer("POST", TOKENS, {}, by="ann")
    return {
        "RELEASE": held[0]["id"],
        "PREFIX": issued["prefix"],
        "PROPOSAL": propose(world),
        "REQUEST": request_in(world),
    }


@pytest.fixture(scope="module")
def known() -> Iterator[dict[str, Seats]]:
    """Yield what this module made, by the kind of database."""
    made: dict[str, Seats] = {}
    yield made
    for seats in made.values():
        seats.unchanged.server.database.close()


@pytest.fixture
def seats(
    backend: str,
    known: dict[str, Seats],
    prototype: Callable[..., Home],
    furnished: tuple[Home, dict[str, str]],
) -> Seats:
    """Return one home for all rows."""

    def make(homes: Homes, folder: Path) -> Home:
        copy = homes.copy(furnished[0], folder)
        world = open_world(copy, dict(furnished[1]), **FREELY)
        names = furnish(world)
        world.server.database.close()
        second = homes.copy(copy, folder.with_name("unchanged"))
        unchanged = open_world(second, world.tokens, **FREELY)
        known[backend] = Seats(copy, world.tokens, names, unchanged)
        return copy

    prototype(backend, "role-matrix", make)
    return known[backend]


@pytest.fixture
def copied(seats: Seats, homes: Homes, tmp_path: Path) -> Iterator[Callable[..., World]]:
    """Yield a function that opens a copy of that home, for who changes it."""
    yield from copies(seats.home, seats.tokens, homes, tmp_path)


def test_the_matrix_has_every_operation() -> None:
    assert {row.name for row in MATRIX} | OPEN == {operation.name for operation in OPERATIONS}


def changes(row: Row, caller: str) -> bool:
    """Return whether a call changes anything."""
    return getattr(row, caller) < 400 and VERBS[row.name] != "GET" and row.name not in READING


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize("row", MATRIX, ids=lambda row: f"{row.name}-{row.path}")
def test_everybody_gets_what_their_role_and_clearance_allow(
    seats: Seats, copied: Callable[[], World], row: Row, caller: str
) -> None:
    world = copied() if changes(row, caller) else seats.unchanged
    response = world.call(VERBS[row.name], seats.path(row), row.body, by=caller)
    assert response.status_code == getattr(row, caller), response.text


@pytest.mark.parametrize("row", MATRIX, ids=lambda row: f"{row.name}-{row.path}")
def test_nobody_gets_anything_without_a_valid_token(seats: Seats, row: Row) -> None:
    for caller in (None, *STRANGERS):
        response = seats.unchanged.call(VERBS[row.name], seats.path(row), row.body, by=caller)
        assert response.status_code == 401, (caller, response.text)


def test_only_admins_and_auditors_see_which_state_of_the_rows_was_read(
    seats: Seats, copied: Callable[..., World]
) -> None:
    """It counts what is written where the rows are, which nobody is charged for."""
    world = copied(**FREELY)
    with world.server.database.write() as session:
        for query in session.exec(select(Query)).all():
            query.read_states = json.dumps(["snapshot 812:815:812"])
            session.add(query)
    seen = {
        (caller, row.name)
        for row in MATRIX
        for caller in CALLERS
        if not changes(row, caller) or row.path.endswith("/releases")
        for response in (world.call(VERBS[row.name], seats.path(row), row.body, by=caller),)
        if "812:815" in response.text
    }
    shown = ("list_queries", "show_query")
    assert seen == {(caller, name) for caller in ("root", "olga") for name in shown}


def test_a_refused_caller_changes_nothing(seats: Seats, copied: Callable[..., World]) -> None:
    # A copy that nobody has called: what a first refusal leaves, a second one might not.
    world = copied(**FREELY)
    before = tables_of(world.server.database)
    for row in MATRIX:
        for caller in CALLERS:
            if getattr(row, caller) >= 400:
                world.call(VERBS[row.name], seats.path(row), row.body, by=caller)
    assert tables_of(world.server.database) == before


@pytest.mark.parametrize("name", sorted(OPEN))
def test_health_needs_no_token(world: World, name: str) -> None:
    assert world.call("GET", f"/{name}").status_code == 200


def test_a_token_carries_no_more_than_its_scopes(world: World) -> None:
    """An admin's token for auditors alone, of somebody who is both."""
    world.answer(
        "POST", "/api/v1/users", {"name": "both", "roles": ["admin", "auditor"]}, by="root"
    )
    issued = world.answer("POST", "/api/v1/users/both/tokens", {"scopes": ["auditor"]}, by="root")
    world.tokens["both"] = issued["token"]
    assert world.call("GET", "/api/v1/audit/events", by="both").status_code == 200
    assert world.call("GET", "/api/v1/users", by="both").status_code == 403
