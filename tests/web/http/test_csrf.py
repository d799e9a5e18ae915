"""Test that forms are refused unless sent from this server's pages and by their session."""

import pytest
from tests.api.world import World
from tests.web.world import KEY, ORIGIN, Open, text_of

from penstock.web import PAGES

SENT = {
    page.path.replace("<query>", "visits"): page
    for page in PAGES
    if page.verb == "POST" and page.policy.from_pages
}


FOREIGN = [
    *(None, "", "null", "https://elsewhere.example", "http://127.0.0.1:8081"),
    *("http://127.0.0.1", "https://127.0.0.1.elsewhere.example:8080", f"{ORIGIN}.example"),
]


SENDERS = {"ian": "analyst", "root": "admin"}


def sent_by(name: str) -> list[str]:
    """Return the forms that a user's role may send."""
    return [
        path
        for path, page in SENT.items()
        if not page.policy.roles or SENDERS[name] in page.policy.roles
    ]


def events(world: World) -> object:
    return world.answer("GET", "/api/v1/audit/events?limit=1000", by="olga")


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_form_from_elsewhere_is_refused(browse: Open, world: World, origin: str | None) -> None:
    before = events(world)
    for name in SENDERS:
        browser = browse(name)
        key = browser.form_key()
        for path in sent_by(name):
            answer = browser.send(path, origin, form_key=key, token=world.tokens[name])
            assert answer.status_code == 403, path
            assert "Nothing was done" in text_of(answer)
            assert "Set-Cookie" not in answer.headers
        assert browser.get("/catalogue").status_code == 200
    assert events(world) == before


@pytest.mark.parametrize("origin", [ORIGIN, "https://127.0.0.1:8080", "HTTP://127.0.0.1:8080"])
def test_a_form_of_our_own_is_read(browse: Open, origin: str) -> None:
    browser = browse("ian")
    key = browser.form_key()
    assert browser.send("/queries/visits/releases", origin, form_key=key).status_code == 303


@pytest.mark.parametrize("key", ["", "0" * 64, "é", "another"])
def test_a_form_without_the_sessions_key_is_refused(browse: Open, world: World, key: str) -> None:
    before = events(world)
    for name in SENDERS:
        browser, other = browse(name), browse(name)
        sent = other.form_key() if key == "another" else key
        for path in sent_by(name):
            if SENT[path].policy.needs_session:
                answer = browser.send(path, form_key=sent)
                assert answer.status_code == 403, path
                assert "does not belong to this session" in text_of(answer)
    assert events(world) == before


def test_a_form_of_the_session_before_is_refused(browse: Open) -> None:
    """Two tabs: in one of them somebody else has signed in meanwhile."""
    browser = browse("ian")
    key = browser.form_key()
    browser.sign_in("ann")
    assert browser.send("/queries/visits/releases", form_key=key).status_code == 403


def test_every_form_that_is_sent_carries_the_key(browse: Open) -> None:
    browser = browse("ian")
    for path in ("/catalogue", "/queries/visits", "/queries/visits/request?tier=public"):
        page = browser.get(path).text
        forms = [form.partition("</form>")[0] for form in page.split("<form")[1:]]
        sent = [form for form in forms if 'method="post"' in form]
        assert sent
        assert all(KEY.search(form) for form in sent), path
