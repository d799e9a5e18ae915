"""Provide one furnished home per database and session, copied for every test of the server."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.world import Streams, World, copies, furnish, open_world
from tests.databases.homes import Home, Homes


@pytest.fixture(scope="session")
def tokens() -> dict[str, dict[str, str]]:
    """Return the tokens of the furnished home's users, by the kind of its database."""
    return {}


@pytest.fixture
def furnished(
    backend: str,
    prototype: Callable[..., Home],
    tokens: dict[str, dict[str, str]],
) -> tuple[Home, dict[str, str]]:
    """Return a home that nobody changes, and the tokens of its users."""

    def make(homes: Homes, folder: Path) -> Home:
        made = homes.empty(folder)
        tokens[backend] = furnish(made)
        return made

    made = prototype(backend, "furnished", make)
    return made, tokens[backend]


@pytest.fixture
def open_copy(
    furnished: tuple[Home, dict[str, str]], homes: Homes, tmp_path: Path
) -> Iterator[Callable[..., World]]:
    """Open a copy of the furnished home, with the caller's settings."""
    yield from copies(*furnished, homes, tmp_path)


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    """Return a copy of the furnished home with the usual settings."""
    return open_copy()


Grow = Callable[..., World]


@pytest.fixture(scope="session")
def grown() -> dict[tuple[str, str], tuple[dict[str, str], int]]:
    """Return, for each template, its users' tokens and how many streams its making took."""
    return {}


@pytest.fixture
def grow(
    backend: str,
    furnished: tuple[Home, dict[str, str]],
    homes: Homes,
    prototype: Callable[..., Home],
    grown: dict[tuple[str, str], tuple[dict[str, str], int]],
    tmp_path: Path,
) -> Iterator[Grow]:
    """Provide ``grow(name, fill)``: a copy of the furnished home with what ``fill`` adds to it.

    It is filled once per process. ``fill`` receives the world and a folder that stays.
    """
    opened: list[World] = []

    def make(name: str, fill: Callable[[World, Path], None], **settings: Any) -> World:
        def build(makers: Homes, folder: Path) -> Home:
            copy = makers.copy(furnished[0], folder)
            world = open_world(copy, dict(furnished[1]), **settings)
            fill(world, folder.parent)
            streams = world.server.randomness
            assert isinstance(streams, Streams)
            grown[backend, name] = world.tokens, streams.taken
            world.server.database.close()
            return copy

        original = prototype(backend, f"grown-{name}", build)
        tokens, taken = grown[backend, name]
        copy = homes.copy(original, tmp_path / f"grown-{len(opened)}")
        opened.append(open_world(copy, dict(tokens), taken=taken, **settings))
        return opened[-1]

    yield make
    for world in opened:
        world.server.database.close()
