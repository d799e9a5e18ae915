"""A whole server in a temporary home, with a clock that stands and noise from fixed keys."""

import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from tests.databases.homes import Home, Homes
from tests.unit.sites import SITES, VISITS

from penstock.randomness import Stream
from penstock.services import datasets, home, queries, registration, releases, tiers, users
from penstock.services.principals import OPERATOR, Principal, acting_as
from penstock.services.releases import Answer
from penstock.services.server import Server
from penstock.services.specs import (
    DatasetRequest,
    PushedVectorRequest,
    ReleaseRequest,
    TierSpec,
    UserSpec,
)
from penstock.services.views import QueryView


@dataclass
class Clock:
    """A clock that is moved by hand."""

    now: datetime = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now

    def forward(self, **spans: float) -> None:
        self.now += timedelta(**spans)


@dataclass
class Streams:
    """Keyed streams in a row; counts how often noise was asked for."""

    taken: int = 0

    def __call__(self) -> Stream:
        self.taken += 1
        return Stream.from_key(self.taken.to_bytes(32, "little"))


@dataclass
class World:
    """A server with three tiers, a dataset of pushed vectors, and somebody at every tier."""

    server: Server
    clock: Clock
    streams: Streams

    def person(self, name: str) -> Principal:
        return acting_as(self.server, name)

    def ask(self, name: str, query: str = "visits", /, **wanted: object) -> Answer:
        request = ReleaseRequest.model_validate(wanted)
        return releases.request(self.server, self.person(name), query, request)

    def push(self, name: str = "visits", **changes: object) -> QueryView:
        request = PushedVectorRequest.model_validate({**VISITS, "name": name, **changes})
        return queries.register(self.server, OPERATOR, request)


def cut_off_before_the_anchor(monkeypatch: pytest.MonkeyPatch, act: Callable[[], object]) -> None:
    """Register by ``act``, and stop between the charge and the anchor, as a crash would."""

    def crash(*_: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(registration, "_anchor", crash)
        with pytest.raises(KeyboardInterrupt):
            act()


@pytest.fixture
def empty(
    backend: str, homes: Homes, prototype: Callable[..., Home], tmp_path: Path
) -> Iterator[World]:
    """A server with nothing in it."""
    made = homes.copy(prototype(backend, "empty", Homes.empty), tmp_path / "home")
    clock, streams = Clock(), Streams()
    server = home.open_server(made.settings(), clock=clock, randomness=streams)
    yield World(server, clock, streams)
    server.database.close()


@pytest.fixture
def world(empty: World) -> World:
    """Tiers, people and a dataset; no query yet."""
    for name in ("public", "partner", "internal"):
        tiers.create(empty.server, OPERATOR, TierSpec(name=name))
    for name, tier in (("pia", "public"), ("paul", "partner"), ("ines", "internal")):
        users.create(empty.server, OPERATOR, UserSpec(name=name, roles=["analyst"], clearance=tier))
    users.create(empty.server, OPERATOR, UserSpec(name="ada", roles=["admin"]))
    users.create(empty.server, OPERATOR, UserSpec(name="otto", roles=["auditor"]))
    datasets.register(empty.server, OPERATOR, DatasetRequest.model_validate(SITES))
    return empty


@pytest.fixture
def visits(world: World) -> World:
    """The world with one Gaussian query of three values."""
    world.push()
    return world


Restore = Callable[[], World]


@pytest.fixture
def restore(visits: World, homes: Homes, tmp_path: Path, backend: str) -> Restore:
    """Keeps the database as it is now; puts it back beside the keys and witness of then."""
    settings = visits.server.settings
    visits.server.database.close()
    urls = {
        name: getattr(settings, name)
        for name in ("database_url", "migration_database_url")
        if getattr(settings, name)
    }
    name = settings.database_url.partition("?")[0].rpartition("/")[2] or None
    kept = homes.copy(Home(settings.home, name, urls), tmp_path / "kept")

    def back() -> World:
        visits.server.database.close()
        for folder in ("keys", "witness"):
            shutil.rmtree(kept.folder / folder)
            shutil.copytree(settings.home / folder, kept.folder / folder)
        server = home.open_server(kept.settings(), clock=visits.clock, randomness=visits.streams)
        return World(server, visits.clock, visits.streams)

    return back
