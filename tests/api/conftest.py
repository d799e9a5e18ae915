"""One furnished home a database and session, copied for every test that calls the server."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.api.world import World, copies, furnish
from tests.databases.homes import Home, Homes


@pytest.fixture(scope="session")
def tokens() -> dict[str, dict[str, str]]:
    """The tokens of the furnished home's users, by the kind of its database."""
    return {}


@pytest.fixture
def furnished(
    backend: str,
    prototype: Callable[..., Home],
    tokens: dict[str, dict[str, str]],
) -> tuple[Home, dict[str, str]]:
    """A home that nobody changes, and the tokens of its users."""

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
    """Open a copy of the furnished home, with settings of one's own."""
    yield from copies(*furnished, homes, tmp_path)


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    """A copy of the furnished home with the usual settings."""
    return open_copy()
