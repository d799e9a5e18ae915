"""Provide a whole server in a temporary home, with a fixed clock and noise from fixed keys."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.databases.homes import Home, Homes
from tests.unit.worlds import (
    Clock,
    CopyWorld,
    Restore,
    Streams,
    World,
    fill,
    fill_and_push,
    push_long,
)

from penstock.services.operations import home


def opened(made: Home, taken: int = 0) -> World:
    """Open a home at the start of its time, after ``taken`` streams of noise."""
    clock, streams = Clock(), Streams(taken)
    server = home.open_server(made.settings(), clock=clock, randomness=streams)
    return World(server, clock, streams)


@pytest.fixture(scope="session")
def streams_taken() -> dict[tuple[str, str], int]:
    """Return how many streams of noise the making of each template took."""
    return {}


@pytest.fixture
def copy_world(
    backend: str,
    homes: Homes,
    prototype: Callable[..., Home],
    streams_taken: dict[tuple[str, str], int],
    tmp_path: Path,
) -> Iterator[CopyWorld]:
    """Provide ``copy_world(name, fill)``: a copy of the world that ``fill`` filled at first.

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
    """Provide ``keep(name, text)``: a file that stays where it is, for templates' datasets."""
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
    """Return a server with nothing in it."""
    return copy_world("empty", lambda _: None)


@pytest.fixture
def world(copy_world: CopyWorld) -> World:
    """Return a world with tiers, people and a dataset; no query yet."""
    return copy_world("world", fill)


@pytest.fixture
def visits(copy_world: CopyWorld) -> World:
    """Return the world with one Gaussian query of three values."""
    return copy_world("visits", fill_and_push)


@pytest.fixture
def long(world: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """Return the world with one Gaussian query of twenty values in three chunks."""
    push_long(world, monkeypatch)
    return world


@pytest.fixture
def restore(visits: World, homes: Homes, tmp_path: Path, backend: str) -> Restore:
    """Keep the database as it is now; put it back beside the keys and witness of then."""
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
