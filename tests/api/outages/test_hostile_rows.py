"""Test ciphertexts, keys, hashes and signatures that somebody has put into the database.

Whatever stands in their place, an answer with values is the one that was given before, or a
refusal in words of ours; and nothing is a fault of the server's.
"""

import json
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import LargeBinary
from tests.altered_bytes import altered
from tests.api.bad_input.stage import furnished_home
from tests.api.bad_input.verdict import judge_secrets, judge_words
from tests.api.sight.hidden import RELEASE, hide
from tests.api.world import World, open_world, parsed
from tests.databases.homes import Home, Homes

from penstock.api import OPERATIONS
from penstock.api.openapi import refusals
from penstock.persistence.tables.columns import metadata

SEALED = [
    (table.name, column.name)
    for table in metadata.sorted_tables
    for column in table.columns
    if isinstance(column.type, LargeBinary)
]
TURNED = "the last bit turned"
BAD: dict[str, Callable[[bytes], bytes]] = {
    "nothing but a zero": lambda _: b"\0",
    TURNED: altered,
    "cut in half": lambda kept: kept[: len(kept) // 2 + 1],
    "a byte more": lambda kept: kept + b"\0",
    "zeros": lambda kept: bytes(len(kept)),
    "a mebibyte": lambda kept: kept + bytes(2**20),
    "deep JSON": lambda _: b"[" * 100_000,
}
Request = tuple[str, str, Any, str]
READ: list[Request] = [
    ("show_me", "/api/v1/me", None, "ann"),
    ("request_release", "/api/v1/queries/visits/releases", {}, "ann"),
    ("request_release", "/api/v1/queries/secret/releases", {}, "ian"),
    ("request_release", "/api/v1/queries/visits/releases", {"epsilon": 0.2}, "ian"),
    ("show_values", "/api/v1/releases/RELEASE/values", None, "ian"),
    ("show_values", "/api/v1/releases/RELEASE/values?format=csv", None, "ian"),
    ("read_stream", "/api/v1/streams/rising/releases", None, "ian"),
    ("show_stream", "/api/v1/streams/rising", None, "ian"),
    ("list_releases", "/api/v1/releases", None, "ian"),
    ("show_budget", "/api/v1/datasets/sites/budget", None, "root"),
    ("show_exposure", "/api/v1/audit/exposure?users=ann,ian", None, "olga"),
    ("list_events", "/api/v1/audit/events", None, "olga"),
    ("show_checkpoint", "/api/v1/audit/checkpoint", None, "ann"),
    ("prove_inclusion", "/api/v1/audit/proof/inclusion?index=3", None, "olga"),
    ("prove_consistency", "/api/v1/audit/proof/consistency?from=3&to=9", None, "ann"),
    ("readyz", "/readyz", None, "ann"),
]
CHANGING: list[Request] = [
    ("request_release", "/api/v1/queries/visits/releases", {"epsilon": 0.3}, "ian"),
    ("push_elements", "/api/v1/streams/rising/elements", {"from": 2, "values": [1]}, "root"),
    ("create_tier", "/api/v1/tiers", {"name": "kept", "rank": 5}, "root"),
]
VERBS = {operation.name: operation.verb for operation in OPERATIONS}
TOLD = {one.name: {one.status, *refusals(one)} - {500} for one in OPERATIONS}


@dataclass(frozen=True)
class Kept:
    """Hold a home to be copied, its users' tokens, the id of a release, and what was told."""

    home: Home
    tokens: dict[str, str]
    release: str
    before: list[str]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Return a home in which rows may be changed, and where everything was asked for before."""
    made, tokens = furnished_home(tmp_path_factory.mktemp("hostile") / "home")
    world = open_world(made, tokens)
    identifiers = hide(world)
    release = identifiers[RELEASE]
    for request in (*READ, *CHANGING[2:]):
        told(world, request, release)
    before = [values(request, told(world, request, release)) for request in READ]
    assert all(before), "everything is answered as long as nothing is changed"
    world.server.database.close()
    with closing(sqlite3.connect(path_of(made.folder))) as connection:
        triggers = connection.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'")
        for (name,) in triggers.fetchall():
            connection.execute(f'DROP TRIGGER "{name}"')
        connection.commit()
    return Kept(made, tokens, release, before)


@pytest.fixture
def own(model: Kept, tmp_path: Path) -> Iterator[tuple[World, Path]]:
    """Yield a server, and its database."""
    copy = Homes(None).copy(model.home, tmp_path / "home")
    world = open_world(copy, model.tokens, request_rate=0)
    yield world, path_of(copy.folder)
    world.server.database.close()


def path_of(home: Path) -> Path:
    """Return the database of a home."""
    return home / "database" / "penstock.db"


def told(world: World, request: Request, release: str) -> tuple[int, Any]:
    """Return status and document of an answer, and require that it is documented.

    A refusal must be in our words.
    """
    name, path, body, by = request
    headers = {"Idempotency-Key": "kept"} if name == "create_tier" else None
    path = path.replace(RELEASE, release)
    response = world.call(VERBS[name], path, body, by=by, headers=headers)
    assert response.status_code in TOLD[name], (request, response.text)
    if response.status_code >= 400:
        problem = parsed(response)
        judge_words(problem["detail"])
        judge_secrets(world, response.text)
        return response.status_code, None
    if "format=csv" in path:
        return response.status_code, response.text
    return response.status_code, parsed(response)


def values(request: Request, answer: tuple[int, Any]) -> str:
    """Return what of an answer was drawn; nothing of a refusal."""
    status, found = answer
    if status >= 400:
        return ""
    if isinstance(found, str):
        return found
    if request[0] == "read_stream":
        return json.dumps([item["values"] for item in found["items"]])
    return json.dumps(found.get("values", "answered"))


def put(database: Path, table: str, column: str, bad: Callable[[bytes], bytes]) -> None:
    """Put something else into every row that has something there."""
    with closing(sqlite3.connect(database)) as connection:
        connection.execute("PRAGMA ignore_check_constraints = ON")
        rows = connection.execute(
            f'SELECT rowid, "{column}" FROM "{table}" WHERE length("{column}") > 1'  # noqa: S608
        ).fetchall()
        for row, kept in rows:
            connection.execute(
                f'UPDATE OR IGNORE "{table}" SET "{column}" = ? WHERE rowid = ?',  # noqa: S608
                (bad(kept), row),
            )
        connection.commit()


def cases() -> Iterator[Any]:
    """Yield each column with one bit turned and one of the other kinds in turn; every night all."""
    others = [name for name in BAD if name != TURNED]
    for place, (table, column) in enumerate(SEALED):
        chosen = others[place % len(others)]
        yield pytest.param(table, column, [TURNED, chosen], id=f"{table}-{column}")
        # The turned bit last, once more: by then the server has answered, and may have kept rows.
        rest = [*(name for name in others if name != chosen), TURNED]
        yield pytest.param(
            table, column, rest, id=f"{table}-{column}-more", marks=pytest.mark.nightly
        )


def test_where_nothing_is_changed_everything_is_told_as_before(
    own: tuple[World, Path], model: Kept
) -> None:
    found = [values(request, told(own[0], request, model.release)) for request in READ]
    assert found == model.before


@pytest.mark.parametrize(("table", "column", "kinds"), list(cases()))
def test_whatever_stands_in_a_sealed_column_values_are_the_same_or_refused(
    own: tuple[World, Path], model: Kept, table: str, column: str, kinds: list[str]
) -> None:
    world, database = own
    with closing(sqlite3.connect(":memory:")) as original:
        with closing(sqlite3.connect(database)) as connection:
            connection.backup(original)
        for name in kinds:
            put(database, table, column, BAD[name])
            for request, kept in zip(READ, model.before, strict=True):
                found = values(request, told(world, request, model.release))
                assert found in ("", kept), (name, request)
            for request in CHANGING:
                told(world, request, model.release)
            with closing(sqlite3.connect(database)) as connection:
                original.backup(connection)
