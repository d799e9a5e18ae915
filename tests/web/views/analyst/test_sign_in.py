"""Test signing in, staying, and leaving."""

from collections.abc import Callable, Iterator
from datetime import timedelta

import pytest
from tests.api.openid.provider import AUDIENCE, Provider, rsa, serving
from tests.api.world import START, World
from tests.web.world import Browser, Open, text_of

from penstock.http import access_log
from penstock.services.access.principals import OPERATOR
from penstock.services.people import tokens, users
from penstock.services.schemas.people.users import UserChange
from penstock.web.http.csrf import COOKIE

HERE = "/queries/visits"


def is_out(browser: Browser) -> bool:
    """Return whether the browser is led to the sign-in page."""
    response = browser.get("/catalogue")
    assert response.status_code in (200, 303)
    return response.status_code == 303


def test_a_token_begins_a_session_and_leads_on(browse: Open) -> None:
    browser = browse()
    answer = browser.get(HERE)
    assert (answer.status_code, answer.location) == (303, "/sign-in?next=/queries/visits")
    answer = browser.sign_in("ann", HERE)
    assert (answer.status_code, answer.location) == (303, "/signed-in?next=/queries/visits")
    assert browser.get(answer.location).location == HERE
    assert browser.get(HERE).status_code == 200


def test_the_cookie_is_for_this_host_and_no_script(browse: Open) -> None:
    cookie = browse().sign_in("ann").headers["Set-Cookie"]
    name, *attributes = cookie.split("; ")
    assert name.startswith(f"{COOKIE}=")
    assert COOKIE.startswith("__Host-")
    assert set(attributes) == {"Secure", "HttpOnly", "Path=/", "SameSite=Strict"}


def test_neither_token_nor_session_stands_on_a_page(browse: Open, world: World) -> None:
    browser = browse("ann")
    cookie = browser.client.get_cookie(COOKIE, "127.0.0.1")
    assert cookie is not None
    page = browser.get(HERE).text
    assert cookie.value not in page
    assert world.tokens["ann"] not in page


@pytest.mark.parametrize("name", ["malformed", "expired", "revoked", "gone"])
def test_no_other_token_signs_in_and_all_are_refused_in_the_same_words(
    browse: Open, name: str
) -> None:
    browser = browse()
    answer = browser.sign_in(name)
    assert answer.status_code == 401
    assert "The token is malformed, unknown, expired or revoked" in text_of(answer)
    assert "Set-Cookie" not in answer.headers
    assert browser.world.tokens[name] not in answer.text
    assert is_out(browser)


def test_failed_sign_ins_are_limited_as_bad_tokens_are(browse: Open) -> None:
    browser = browse()
    assert [browser.sign_in("malformed").status_code for _ in range(11)] == [401] * 10 + [429]
    assert "Retry-After" in browser.sign_in("malformed").headers
    over_http = browser.world.call("GET", "/api/v1/me", by="malformed")
    assert over_http.status_code == 429


def test_requests_of_pages_and_api_are_limited_together(open_copy: Callable[..., World]) -> None:
    world = open_copy(request_burst=3, request_rate=0.001)
    browser = Browser(world, world.client.application.test_client())
    assert browser.sign_in("ann").status_code == 303
    assert browser.get("/catalogue").status_code == 200
    assert world.call("GET", "/api/v1/me", by="ann").status_code == 200
    refused = browser.get("/catalogue")
    assert refused.status_code == 429
    assert "Retry-After" in refused.headers
    assert "3 requests at once" in text_of(refused)


def test_the_log_of_requests_names_who_asked(browse: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[tuple[object, object]] = []
    monkeypatch.setattr(
        access_log,
        "answered",
        lambda _, **fields: logged.append((fields["route"], fields["caller"])),
    )
    browser = browse("ann")
    browser.get("/queries/visits")
    browser.get("/sign-in")
    names = [("/sign-in", "ann"), ("/queries/<query>", "ann"), ("/sign-in", None)]
    assert logged == names


def test_the_first_page_knows_who_is_signed_in(browse: Open) -> None:
    assert 'name="token"' in browse().get("/").text
    browser = browse("ann")
    answer = browser.get("/")
    assert (answer.status_code, answer.location) == (303, "/home")
    page = browser.get("/?about=1").text
    assert 'name="token"' not in page
    assert "You are signed in." in page


def test_signing_out_ends_the_session(browse: Open) -> None:
    browser = browse("ann")
    before = browser.client.get_cookie(COOKIE, "127.0.0.1")
    assert before is not None
    answer = browser.submit("/sign-out")
    assert (answer.status_code, answer.location) == (303, "/sign-in?left=1")
    assert is_out(browser)
    browser.client.set_cookie(COOKIE, before.value, domain="127.0.0.1", secure=True)
    assert is_out(browser)


def test_signing_in_again_ends_the_session_before(browse: Open) -> None:
    browser = browse("ann")
    before = browser.client.get_cookie(COOKIE, "127.0.0.1")
    assert before is not None
    browser.sign_in("ian")
    other = browse()
    other.client.set_cookie(COOKIE, before.value, domain="127.0.0.1", secure=True)
    assert is_out(other)
    assert "ian" in browser.get("/catalogue").text


def test_an_expired_session_leads_to_the_form_and_back(browse: Open, world: World) -> None:
    browser = browse("ann")
    world.clock.now += timedelta(minutes=30)
    answer = browser.get("/history?query=visits")
    assert answer.location == "/sign-in?next=/history?query%3Dvisits&ended=1"
    assert "Your session has ended" in text_of(browser.get(answer.location))


def test_a_form_of_an_expired_session_does_nothing(browse: Open, world: World) -> None:
    browser = browse("ian")
    key = browser.form_key()
    world.clock.now += timedelta(hours=12)
    before = world.answer("GET", "/api/v1/releases", by="olga")
    answer = browser.send("/queries/visits/releases", form_key=key)
    assert answer.status_code == 401
    assert "Nothing was done" in text_of(answer)
    assert world.answer("GET", "/api/v1/releases", by="olga") == before


def test_revoking_disabling_and_changing_roles_act_at_once(browse: Open, world: World) -> None:
    ann, ian = browse("ann"), browse("ian")
    tokens.revoke(world.server, OPERATOR, "ann", world.tokens["ann"].split("_")[1])
    assert is_out(ann)
    users.change(world.server, OPERATOR, "ian", UserChange(roles=["auditor"]))
    assert ian.submit("/queries/visits/releases").status_code == 403
    users.disable(world.server, OPERATOR, "ian")
    assert is_out(ian)


@pytest.mark.parametrize(
    "onward",
    ["https://elsewhere.example/", "//elsewhere.example", "/\\elsewhere.example", "x", "", "/a\tb"],
)
def test_nobody_is_led_to_another_site(browse: Open, onward: str) -> None:
    answer = browse().sign_in("ann", onward)
    assert answer.location == "/signed-in?next=/home"


def test_who_keeps_no_cookie_is_told_so(browse: Open) -> None:
    answer = browse().get("/signed-in?next=/catalogue")
    assert answer.status_code == 400
    assert "did not keep the session" in text_of(answer)


def test_nobody_signs_in_where_anybody_could_listen(open_copy: Callable[..., World]) -> None:
    world = open_copy(public_url="http://penstock.example:8080")
    browser = Browser(world, world.client.application.test_client())
    page = browser.get("/sign-in")
    assert "Nobody can sign in here" in text_of(page)
    assert 'name="token"' not in page.text


@pytest.fixture
def provider() -> Iterator[Provider]:
    with serving() as provider:
        provider.add("rsa", rsa("rsa"))
        yield provider


def test_a_token_of_the_identity_provider_signs_in_until_it_ends(
    open_copy: Callable[..., World], provider: Provider
) -> None:
    world = open_copy(oidc_issuer=provider.address, oidc_audience=AUDIENCE)
    ends = int(START.timestamp()) + 300
    claims = {"iss": provider.address, "aud": AUDIENCE, "sub": "ann", "exp": ends}
    world.tokens["bearer"] = provider.token("rsa", claims)
    browser = Browser(world, world.client.application.test_client())
    assert "identity provider" in text_of(browser.get("/sign-in"))
    assert browser.sign_in("bearer").status_code == 303
    assert "ann" in browser.get("/catalogue").text
    world.clock.now += timedelta(seconds=300)
    assert is_out(browser)


def test_whoever_comes_while_the_identity_provider_is_away_is_told_so(
    open_copy: Callable[..., World], provider: Provider
) -> None:
    world = open_copy(oidc_issuer=provider.address, oidc_audience=AUDIENCE)
    ends = int(START.timestamp()) + 300
    claims = {"iss": provider.address, "aud": AUDIENCE, "sub": "ann", "exp": ends}
    world.tokens["bearer"] = provider.token("rsa", claims)
    provider.broken = b"<h1>502 Bad Gateway</h1>"
    browser = Browser(world, world.client.application.test_client())
    answer = browser.sign_in("bearer", "/history")
    assert (answer.status_code, answer.mimetype) == (503, "text/html")
    assert "Set-Cookie" not in answer.headers
    assert 'role="alert"' in answer.text
    assert 'name="token"' in answer.text
    assert 'name="next" value="/history"' in answer.text
    assert "502 Bad Gateway" not in answer.text
    assert world.tokens["bearer"] not in answer.text
    assert browser.sign_in("ann").status_code == 303
