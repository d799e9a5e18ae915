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
from penstock.services.access.principals import OPERATOR, Principal, acting_as
from penstock.services.context import Server
from penstock.services.datasets import datasets
from penstock.services.operations import home
from penstock.services.people import tier_changes, users
from penstock.services.queries import queries, registration
from penstock.services.releases import releases
from penstock.services.releases.releases import Answer
from penstock.services.schemas.people import TierSpec, UserSpec
from penstock.services.schemas.queries import (
    DatasetRequest,
    PushedVectorRequest,
    ReleaseRequest,
)
from penstock.services.schemas.views import QueryView


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


def fill(world: World) -> None:
    """Add three tiers, a person at each, an admin, an auditor, and a dataset of pushed vectors."""
    for name in ("public", "partner", "internal"):
        tier_changes.create(world.server, OPERATOR, TierSpec(name=name))
    for name, tier in (("pia", "public"), ("paul", "partner"), ("ines", "internal")):
        users.create(world.server, OPERATOR, UserSpec(name=name, roles=["analyst"], clearance=tier))
    users.create(world.server, OPERATOR, UserSpec(name="ada", roles=["admin"]))
    users.create(world.server, OPERATOR, UserSpec(name="otto", roles=["auditor"]))
    datasets.register(world.server, OPERATOR, DatasetRequest.model_validate(SITES))


def fill_and_push(world: World) -> None:
    """Add what ``fill`` adds, and one Gaussian query of three values."""
    fill(world)
    world.push()


def opened(made: Home, taken: int = 0) -> World:
    """Open a home at the start of its time, after ``taken`` streams of noise."""
    clock, streams = Clock(), Streams(taken)
    server = home.open_server(made.settings(), clock=clock, randomness=streams)
    return World(server, clock, streams)


CopyWorld = Callable[[str, Callable[[World], object]], World]
Keep = Callable[[str, str], Path]


@pytest.fixture(scope="session")
def streams_taken() -> dict[tuple[str, str], int]:
    """How many streams of noise the making of each template took."""
    return {}


@pytest.fixture
def copy_world(
    backend: str,
    homes: Homes,
    prototype: Callable[..., Home],
    streams_taken: dict[tuple[str, str], int],
    tmp_path: Path,
) -> Iterator[CopyWorld]:
    """``copy_world(name, fill)``: a copy of the world that ``fill`` filled the first time.

    A module's own fixtures call it with a name of their own for what they share.  What
    ``fill`` does must be the same every time, and leave nothing but the home behind.
    """
    copied: list[World] = []

    def copy(name: str, fill: Callable[[World], object]) -> World:
        def make(homes: Homes, folder: Path) -> Home:
            made = homes.empty(folder)
            world = opened(made)
            fill(world)
            streams_taken[backend, name] = world.streams.taken
            world.server.database.close()
            return made

        template = prototype(backend, f"services-{name}", make)
        made = homes.copy(template, tmp_path / "home")
        copied.append(opened(made, streams_taken[backend, name]))
        return copied[-1]

    yield copy
    for world in copied:
        world.server.database.close()


@pytest.fixture(scope="session")
def keep(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, str], Path]:
    """``keep(name, text)``: a file that stays where it is, for the datasets of templates."""
    folder = tmp_path_factory.mktemp("kept")

    def path_of(name: str, text: str) -> Path:
        path = folder / name
        if not path.exists():
            path.write_text(text, encoding="utf-8")
        assert path.read_text(encoding="utf-8") == text, f"{name} was changed by another test"
        return path

    return path_of


@pytest.fixture
def empty(copy_world: CopyWorld) -> World:
    """A server with nothing in it."""
    return copy_world("empty", lambda _: None)


@pytest.fixture
def world(copy_world: CopyWorld) -> World:
    """Tiers, people and a dataset; no query yet."""
    return copy_world("world", fill)


@pytest.fixture
def visits(copy_world: CopyWorld) -> World:
    """The world with one Gaussian query of three values."""
    return copy_world("visits", fill_and_push)


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
