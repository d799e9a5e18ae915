"""Test the choice between light and dark pages."""

import pytest
from tests.web.world import HOST, ORIGIN, Browser, Open

from penstock.web.http.request_context import SCHEME_COOKIE

COOKIE_LIFE = "Max-Age=31536000"


def attribute(browser: Browser, path: str) -> str:
    """Return what the root element of a page has for its colors."""
    return browser.get(path).text.partition("<html")[2].partition(">")[0].strip()


@pytest.mark.parametrize("caller", [None, "ann"])
def test_whoever_chooses_sees_every_page_so_and_comes_back(
    browse: Open, caller: str | None
) -> None:
    browser = browse(caller) if caller else browse()
    here = "/history?tier=public" if caller else "/sign-in"
    assert attribute(browser, here) == 'lang="en"'
    answer = browser.send("/scheme", scheme="dark", next=here)
    assert (answer.status_code, answer.location) == (303, here)
    assert attribute(browser, here) == 'lang="en" data-scheme="dark"'
    assert attribute(browser, "/?about=1") == 'lang="en" data-scheme="dark"'
    browser.send("/scheme", scheme="", next=here)
    assert attribute(browser, here) == 'lang="en"'


def test_the_cookie_holds_the_choice_and_nothing_else(browse: Open) -> None:
    answer = browse("ann").send("/scheme", scheme="light", next="/")
    (kept,) = answer.headers.getlist("Set-Cookie")
    pair, *attributes = kept.split("; ")
    assert pair == f"{SCHEME_COOKIE}=light"
    assert {"Secure", "HttpOnly", COOKIE_LIFE, "Path=/", "SameSite=Strict"} <= set(attributes)


@pytest.mark.parametrize(
    "onward",
    ["https://example.org/", "//example.org/", "/\\example.org", "javascript:alert(1)", ""],
)
def test_the_choice_leads_to_no_other_site(browse: Open, onward: str) -> None:
    assert browse().send("/scheme", scheme="dark", next=onward).location == "/"


@pytest.mark.parametrize(
    ("before", "place"),
    [
        (f"{ORIGIN}/history?tier=public&query=a%20b", "/history?tier=public&query=a%20b"),
        (f"{ORIGIN}/budgets?cursor=x", "/history"),
        ("https://example.org/?a=b", "/history"),
        ("", "/history"),
    ],
)
def test_what_was_asked_of_the_page_is_kept(browse: Open, before: str, place: str) -> None:
    answer = browse().client.post(
        "/scheme",
        base_url=HOST,
        headers={"Origin": ORIGIN, "Referer": before},
        data={"scheme": "dark", "next": "/history"},
    )
    assert answer.location == place


def test_a_form_of_another_site_chooses_nothing(browse: Open) -> None:
    browser = browse()
    answer = browser.send("/scheme", origin="https://example.org", scheme="dark", next="/")
    assert answer.status_code == 403
    assert attribute(browser, "/") == 'lang="en"'


@pytest.mark.parametrize("scheme", ["blue", '"><b>', "DARK"])
def test_an_unknown_choice_is_the_system_s(browse: Open, scheme: str) -> None:
    browser = browse()
    browser.send("/scheme", scheme=scheme, next="/")
    assert attribute(browser, "/") == 'lang="en"'
    browser.client.set_cookie(SCHEME_COOKIE, scheme, domain="127.0.0.1")
    assert attribute(browser, "/") == 'lang="en"'


def test_a_page_that_shows_a_sent_form_has_no_switch_which_would_lose_it(browse: Open) -> None:
    root = browse("root")
    assert 'action="/scheme"' in root.get("/users").text
    refused = root.submit("/users", name="", once="1")
    assert refused.status_code == 422
    assert 'action="/scheme"' not in refused.text
