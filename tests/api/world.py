"""Provide a small server with something in it, and everybody who may call."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from flask.testing import FlaskClient
from tests.databases.homes import PATIENCE, Home, Homes
from tests.support.assembly import assembled, statements_anew
from werkzeug.test import TestResponse

from penstock.application import create_app_for
from penstock.randomness import Stream
from penstock.services.access.principals import OPERATOR
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import QueryRetirement
from penstock.services.context import Server
from penstock.services.operations import home
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.proposals import ProposalView

START = datetime(2026, 11, 20, 12, tzinfo=UTC)
QUANTUM = 0.025

DATASET: dict[str, Any] = {
    "name": "sites",
    "source": {"engine": "vector"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "budgets": {"public": {"epsilon": 1}, "internal": {"epsilon": 4}},
}
QUERY: dict[str, Any] = {
    "name": "visits",
    "dataset": "sites",
    "keys": ["a", "b"],
    "values": [120, 7],
    "sensitivity": {"l1": 1, "l2": 1, "linf": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}},
}
SECRET: dict[str, Any] = {**QUERY, "name": "secret", "levels": {"internal": {"epsilon": 0.5}}}


@dataclass
class Clock:
    """Represent the time that services see."""

    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@dataclass
class Stopwatch:
    """Count seconds that pass only while somebody sleeps or says so."""

    now: float = 1000.0
    slept: list[float] = field(default_factory=list)

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


@dataclass
class Streams:
    """Provide streams under fixed keys, each under another, and count how many were taken."""

    taken: int = 0

    def __call__(self) -> Stream:
        number = self.taken
        self.taken += 1
        return Stream.from_key(hashlib.sha256(b"tests/api %d" % number).digest())


def parsed(response: TestResponse) -> Any:
    """Return the JSON document that a response holds."""
    return json.loads(response.data)


@dataclass(frozen=True)
class World:
    """Hold a server over a temporary home, a client of it, and everybody's token by name."""

    server: Server
    client: FlaskClient
    clock: Clock
    stopwatch: Stopwatch
    tokens: dict[str, str]

    def call(
        self,
        verb: str,
        path: str,
        body: object = None,
        *,
        by: str | None = None,
        headers: dict[str, str] | None = None,
        data: bytes | None = None,
    ) -> TestResponse:
        """Send one request; ``data`` is sent as it is, ``body`` as JSON."""
        given = dict(headers or {})
        if by is not None:
            given["Authorization"] = f"Bearer {self.tokens[by]}"
        if body is not None:
            data = json.dumps(body).encode()
        if data is not None:
            given.setdefault("Content-Type", "application/json")
        return self.client.open(path, method=verb, headers=given, data=data)

    def answer(self, verb: str, path: str, body: object = None, *, by: str) -> Any:
        """Return the parsed answer to a request that must succeed."""
        response = self.call(verb, path, body, by=by)
        assert response.status_code < 300, response.text
        return parsed(response)


def propose(world: World) -> str:
    """Let the operator propose to retire ``visits``; the proposal's id."""
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    ruled = replace(world.server, settings=settings)
    made = proposals.do_or_propose(ruled, OPERATOR, QueryRetirement(query="visits"))
    assert isinstance(made, ProposalView)
    return made.id


def open_world(
    made: Home,
    known: dict[str, str],
    *,
    patience: float = PATIENCE,
    keeps_statements: bool = True,
    taken: int = 0,
    **settings: Any,
) -> World:
    """Return the world over an existing home, at the start of its time, ``taken`` streams in."""
    clock, stopwatch = Clock(), Stopwatch()
    chosen = made.settings(**{"time_quantum": QUANTUM, **settings})
    with nullcontext() if keeps_statements else statements_anew():
        server = home.open_server(chosen, clock=clock, randomness=Streams(taken))
    with assembled():
        app = create_app_for(server, clock=stopwatch, sleep=stopwatch.sleep, patience=patience)
    return World(server, app.test_client(), clock, stopwatch, known)


def copies(
    original: Home, tokens: dict[str, str], homes: Homes, folder: Path
) -> Iterator[Callable[..., World]]:
    """Provide a function that opens a copy of a home, with its caller's settings.

    The copies are closed in the end.
    """
    opened: list[World] = []

    def make(**settings: Any) -> World:
        copy = homes.copy(original, folder / f"home-{len(opened)}")
        opened.append(open_world(copy, dict(tokens), **settings))
        return opened[-1]

    yield make
    for world in opened:
        world.server.database.close()


def furnish(made: Home) -> dict[str, str]:
    """Fill an empty home with tiers, users, a dataset, queries and a release; the tokens by name.

    ``ann`` is cleared for public, ``ian`` for internal, ``noa`` for nothing; ``root`` is
    an admin, ``olga`` an auditor, ``gone`` a disabled analyst.  ``ann`` was handed visits.
    """
    world = open_world(made, {})
    # Everything happened an hour ago, so that a token of one second is expired at the start.
    world.clock.now = START - timedelta(hours=1)
    _invite(world, "root", ["admin"], None)
    for name, rank in (("public", 10), ("internal", 30)):
        world.answer("POST", "/api/v1/tiers", {"name": name, "rank": rank}, by="root")
    for name, tier in (("ann", "public"), ("ian", "internal"), ("noa", None), ("gone", "public")):
        _invite(world, name, ["analyst"], tier)
    _invite(world, "olga", ["auditor"], None)
    world.tokens["malformed"] = world.tokens["ann"][:-1] + "!"
    world.tokens["expired"] = _token(world, "ann", TokenSpec(expires_in=1))
    world.tokens["revoked"] = _token(world, "ann", TokenSpec())
    tokens.revoke(world.server, OPERATOR, "ann", world.tokens["revoked"].split("_")[1])
    users.disable(world.server, OPERATOR, "gone")
    world.answer("POST", "/api/v1/datasets", DATASET, by="root")
    for query in (QUERY, SECRET):
        world.answer("POST", "/api/v1/queries", query, by="root")
    world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ann")
    world.server.database.close()
    return world.tokens


def _invite(world: World, name: str, roles: list[Any], clearance: str | None) -> None:
    users.create(world.server, OPERATOR, UserSpec(name=name, roles=roles, clearance=clearance))
    world.tokens[name] = _token(world, name, TokenSpec())


def _token(world: World, name: str, spec: TokenSpec) -> str:
    return tokens.issue(world.server, OPERATOR, name, spec).token
