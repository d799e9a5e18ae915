"""Test that a real provider ends a session in Chromium, and that no other notice ends one.

The provider is on ``localhost`` and the server on ``127.0.0.1``: two sites, as a browser sees it.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import flask
import httpx
import pytest
from joserfc import jwt
from joserfc.jwk import RSAKey
from oidc_provider_mock import User, run_server_in_thread
from tests.api.openid.provider import AUDIENCE, rsa
from tests.databases.homes import SQLITE, Home
from tests.web.browser.opening import Open
from tests.web.browser.screens import Screen
from tests.web.served import Served, serving
from tests.web.sign_on.coming_back import CLIENT

from penstock.openid.relying_party import LOGOUT_EVENT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # the provider's own, of Authlib
]

LOOK = "https://cdn.jsdelivr.net/"
"""Where the provider's pages have their style from, which no test needs."""

PEOPLE = {"ann": "7", "ian": "8"}
"""The provider's accounts, by the name of the user here."""


class Organization:
    """Hold a running provider: its address, and notices as it sends and signs them."""

    def __init__(self, app: flask.Flask, port: int) -> None:
        self.url = f"http://localhost:{port}"
        with app.test_request_context():
            app.preprocess_request()
            self.key = RSAKey.import_key(
                flask.g.oidc_provider_mock_storage.jwk.as_dict(is_private=True)
            )

    def notice(self, name: str, key: RSAKey | None = None, **changes: Any) -> str:
        """Return a notice that somebody's sessions end; a change to None leaves a claim out."""
        now = int(time.time())
        usual = {
            "iss": self.url,
            "aud": CLIENT,
            "iat": now,
            "exp": now + 120,
            "jti": f"{name} at {time.time_ns()}",
            "sub": PEOPLE[name],
            "events": {LOGOUT_EVENT: {}},
        }
        claims = {name: value for name, value in {**usual, **changes}.items() if value is not None}
        header = {"alg": "RS256", "typ": "logout+jwt", "kid": self.key.thumbprint()}
        return jwt.encode(header, claims, key or self.key)


@pytest.fixture(scope="module")
def organization() -> Iterator[Organization]:
    accounts = [User(sub=PEOPLE[name], claims={"preferred_username": name}) for name in PEOPLE]
    with run_server_in_thread(require_nonce=True, user_claims=accounts) as server:
        assert isinstance(server.app, flask.Flask)
        yield Organization(server.app, server.server_port)


@pytest.fixture(scope="module")
def served(
    furnished_on: Callable[[str], tuple[Home, dict[str, str]]],
    organization: Organization,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Served]:
    """Yield a server whose people sign in at the organization."""
    settings = {
        "PENSTOCK_OIDC_ISSUER": organization.url,
        "PENSTOCK_OIDC_AUDIENCE": AUDIENCE,
        "PENSTOCK_OIDC_CLIENT_ID": CLIENT,
        "PENSTOCK_OIDC_CLIENT_SECRET": "hush",
        "PENSTOCK_OIDC_CLAIM": "preferred_username",
    }
    original, _ = furnished_on(SQLITE)
    with serving(original, tmp_path_factory.mktemp("trusting"), settings) as found:
        yield found


@pytest.fixture
def sign_in(open_screen: Open, organization: Organization) -> Callable[[str], Screen]:
    """Open somebody's window, in which they signed in at the provider and read a page."""

    def opened(name: str) -> Screen:
        window = open_screen()
        window.others += [f"{organization.url}/", LOOK]
        window.page.route(f"{LOOK}**", lambda route: route.fulfill(content_type="text/css"))
        window.go("/queries/visits")
        through(window, name)
        return window

    return opened


def through(window: Screen, name: str) -> None:
    """Go from the form to the provider and back to the page, which was requested before."""
    window.page.get_by_role("button", name="Sign in with your organization").click()
    window.page.get_by_role("button", name=PEOPLE[name], exact=True).click()
    window.page.wait_for_url(f"{window.url}/queries/visits")
    shows_visits(window)


def shows_visits(window: Screen) -> None:
    """Require that the page of a query is shown to somebody who is signed in."""
    window.go("/queries/visits")
    window.page.get_by_role("heading", name="visits", level=1).wait_for()


def sent(served: Served, token: str) -> int:
    """Send a notice as the provider does, and return the status."""
    place = f"{served.url}/sign-in/provider/log-out"
    return httpx.post(place, data={"logout_token": token}, timeout=60).status_code


def test_the_next_page_asks_to_sign_in_again_and_then_shows_what_was_asked_for(
    served: Served, organization: Organization, sign_in: Callable[[str], Screen]
) -> None:
    ann, elsewhere, ian = sign_in("ann"), sign_in("ann"), sign_in("ian")
    assert sent(served, token := organization.notice("ann")) == 200
    for window in (ann, elsewhere):
        window.page.reload()
        window.reads("Your session has ended.")
        assert window.page.url.startswith(f"{served.url}/sign-in?next=/queries/visits")
    shows_visits(ian)
    through(ann, "ann")
    assert sent(served, token) == 400
    shows_visits(ann)
    shows_visits(ian)


def test_a_notice_that_is_not_the_providers_or_is_over_ends_nothing(
    served: Served, organization: Organization, sign_in: Callable[[str], Screen]
) -> None:
    ann = sign_in("ann")
    past = int(time.time()) - 600
    for token in (
        organization.notice("ann", key=rsa("forged")),
        organization.notice("ann", iat=past, exp=past + 120),
        organization.notice("ann", aud="another"),
        organization.notice("ann", events=None),
    ):
        assert sent(served, token) == 400
        shows_visits(ann)
    assert sent(served, organization.notice("ian")) == 200
    shows_visits(ann)
