"""Test that nothing that a worker keeps between requests is stale once a change is committed.

Readers repeat one request without pause at a server of two workers, each time on a new connection,
so that both workers are asked.  Meanwhile another process changes one thing, as an operator does.
Requests that were answered before the change began must have got what was true before it, and those
that were sent after it returned, what is true now.
"""

import hashlib
import http.client
import json
import signal
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from tests.api.served.serving import PATIENCE, Serving, serve
from tests.api.world import DATASET, QUERY
from tests.databases.homes import Home, Homes

from penstock.services.access.principals import OPERATOR
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.operations import digest_rotation, home, key_rotation
from penstock.services.people import tier_changes, tokens, users
from penstock.services.queries import queries, registration
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.queries import DatasetRequest, LevelsChange, PushedVectorRequest

pytestmark = pytest.mark.each_database

READERS = 4
ANSWERS = 10
"""How many each reader gets before a change begins, and of requests sent after it returned."""

FREELY = {
    "PENSTOCK_REQUEST_RATE": "0",
    "PENSTOCK_PROCESSOR_RATE": "0",
    "PENSTOCK_FAILED_SIGN_INS": "0",
    "PENSTOCK_TIME_QUANTUM": "0",
}

Outcome = tuple[int, str | None, float | None, str]
"""The status of an answer, and of a release its tier, its level, and a digest of its values."""


@dataclass(frozen=True)
class Change:
    """Describe a change of what ``name`` names, and the answers to expect before and after it."""

    make: Callable[[Server, str], object]
    before: int = 200
    after: int = 200
    clearance: str = "internal"
    tier: str | None = None
    visible: bool = True


def cleared_for(tier: str | None) -> Callable[[Server, str], object]:
    """Return the change of a user's clearance."""
    return lambda server, name: users.change(server, OPERATOR, name, UserChange(clearance=tier))


def moved(epsilon: float, values: list[int] | None = None) -> Callable[[Server, str], object]:
    """Return the change of the most accurate level of a query."""
    levels = {"internal": {"epsilon": epsilon}}
    request = LevelsChange.model_validate({"levels": levels, "values": values})
    return lambda server, name: queries.change(server, OPERATOR, name, request)


def inserted(server: Server, name: str) -> object:
    """Insert the tier that is requested."""
    return tier_changes.create(server, OPERATOR, TierSpec(name=f"{name}-tier", above="public"))


CHANGES = {
    "demotion": Change(cleared_for("public")),
    "promotion": Change(cleared_for("internal"), clearance="public"),
    "lost-clearance": Change(cleared_for(None), after=404),
    "disabled": Change(lambda server, name: users.disable(server, OPERATOR, name), after=401),
    "lost-role": Change(
        lambda server, name: users.change(server, OPERATOR, name, UserChange(roles=["auditor"])),
        after=403,
    ),
    "lowered": Change(moved(0.06)),
    "raised": Change(moved(0.2, QUERY["values"])),
    "retired": Change(lambda server, name: queries.retire(server, OPERATOR, name), after=409),
    "inserted": Change(inserted, before=422, tier="inserted-tier"),
    "deleted": Change(
        lambda server, name: tier_changes.delete(server, OPERATOR, f"{name}-tier"),
        after=422,
        tier="deleted-tier",
    ),
    "shredded": Change(lambda server, name: key_rotation.shred(server, OPERATOR, name), after=409),
    "new-keys": Change(lambda server, _: key_rotation.rotate(server, OPERATOR), visible=False),
    "new-secrets": Change(
        lambda server, _: digest_rotation.rotate_values(server, OPERATOR), visible=False
    ),
}


@dataclass
class Reader:
    """Repeat one request, and note when it was sent, when answered, and how."""

    port: int
    token: str
    path: str
    body: bytes
    answers: list[tuple[float, float, Outcome]] = field(default_factory=list)

    def read(self, stop: threading.Event) -> None:
        """Repeat the request until told to stop."""
        while not stop.is_set():
            sent = time.monotonic()
            outcome = self.ask()
            self.answers.append((sent, time.monotonic(), outcome))

    def ask(self) -> Outcome:
        """Send one request on a connection of its own."""
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        with closing(connection):
            connection.request("POST", self.path, body=self.body, headers=headers)
            response = connection.getresponse()
            answer = json.loads(response.read())
        level = answer.get("level")
        return (
            response.status,
            answer.get("tier"),
            level and level["value"],
            hashlib.sha256(repr(answer.get("values")).encode()).hexdigest(),
        )


@dataclass
class Changing:
    """Hold a served home, a server of another process over it, and the tokens of its readers."""

    serving: Serving
    server: Server
    tokens: dict[str, str]


def fill(server: Server) -> dict[str, str]:
    """Add a user, a dataset and a query for each change, named as that; the users' tokens."""
    made = {}
    tier_changes.create(server, OPERATOR, TierSpec(name="deleted-tier", above="public"))
    for name, change in CHANGES.items():
        spec = UserSpec(name=name, roles=["analyst"], clearance=change.clearance)
        users.create(server, OPERATOR, spec)
        made[name] = tokens.issue(server, OPERATOR, name, TokenSpec()).token
        datasets.register(
            server, OPERATOR, DatasetRequest.model_validate({**DATASET, "name": name})
        )
        levels = {"public": {"epsilon": 0.02}, "internal": {"epsilon": 0.1}}
        request = {**QUERY, "name": name, "dataset": name, "levels": levels}
        registration.register(server, OPERATOR, PushedVectorRequest.model_validate(request))
    return made


@pytest.fixture(scope="module")
def changing() -> Iterator[dict[str, Changing]]:
    """Yield what is served, by the kind of its database, and stop it in the end."""
    held: dict[str, Changing] = {}
    yield held
    for one in held.values():
        one.server.database.close()
        one.serving.stop(signal.SIGTERM)


@pytest.fixture
def served(
    backend: str,
    changing: dict[str, Changing],
    prototype: Callable[..., Home],
    furnished: tuple[Home, dict[str, str]],
) -> Changing:
    """Return a home that is served, with something to change in it for each change."""

    def make(homes: Homes, folder: Path) -> Home:
        copy = homes.copy(furnished[0], folder)
        server = home.open_server(copy.settings())
        made = fill(server)
        changing[backend] = Changing(serve(copy, "", 2, **FREELY), server, made)
        return copy

    prototype(backend, "changing", make)
    return changing[backend]


@contextmanager
def load(served: Changing, name: str, body: dict[str, Any]) -> Iterator[list[Reader]]:
    """Provide readers who have had answers already, and go on until the block ends."""
    path = f"/api/v1/queries/{name}/releases"
    port, sent = served.serving.port, json.dumps(body).encode()
    readers = [Reader(port, served.tokens[name], path, sent) for _ in range(READERS)]
    stop = threading.Event()
    threads = [threading.Thread(target=reader.read, args=(stop,)) for reader in readers]
    for thread in threads:
        thread.start()
    try:
        wait_for(served, readers, since=0)
        yield readers
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def wait_for(served: Changing, readers: list[Reader], *, since: float) -> None:
    """Wait until each reader has its answers to requests that it sent after a moment."""
    until = time.monotonic() + PATIENCE
    while any(
        sum(sent > since for sent, _, _ in list(reader.answers)) < ANSWERS for reader in readers
    ):
        assert time.monotonic() < until, (served.serving.home / "log").read_text()
        time.sleep(0.02)


def outcomes(
    served: Changing, name: str, change: Callable[[], object]
) -> tuple[set[Outcome], set[Outcome]]:
    """Make a change under load; the outcomes before it began, and since it returned."""
    tier = CHANGES[name].tier
    with load(served, name, {} if tier is None else {"tier": tier}) as readers:
        began = time.monotonic()
        change()
        returned = time.monotonic()
        wait_for(served, readers, since=returned)
    answers = [answer for reader in readers for answer in reader.answers]
    return (
        {outcome for _, answered, outcome in answers if answered < began},
        {outcome for sent, _, outcome in answers if sent > returned},
    )


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_counts_in_every_worker_from_its_commit_on(served: Changing, name: str) -> None:
    change = CHANGES[name]
    before, after = outcomes(served, name, lambda: change.make(served.server, name))
    assert [outcome[0] for outcome in before] == [change.before]
    assert [outcome[0] for outcome in after] == [change.after]
    assert (before != after) is change.visible
