"""Provide one furnished home per database and session, copied for tests that change it."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from joserfc.jwk import RSAKey
from tests.api.openid.provider import Provider, rsa
from tests.api.openid.provider import serving as serving_provider
from tests.api.world import World, copies, open_world
from tests.databases.homes import SQLITE, Home, Homes
from tests.web.browser.sound import EVERY, ONCE, Views
from tests.web.served import Served, serving
from tests.web.sign_on.coming_back import Trusting, settings
from tests.web.templates import compiled_once
from tests.web.world import Browser, Grown, Open, furnish

from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserSpec

if TYPE_CHECKING:
    from playwright.sync_api import Browser as Chromium
    from tests.web.browser.screens import Screen

FurnishedOn = Callable[[str], tuple[Home, dict[str, str]]]


@pytest.fixture(scope="session", autouse=True)
def _templates() -> Iterator[None]:
    """Compile templates once, not for each test's application."""
    with compiled_once():
        yield


@pytest.fixture(scope="session")
def page_tokens() -> dict[str, dict[str, str]]:
    """Return the tokens of the furnished home's users, by the kind of its database."""
    return {}


@pytest.fixture(scope="session")
def furnished_on(
    prototype: Callable[..., Home], page_tokens: dict[str, dict[str, str]]
) -> FurnishedOn:
    """Provide, by kind of database, a home that nobody changes, and its users' tokens."""

    def found(backend: str) -> tuple[Home, dict[str, str]]:
        def make(homes: Homes, folder: Path) -> Home:
            made = homes.empty(folder)
            page_tokens[backend] = furnish(made, folder.parent)
            return made

        return prototype(backend, "pages", make), page_tokens[backend]

    return found


@pytest.fixture
def furnished(backend: str, furnished_on: FurnishedOn) -> tuple[Home, dict[str, str]]:
    """Return the home that nobody changes, and the tokens of its users."""
    return furnished_on(backend)


@pytest.fixture
def grown(
    backend: str,
    furnished: tuple[Home, dict[str, str]],
    prototype: Callable[..., Home],
    homes: Homes,
    tmp_path: Path,
) -> Iterator[Grown]:
    """Provide ``grown(name, fill)``: a copy of the furnished home and what ``fill`` added first."""
    opened: list[World] = []
    original, known = furnished

    def copy(name: str, fill: Callable[[World], None]) -> World:
        def make(homes: Homes, folder: Path) -> Home:
            made = homes.copy(original, folder)
            world = open_world(made, dict(known))
            fill(world)
            world.server.database.close()
            return made

        template = prototype(backend, f"pages-{name}", make)
        opened.append(open_world(homes.copy(template, tmp_path / "grown"), dict(known)))
        return opened[-1]

    yield copy
    for world in opened:
        world.server.database.close()


@pytest.fixture
def open_copy(
    furnished: tuple[Home, dict[str, str]], homes: Homes, tmp_path: Path
) -> Iterator[Callable[..., World]]:
    """Open a copy of the furnished home, with settings of one's own."""
    yield from copies(*furnished, homes, tmp_path)


@pytest.fixture
def world(open_copy: Callable[..., World]) -> World:
    """Return a copy of the furnished home with the usual settings."""
    return open_copy()


@pytest.fixture
def browse(world: World) -> Open:
    """Open a browser, signed in by name or not at all."""

    def opened(name: str | None = None) -> Browser:
        browser = Browser(world, world.client.application.test_client())
        if name is not None:
            assert browser.sign_in(name).status_code == 303
        return browser

    return opened


@pytest.fixture
def root(browse: Open) -> Browser:
    """Return an admin at the pages."""
    return browse("root")


@pytest.fixture
def two_admins(open_copy: Callable[..., World]) -> tuple[World, Browser, Browser]:
    """Return a server under the two-person rule, and two admins at its pages."""
    ruled = open_copy(two_person_rule=True)
    users.create(ruled.server, OPERATOR, UserSpec(name="rita", roles=["admin"]))
    ruled.tokens["rita"] = tokens.issue(ruled.server, OPERATOR, "rita", TokenSpec()).token
    found = [Browser(ruled, ruled.client.application.test_client()) for _ in range(2)]
    for browser, name in zip(found, ("root", "rita"), strict=True):
        assert browser.sign_in(name).status_code == 303
    return ruled, found[0], found[1]


@pytest.fixture
def unchanged(world: World) -> Iterator[None]:
    """Require that nothing is written to the log meanwhile."""
    path = "/api/v1/audit/events?limit=1000"
    before = world.answer("GET", path, by="olga")
    yield
    assert world.answer("GET", path, by="olga") == before


@pytest.fixture(scope="session")
def served(furnished_on: FurnishedOn, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """Yield a server that goes on, for the browser; each test brings its own people."""
    original, _ = furnished_on(SQLITE)
    with serving(original, tmp_path_factory.mktemp("served")) as found:
        yield found


@pytest.fixture(scope="session")
def chromium() -> "Iterator[Chromium]":
    """Yield a browser without a screen."""
    from tests.web.browser import screens

    with screens.chromium() as browser:
        yield browser


@pytest.fixture
def open_screen(chromium: "Chromium", served: Served) -> Iterator[Callable[..., "Screen"]]:
    """Open windows, which are looked through for faults when the test ends."""
    from tests.web.browser import screens

    with contextlib.ExitStack() as opened:

        def make(**options: Any) -> "Screen":
            return opened.enter_context(screens.screen(chromium, served.url, **options))

        yield make


@pytest.fixture(
    params=[
        pytest.param(ONCE, id="once"),
        pytest.param(EVERY, id="every", marks=pytest.mark.nightly),
    ]
)
def views(request: pytest.FixtureRequest) -> Views:
    """Return widths and colors at which pages are looked at."""
    found: Views = request.param
    return found


@pytest.fixture
def window(open_screen: Callable[..., "Screen"]) -> "Screen":
    """Return one window at a desk."""
    return open_screen()


@pytest.fixture(scope="session")
def provider_key() -> RSAKey:
    """Return the provider's key, which takes a while to make."""
    return rsa("rsa")


@pytest.fixture
def provider(provider_key: RSAKey) -> Iterator[Provider]:
    """Yield an OpenID provider with one key."""
    with serving_provider() as found:
        found.add("rsa", provider_key)
        yield found


@pytest.fixture
def trusting(open_copy: Callable[..., World], provider: Provider) -> Trusting:
    """Provide a new browser of a server that trusts the provider, with the caller's settings."""

    def made(**more: Any) -> Browser:
        world = open_copy(**settings(provider, **more))
        return Browser(world, world.client.application.test_client())

    return made
