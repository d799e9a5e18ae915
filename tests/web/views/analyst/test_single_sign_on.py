"""Test signing in at an OpenID provider: the pages, the cookie, the session that follows."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx
import pytest
from oidc_provider_mock import User, run_server_in_thread
from tests.api.openid.provider import Provider
from tests.web.sign_on.coming_back import (
    CLIENT,
    Trusting,
    back,
    begun,
    is_in,
    says,
    through,
)
from tests.web.world import text_of

from penstock.openid.relying_party import LOGOUT_EVENT
from penstock.services.access.principals import OPERATOR
from penstock.services.schemas.people.groups import GroupMappingSpec
from penstock.services.sign_on import mappings
from penstock.web.http.csrf import COOKIE
from penstock.web.views.analyst.single_sign_on import ATTEMPT

pytestmark = pytest.mark.only("sqlite")


@pytest.fixture(scope="module")
def real() -> Iterator[str]:
    """Yield the address of a real provider, where nora is in the group staff."""
    nora = User(sub="7", claims={"preferred_username": "nora", "groups": ["staff", "other"]})
    with run_server_in_thread(require_nonce=True, user_claims=[nora]) as server:
        yield f"http://localhost:{server.server_port}"


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # its own, of Authlib
def test_people_sign_in_at_a_real_provider(trusting: Trusting, real: str) -> None:
    named = {"oidc_claim": "preferred_username", "oidc_groups_claim": "groups"}
    browser = trusting(oidc_issuer=real, oidc_client_secret="hush", oidc_create_users=True, **named)
    browser.world.clock.now = datetime.now(UTC)
    spec = GroupMappingSpec(group="staff", roles=["analyst"], tier="internal")
    mappings.give(browser.world.server, OPERATOR, spec)
    place = begun(browser)
    sent = httpx.post(place, data={"sub": "7"})
    assert sent.status_code == 302, sent.text
    answer = {
        name: texts[0] for name, texts in parse_qs(urlsplit(sent.headers["location"]).query).items()
    }
    page = back(browser, answer)
    assert page.status_code == 200, text_of(page)
    assert "You are signed in as nora" in text_of(page)
    assert 'http-equiv="refresh" content="0;url=/signed-in?next=/queries/visits"' in page.text
    assert "nora" in browser.get("/catalogue").text
    assert "visits" in browser.get("/catalogue").text


def test_the_form_offers_it_where_there_is_a_provider(trusting: Trusting) -> None:
    browser = trusting()
    assert (
        "/sign-in/provider?next=/queries/visits"
        in browser.get("/sign-in?next=/queries/visits").text
    )
    assert "Sign in with your organization" in text_of(browser.get("/"))
    plain = trusting(oidc_client_id="")
    assert "/sign-in/provider" not in plain.get("/sign-in").text
    for path in ("/sign-in/provider", "/sign-in/return?code=x&state=x"):
        assert plain.get(path).status_code in (404, 401)


def test_the_request_says_where_to_come_back_to(trusting: Trusting, provider: Provider) -> None:
    below = trusting(public_url="https://127.0.0.1:8080/penstock")
    answer = below.client.get(
        "/penstock/sign-in/provider",
        base_url="https://127.0.0.1:8080",
        headers={"Accept": "text/html"},
    )
    asked = parse_qs(urlsplit(answer.location).query)
    assert answer.location.startswith(provider.address + "/authorize?")
    assert asked["redirect_uri"] == ["https://127.0.0.1:8080/penstock/sign-in/return"]
    assert (asked["client_id"], asked["response_type"]) == ([CLIENT], ["code"])
    assert asked["scope"] == ["openid profile"]


def test_the_attempts_cookie_is_for_this_host_a_short_time_and_no_script(
    trusting: Trusting,
) -> None:
    cookie = trusting().get("/sign-in/provider").headers["Set-Cookie"]
    name, *attributes = cookie.split("; ")
    assert name.startswith(f"{ATTEMPT}=")
    assert ATTEMPT.startswith("__Host-")
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Lax", "Max-Age=600"} <= set(attributes)


@pytest.mark.parametrize(
    "onward",
    ["https://evil.example.org/", "//evil.example.org", "/\\evil.example.org", "javascript:1"],
)
def test_nobody_is_led_elsewhere(trusting: Trusting, provider: Provider, onward: str) -> None:
    browser = trusting()
    place = browser.get(f"/sign-in/provider?{urlencode({'next': onward})}").location
    page = back(browser, provider.grant(place, says(provider)))
    assert page.status_code == 200
    assert "next=/home" in page.text
    assert "evil" not in page.text


def test_the_session_is_like_any_other(trusting: Trusting, provider: Provider) -> None:
    browser = trusting()
    page = through(browser, provider)
    cookie = next(it for it in page.headers.getlist("Set-Cookie") if it.startswith(f"{COOKIE}="))
    assert {"Secure", "HttpOnly", "Path=/", "SameSite=Strict"} == set(cookie.split("; ")[1:])
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert "no-store" in page.headers["Cache-Control"]
    assert is_in(browser)
    for _ in range(3):  # it does not end with the ID token
        browser.world.clock.now += timedelta(minutes=20)
        assert is_in(browser)
    browser.world.clock.now += timedelta(minutes=30)
    assert not is_in(browser)
    assert through(browser, provider, exp=2_000_000_000).status_code == 200
    assert browser.submit("/sign-out").status_code == 303
    assert not is_in(browser)


def test_people_without_a_user_or_disabled_are_refused_alike(
    trusting: Trusting, provider: Provider
) -> None:
    browser = trusting()
    pages = [through(browser, provider, name) for name in ("nobody", "gone")]
    assert [page.status_code for page in pages] == [403, 403]
    texts = {text_of(page).replace("nobody", "X").replace("gone", "X") for page in pages}
    assert len({text.partition("Ask an admin")[0] for text in texts}) == 1


def test_a_provider_that_is_down_leaves_the_form(trusting: Trusting, provider: Provider) -> None:
    provider.broken = b""
    browser = trusting()
    page = browser.get("/sign-in/provider")
    assert page.status_code == 503
    assert 'name="token"' in page.text
    assert browser.sign_in("ann").status_code == 303


def test_the_provider_ends_sessions(trusting: Trusting, provider: Provider) -> None:
    browser = trusting()
    assert through(browser, provider, sid="s1").status_code == 200
    named: dict[str, Any] = {
        "events": {LOGOUT_EVENT: {}},
        "jti": "n1",
        "sid": "s1",
        "preferred_username": None,
    }
    claims = {name: value for name, value in says(provider, **named).items() if value is not None}
    identity = provider.token("rsa", says(provider, sid="s1"))

    def sent(token: str) -> int:
        # As a provider sends it: neither a cookie nor an origin.
        there = browser.world.client.application.test_client()
        return there.post("/sign-in/provider/log-out", data={"logout_token": token}).status_code

    assert sent(identity) == 400
    assert is_in(browser)
    notice = provider.token("rsa", claims, typ="logout+jwt")
    assert sent(notice) == 200
    assert not is_in(browser)
    assert sent(notice) == 400
    assert sent("") == 400
