"""Test that what is hidden and what does not exist are one answer.

Status, headers, body, and time.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.bad_input.stage import furnished_home
from tests.api.sight.granting import granted, seen
from tests.api.sight.hidden import CALLERS, HIDDEN, NAMELESS, Hidden, hide
from tests.api.world import QUANTUM, World, open_world
from tests.databases.homes import Home, Homes
from werkzeug.test import TestResponse

from penstock import web
from penstock.api import OPERATIONS
from penstock.errors import NotFound
from penstock.http import pacing
from penstock.services.access.principals import Principal
from penstock.services.context import Server
from penstock.services.queries import queries
from penstock.services.schemas.views import QueryView

VERBS = {operation.name: operation.verb for operation in OPERATIONS}
DOCUMENTS = {"api.openapi", "api.metrics"}
"""They name nothing."""

PAGES = {f"web.{name}" for name in web.POLICIES}
"""They are asked for what is hidden in ``tests/web/every_page/test_roles.py``."""

Variant = Callable[[dict[str, Any]], dict[str, Any]]
VARIANTS: dict[str, Variant] = {
    "plain": lambda sent: sent,
    "an unknown argument": lambda sent: {**sent, "more": "surprise=1"},
    "an unknown field": lambda sent: {**sent, "body": {"surprise": 1}},
    "no JSON": lambda sent: {**sent, "body": None, "data": b"{"},
    "no body": lambda sent: {**sent, "body": None, "data": None},
    "a condition": lambda sent: {**sent, "headers": {"If-None-Match": "*"}},
    "a range": lambda sent: {**sent, "headers": {"Range": "bytes=0-9"}},
    "another form": lambda sent: {**sent, "headers": {"Accept": "text/csv"}},
    "the head alone": lambda sent: {**sent, "verb": "HEAD" if sent["verb"] == "GET" else "PUT"},
}
PLAIN, *OTHERS = VARIANTS
"""Everybody asks plainly; in the other ways by turns, and every night in all of them."""


Kept = tuple[Home, dict[str, str], dict[str, str]]
"""A home with what is hidden in it, everybody's tokens, and what stands for identifiers."""


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Kept:
    """Return a home to be copied."""
    made, tokens = furnished_home(tmp_path_factory.mktemp("hiding") / "home")
    world = open_world(made, tokens)
    identifiers = hide(world)
    world.server.database.close()
    return made, tokens, identifiers


def opened(model: Kept, folder: Path) -> World:
    """Return a copy, without a limit on how often somebody may ask."""
    copy = Homes(None).copy(model[0], folder / "home")
    return open_world(copy, model[1], request_rate=0)


@pytest.fixture(scope="module")
def asked(model: Kept, tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """Yield a server that is only asked for what it refuses."""
    world = opened(model, tmp_path_factory.mktemp("asked"))
    yield world
    world.server.database.close()


@pytest.fixture
def own(model: Kept, tmp_path: Path) -> Iterator[World]:
    """Yield a server for one test."""
    world = opened(model, tmp_path)
    yield world
    world.server.database.close()


def named(row: Hidden, identifiers: dict[str, str]) -> tuple[str, str]:
    """Return the name that is hidden, and the one that is missing."""
    hidden = identifiers.get(row.name, row.name)
    missing = identifiers.get(row.missing, row.missing)
    if missing == hidden:
        # Each part of it backwards, an identifier is another one of the same look.
        missing = "-".join(part[::-1] for part in missing.split("-"))
    return hidden, missing


def ask(world: World, row: Hidden, name: str, by: str | None, variant: Variant) -> TestResponse:
    """Send one request about ``name``."""
    body = json.loads(json.dumps(row.body).replace("NAME", name))
    sent = variant({"verb": VERBS[row.operation], "body": body, "data": None})
    path = row.path.replace("NAME", name)
    if more := sent.pop("more", None):
        path += ("&" if "?" in path else "?") + more
    return world.call(sent.pop("verb"), path, sent.pop("body"), by=by, **sent)


def require_alike(
    world: World, row: Hidden, names: tuple[str, str], by: str | None, variant: Variant
) -> int:
    """Raise unless the two answers are one; their status."""
    found = []
    for name in names:
        world.stopwatch.slept.clear()
        response = ask(world, row, name, by, variant)
        found.append(seen(world, response, name))
        assert "ETag" not in response.headers
        if response.status_code in pacing.REFUSALS:
            assert world.stopwatch.slept == [pytest.approx(QUANTUM)]
    assert found[0] == found[1]
    status: int = found[0][0]
    return status


def ids(row: Hidden) -> str:
    """Return how pytest calls a row."""
    return f"{row.operation}-{row.path}-{'' if row.body is None else sorted(row.body)}"


def test_every_route_that_names_something_is_asked_for_what_is_hidden(asked: World) -> None:
    """A new one is to be added to ``HIDDEN``, or where it names nothing to the sets beside it."""
    naming = {
        operation.name
        for operation in OPERATIONS
        if operation.path_parameters or operation.parameters or operation.body
    }
    assert {row.operation for row in HIDDEN} | NAMELESS == naming
    served = {rule.endpoint for rule in asked.client.application.url_map.iter_rules()}
    assert served == {f"api.{operation.name}" for operation in OPERATIONS} | DOCUMENTS | PAGES


@pytest.mark.parametrize("row", HIDDEN, ids=ids)
def test_what_is_hidden_looks_like_what_does_not_exist(
    asked: World, model: Kept, row: Hidden
) -> None:
    for place, by in enumerate(CALLERS):
        turn = HIDDEN.index(row) + place
        require_hidden(asked, model, row, by, [PLAIN, *OTHERS[turn % 3 :: 3]])


@pytest.mark.nightly
@pytest.mark.parametrize("row", HIDDEN, ids=ids)
def test_what_is_hidden_looks_like_what_does_not_exist_however_it_is_asked_for(
    asked: World, model: Kept, row: Hidden
) -> None:
    for by in CALLERS:
        require_hidden(asked, model, row, by, list(VARIANTS))


def require_hidden(
    world: World, model: Kept, row: Hidden, by: str | None, variants: list[str]
) -> None:
    """Raise unless whoever may not see it is told what they are told of nothing."""
    if by in row.seen_by:
        return
    for name in variants:
        status = require_alike(world, row, named(row, model[2]), by, VARIANTS[name])
        assert status < 500, name
        if by is None:
            assert status in {401, 405}


@pytest.mark.parametrize("row", [row for row in HIDDEN if row.seen_by], ids=ids)
def test_whoever_may_see_it_is_told_otherwise(own: World, model: Kept, row: Hidden) -> None:
    """So that the comparison compares something."""
    hidden, missing = named(row, model[2])
    for by in row.seen_by:
        found = [
            seen(own, ask(own, row, name, by, VARIANTS["plain"]), name)
            for name in (missing, hidden)
        ]
        assert found[0] != found[1], by


def other_words(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def show(server: Server, principal: Principal, name: str) -> QueryView:
        if name == "secret":
            raise NotFound("There is no query for you.")
        return real(server, principal, name)

    real = queries.show
    monkeypatch.setattr(queries, "show", show)


def longer_work(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def show(server: Server, principal: Principal, name: str) -> QueryView:
        if name == "secret":
            world.stopwatch.now += QUANTUM * 1.5
        return real(server, principal, name)

    real = queries.show
    monkeypatch.setattr(queries, "show", show)


@pytest.mark.parametrize("broken", [other_words, longer_work])
def test_what_tells_the_two_apart_is_found(
    own: World, monkeypatch: pytest.MonkeyPatch, broken: Callable[..., None]
) -> None:
    row = next(row for row in HIDDEN if row.operation == "show_query")
    require_alike(own, row, ("secret", "absent"), "ann", VARIANTS["plain"])
    broken(own, monkeypatch)
    with pytest.raises(AssertionError):
        require_alike(own, row, ("secret", "absent"), "ann", VARIANTS["plain"])


GRANTED = [
    ("POST", "/api/v1/queries/visits/releases", {"epsilon": 0.2}),
    ("POST", "/api/v1/queries/visits/releases", {"level": 3000}),
    ("POST", "/api/v1/queries/secret/releases", {"epsilon": 0.3}),
    ("GET", "/api/v1/streams/rising/releases", None),
]


@pytest.mark.parametrize(("verb", "path", "body"), GRANTED)
def test_a_first_grant_that_draws_looks_like_one_that_finds(
    model: Kept, tmp_path: Path, verb: str, path: str, body: Any
) -> None:
    """Both servers draw under the same keys, so that values are the same to the bit."""
    answers = []
    for before in (False, True):
        world = opened(model, tmp_path / str(before))
        answers.append(granted(world, verb, path, body, before=before))
        world.server.database.close()
    assert answers[0][0] == 200
    assert answers[0] == answers[1]
    assert answers[0][-1] == [pytest.approx(QUANTUM)]
