"""One furnished home a session, copied for every test that calls the server."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.api.world import World, furnish, open_world


@pytest.fixture(scope="session")
def furnished(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str]]:
    """A home that nobody changes, and the tokens of its users."""
    folder = tmp_path_factory.mktemp("furnished") / "home"
    return folder, furnish(folder)


@pytest.fixture
def open_copy(
    furnished: tuple[Path, dict[str, str]], tmp_path: Path
) -> Iterator[Callable[..., World]]:
    """Open a copy of the furnished home, with settings of one's own."""
    folder, tokens = furnished
    opened: list[World] = []

    def make(**settings: Any) -> World:
        copy = tmp_path / f"home-{len(opened)}"
        shutil.copytree(folder, copy)
        opened.append(open_world(copy, dict(tokens), **settings))
        return opened[-1]

    yield make
    for world in opened:
        world.server.database.close()


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    """A copy of the furnished home with the usual settings."""
    return open_copy()
