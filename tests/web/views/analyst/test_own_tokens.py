"""Test a user's own tokens: issued and revoked by the user, and by nobody else."""

import re

from sqlmodel import select
from tests.api.world import World
from tests.web.every_page.contents import LARGEST_PAGE, require_own, weight
from tests.web.views.people.acting import follow, once
from tests.web.world import Browser, Open, text_of

from penstock.persistence.tables import Idempotency

TOKEN = re.compile(r"pst_[\w-]+")


def issued(browser: Browser, **fields: str) -> str:
    """Return a new token of whoever browses."""
    shown = browser.submit("/tokens", once=once(browser, "/tokens"), **fields)
    token = TOKEN.search(shown.text)
    assert token is not None, text_of(shown)
    assert 'href="/tokens"' in shown.text
    return token.group()


def test_an_analyst_issues_a_token_and_revokes_it(browse: Open, world: World) -> None:
    ann = browse("ann")
    require_own(ann.get("/tokens"), "/tokens")
    assert weight(ann, ann.get("/tokens").text) < LARGEST_PAGE
    key = once(ann, "/tokens")
    first = ann.submit("/tokens", once=key, expires_in="1d")
    token = TOKEN.search(first.text)
    assert token is not None
    world.tokens["new"] = token.group()
    assert world.answer("GET", "/api/v1/me", by="new")["name"] == "ann"
    repeat = ann.submit("/tokens", once=key, expires_in="1d")
    assert repeat.location == "/tokens?done=issued"
    with world.server.database.read() as session:
        kept = session.exec(select(Idempotency.answer)).all()
    assert kept
    assert all(token.group().encode() not in (answer or b"") for answer in kept)
    again = follow(ann, repeat)
    assert token.group() not in again.text
    assert "shown only once" in text_of(again)
    prefix = token.group().split("_")[1]
    done = follow(ann, ann.submit(f"/tokens/{prefix}/revocation"))
    assert "The token is revoked." in text_of(done)
    assert world.call("GET", "/api/v1/me", by="new").status_code == 401


def test_a_token_of_ones_own_carries_no_role_that_one_lacks(browse: Open, world: World) -> None:
    ann = browse("ann")
    refused = ann.submit("/tokens", once="1", expires_in="1d", scopes="admin")
    assert refused.status_code == 422
    assert 'value="1d"' in refused.text
    world.tokens["new"] = issued(ann)
    assert world.answer("GET", "/api/v1/me", by="new")["roles"] == ["analyst"]


def test_nobody_revokes_a_token_of_somebody_else_as_their_own(browse: Open, world: World) -> None:
    prefix = world.tokens["ian"].split("_")[1]
    for name in ("ann", "root"):
        assert browse(name).submit(f"/tokens/{prefix}/revocation").status_code == 404
    assert world.call("GET", "/api/v1/me", by="ian").status_code == 200


def test_revoking_the_token_of_a_session_ends_it(browse: Open, world: World) -> None:
    ann = browse("ann")
    answer = ann.submit(f"/tokens/{world.tokens['ann'].split('_')[1]}/revocation")
    assert answer.status_code == 303
    assert ann.get(answer.location).location.startswith("/sign-in?next=")


def test_the_form_has_to_be_the_sessions_own(browse: Open) -> None:
    assert browse("ann").send("/tokens", once="2").status_code == 403


def test_the_page_says_what_ends_a_token_before_and_after_it_is_made(
    browse: Open, world: World
) -> None:
    ann = browse("ann")
    own = world.tokens["ann"].split("_")[1]
    page = text_of(ann.get("/tokens"))
    assert f"at the latest, together with the token {own} that you signed in with" in page
    assert "of 64 tokens are in use" in page
    made = ann.submit("/tokens", once=once(ann, "/tokens"))
    assert f"or when {own} , the token that it was made with, is revoked" in text_of(made)
