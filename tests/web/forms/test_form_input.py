"""Forms: sent from our own pages, by the session that they were made for, or not at all."""

import re

import pytest
from tests.api.world import World
from tests.web.world import KEY, ORIGIN, Open, text_of

from penstock.web import PAGES

SENT = {page.path.replace("<query>", "visits"): page for page in PAGES if page.verb == "POST"}
FOREIGN = [
    *(None, "", "null", "https://elsewhere.example", "http://127.0.0.1:8081"),
    *("http://127.0.0.1", "https://127.0.0.1.elsewhere.example:8080", f"{ORIGIN}.example"),
]


SENDERS = {"ian": "analyst", "root": "admin"}


def sent_by(name: str) -> list[str]:
    """The forms that somebody's role may send."""
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
            assert "nothing was done" in text_of(answer)
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
                assert "not one of this session" in text_of(answer)
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


def test_a_form_that_is_too_large_is_not_read(browse: Open) -> None:
    browser = browse("ian")
    answer = browser.submit("/queries/visits/releases", more="x" * 70_000)
    assert answer.status_code == 413
    assert "<h1>" in answer.text


@pytest.mark.parametrize("epsilon", ["x", "-1", "0", "nan", "inf", "1e999", "9" * 5000, "\u0660"])
def test_a_number_that_cannot_be_meant_is_refused_in_words(browse: Open, epsilon: str) -> None:
    browser = browse("ian")
    answer = browser.get("/queries/visits/request?epsilon=" + epsilon)
    assert answer.status_code == 422
    assert "number above 0" in text_of(answer)
    assert browser.submit("/queries/visits/releases", epsilon=epsilon).status_code == 422


SHOWN = re.compile(r'name="shown" value="([^"]+)"')


@pytest.mark.parametrize("path", ["/queries/visits", "/queries/visits/request?tier="])
def test_a_level_that_was_not_shown_is_not_handed_out(
    browse: Open, world: World, path: str
) -> None:
    """Somebody is moved up while they read what a request would mean."""
    browser = browse("ann")
    shown = SHOWN.search(browser.get(path).text)
    assert shown is not None
    world.answer("PATCH", "/api/v1/users/ann", {"clearance": "internal"}, by="root")
    before = events(world)
    answer = browser.submit("/queries/visits/releases", shown=shown.group(1))
    assert answer.status_code == 409
    assert "no longer so" in text_of(answer)
    assert "than tier internal may have" in text_of(answer)
    assert events(world) == before
    anew = SHOWN.search(answer.text)
    assert anew is not None
    assert browser.submit("/queries/visits/releases", shown=anew.group(1)).status_code == 303


def test_asking_twice_hands_out_the_same_once(browse: Open, world: World) -> None:
    browser = browse("ian")
    first, second = (browser.submit("/queries/visits/releases").location for _ in range(2))
    assert first == f"{second}&first=1"
    held = world.answer("GET", "/api/v1/releases?query=visits", by="ian")["items"]
    assert len(held) == 1
    assert held[0]["id"] in first


def test_the_key_of_a_form_stands_for_what_was_sent_with_it_and_where(
    browse: Open, world: World
) -> None:
    root = browse("root")
    sent = {"name": "partner", "above": "public", "once": "1"}
    assert root.submit("/tiers", **sent).status_code == 303
    before = events(world)
    other = root.submit("/tiers", **{**sent, "name": "other"})
    elsewhere = root.submit("/users/ann/tokens", **sent)
    for answer in (other, elsewhere):
        assert answer.status_code == 409
        assert "sent before with something else" in text_of(answer)
    assert events(world) == before
