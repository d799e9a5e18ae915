"""Every operation, called by everybody: each cell of the matrix is asserted."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.api.bad_input.snapshot import tables_of
from tests.api.world import DATASET, QUERY, World, copies, open_world, propose
from tests.databases.homes import Home, Homes

from penstock.api import OPERATIONS

STRANGERS = ("malformed", "expired", "revoked", "gone")
CALLERS = ("noa", "ann", "ian", "root", "olga")


class Row(NamedTuple):
    """One operation: how it is called, and the status for each of ``CALLERS``."""

    name: str
    path: str
    body: Any
    noa: int
    ann: int
    ian: int
    root: int
    olga: int


TOKENS = "/api/v1/users/ann/tokens"
ASK = "/api/v1/queries/visits/releases"
NEW_QUERY = {**QUERY, "name": "new"}
NAMED = {"query": "visits"}
HIDDEN = {"query": "secret"}
NEW_DATASET = {**DATASET, "name": "new"}
NEW_VERSION = {"source": {"engine": "duckdb", "uri": "new.csv"}, "budgets": DATASET["budgets"]}
NEW_USER = {"name": "new", "roles": ["analyst"]}
NEW_BUDGETS = {"budgets": {"internal": {"epsilon": 5}}}
NEW_LEVELS = {"levels": {"public": {"epsilon": 0.2}}}
STREAM = {
    "name": "hits",
    "dataset": "sites",
    "mechanism": "laplace",
    "length": 10,
    "max_steps_per_unit": 1,
    "levels": {"public": {"epsilon": 0.1}},
}
LESS_NOISE = {"levels": {"public": {"epsilon": 0.2}, "internal": {"epsilon": 0.2}}}
ELEMENTS = {"from": 1, "values": [1]}
NOTE = {"note": "log\n1\nAAAA\n\n\u2014 cosigner AAAAAAAA\n"}
PROOF = "/api/v1/audit/proof"
OF_ANN = "/api/v1/audit/exposure?users=ann&dataset=sites"

# noa has no clearance, ann is cleared for public, ian for internal, root is an admin and
# olga an auditor.  RELEASE and PREFIX stand for ann's release and a token of hers; words in
# capitals after streams/ are streams that are opened first (STREAMS).
MATRIX = [
    #   operation           path                            body           noa  ann  ian root olga
    Row("show_me", "/api/v1/me", None, 200, 200, 200, 200, 200),
    Row("list_users", "/api/v1/users", None, 403, 403, 403, 200, 403),
    Row("create_user", "/api/v1/users", NEW_USER, 403, 403, 403, 201, 403),
    Row("show_user", "/api/v1/users/ann", None, 403, 403, 403, 200, 403),
    Row("change_user", "/api/v1/users/ann", {"clearance": None}, 403, 403, 403, 200, 403),
    Row("disable_user", "/api/v1/users/ann", None, 403, 403, 403, 200, 403),
    Row("list_tokens", TOKENS, None, 403, 200, 403, 200, 403),
    Row("issue_token", TOKENS, {}, 403, 201, 403, 201, 403),
    Row("revoke_token", TOKENS + "/PREFIX", None, 403, 200, 403, 200, 403),
    Row("list_tiers", "/api/v1/tiers", None, 200, 200, 200, 200, 200),
    Row("create_tier", "/api/v1/tiers", {"name": "new"}, 403, 403, 403, 201, 403),
    Row("change_tier", "/api/v1/tiers/public", {"rank": 11}, 403, 403, 403, 200, 403),
    Row("delete_tier", "/api/v1/tiers/public", None, 403, 403, 403, 409, 403),
    Row("list_datasets", "/api/v1/datasets", None, 200, 200, 200, 200, 200),
    Row("register_dataset", "/api/v1/datasets", NEW_DATASET, 403, 403, 403, 201, 403),
    Row("show_dataset", "/api/v1/datasets/sites", None, 404, 200, 200, 200, 200),
    # Its vectors are pushed, so that there is no file to have a new version.
    Row("add_version", "/api/v1/datasets/sites/versions", NEW_VERSION, 403, 403, 403, 409, 403),
    # Its vectors are pushed, so that there are no rows to make up.
    Row("show_dummy", "/api/v1/datasets/sites/dummy", None, 404, 422, 422, 422, 422),
    Row("withdraw_dataset", "/api/v1/datasets/sites", None, 403, 403, 403, 409, 403),
    Row("change_dataset", "/api/v1/datasets/sites", NEW_BUDGETS, 403, 403, 403, 200, 403),
    Row("show_budget", "/api/v1/datasets/sites/budget", None, 404, 200, 200, 200, 200),
    Row("list_queries", "/api/v1/queries", None, 200, 200, 200, 200, 200),
    Row("register_query", "/api/v1/queries", NEW_QUERY, 403, 403, 403, 201, 403),
    Row("preview_query", "/api/v1/queries/preview", NEW_QUERY, 404, 200, 200, 200, 403),
    Row("preview_query", "/api/v1/queries/preview", NAMED, 404, 200, 200, 200, 403),
    Row("preview_query", "/api/v1/queries/preview", HIDDEN, 404, 404, 200, 200, 403),
    Row("show_query", "/api/v1/queries/visits", None, 404, 200, 200, 200, 200),
    Row("show_query", "/api/v1/queries/secret", None, 404, 404, 200, 200, 200),
    Row("change_query", "/api/v1/queries/visits", NEW_LEVELS, 403, 403, 403, 200, 403),
    Row("retire_query", "/api/v1/queries/visits/retire", None, 403, 403, 403, 200, 403),
    Row("request_release", ASK, {}, 404, 200, 200, 403, 403),
    Row("request_release", ASK, {"tier": "public"}, 404, 200, 200, 403, 403),
    Row("request_release", ASK, {"tier": "internal"}, 404, 403, 200, 403, 403),
    Row("request_release", "/api/v1/queries/secret/releases", {}, 404, 404, 200, 403, 403),
    Row("list_releases", "/api/v1/releases", None, 200, 200, 200, 403, 200),
    Row("list_releases", "/api/v1/releases?user=ann", None, 403, 200, 403, 403, 200),
    Row("list_releases", "/api/v1/releases?query=visits", None, 404, 200, 404, 403, 200),
    Row("show_release", "/api/v1/releases/RELEASE", None, 404, 200, 404, 403, 200),
    Row("show_values", "/api/v1/releases/RELEASE/values", None, 404, 200, 404, 403, 403),
    Row("list_streams", "/api/v1/streams", None, 200, 200, 200, 200, 200),
    Row("open_stream", "/api/v1/streams", STREAM, 403, 403, 403, 201, 403),
    Row("preview_stream", "/api/v1/streams/preview", STREAM, 404, 200, 200, 200, 403),
    Row("show_stream", "/api/v1/streams/STREAM", None, 404, 200, 200, 200, 200),
    Row("show_stream", "/api/v1/streams/HIDDEN", None, 404, 404, 200, 200, 200),
    Row("change_stream", "/api/v1/streams/STREAM", LESS_NOISE, 403, 403, 403, 200, 403),
    Row("retire_stream", "/api/v1/streams/STREAM/retire", None, 403, 403, 403, 200, 403),
    Row("push_elements", "/api/v1/streams/STREAM/elements", ELEMENTS, 403, 403, 403, 200, 403),
    Row("read_stream", "/api/v1/streams/READ/releases", None, 404, 200, 200, 403, 403),
    Row("read_stream", "/api/v1/streams/READ/releases?tier=public", None, 404, 200, 200, 403, 403),
    Row(
        *("read_stream", "/api/v1/streams/BOTH/releases?tier=internal", None),
        *(404, 403, 200, 403, 403),
    ),
    Row("list_proposals", "/api/v1/proposals", None, 403, 403, 403, 200, 200),
    Row("show_proposal", "/api/v1/proposals/PROPOSAL", None, 403, 403, 403, 200, 200),
    Row("approve_proposal", "/api/v1/proposals/PROPOSAL/approval", None, 403, 403, 403, 200, 403),
    Row("withdraw_proposal", "/api/v1/proposals/PROPOSAL", None, 403, 403, 403, 200, 403),
    Row("list_events", "/api/v1/audit/events", None, 403, 403, 403, 403, 200),
    Row("show_checkpoint", "/api/v1/audit/checkpoint", None, 200, 200, 200, 200, 200),
    # Nobody is named as a cosigner: what is sent is looked at, and refused.
    Row("take_cosignature", "/api/v1/audit/cosignatures", NOTE, 403, 403, 403, 403, 422),
    Row("prove_inclusion", f"{PROOF}/inclusion?index=0", None, 404, 404, 404, 404, 200),
    Row("prove_inclusion", f"{PROOF}/inclusion?index=100000", None, 404, 404, 404, 404, 422),
    Row("prove_consistency", f"{PROOF}/consistency?from=1&to=2", None, 200, 200, 200, 200, 200),
    Row("export_log", "/api/v1/audit/export", None, 403, 403, 403, 403, 200),
    Row("show_exposure", OF_ANN, None, 403, 200, 403, 403, 200),
]
STREAMS = {
    "STREAM": ["public"],
    "HIDDEN": ["internal"],
    "READ": ["public"],
    "BOTH": ["public", "internal"],
}
OPEN = {"healthz", "readyz"}
VERBS = {operation.name: operation.verb for operation in OPERATIONS}


READING = {"preview_query", "preview_stream"}
"""These change nothing, though they are posted."""

FREELY: Mapping[str, Any] = {"request_rate": 0, "failed_sign_ins": 1_000_000}


@dataclass(frozen=True)
class Seats:
    """A home with all that rows name, the tokens, the names, and a server for what only reads.

    Who reads a stream there gets an entry in the log; no row of the matrix is answered otherwise.
    """

    home: Home
    tokens: dict[str, str]
    names: dict[str, str]
    unchanged: World

    def path(self, row: Row) -> str:
        """The address of a row; what else stands in capitals is a stream of that name."""
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
    held = world.answer("GET", "/api/v1/releases", by="ann")["items"]
    issued = world.answer("POST", TOKENS, {}, by="ann")
    return {"RELEASE": held[0]["id"], "PREFIX": issued["prefix"], "PROPOSAL": propose(world)}


@pytest.fixture(scope="module")
def known() -> Iterator[dict[str, Seats]]:
    """What this module made, by the kind of database."""
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
    """One home for all rows."""

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
    """A function that opens a copy of that home, for who changes it."""
    yield from copies(seats.home, seats.tokens, homes, tmp_path)


def test_the_matrix_has_every_operation() -> None:
    assert {row.name for row in MATRIX} | OPEN == {operation.name for operation in OPERATIONS}


def changes(row: Row, caller: str) -> bool:
    """Whether a call changes anything."""
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
