"""Test the word for what has become of a token."""

from dataclasses import replace
from datetime import timedelta

from tests.web.service_views import AT

from penstock.services.schemas.people.views import TokenView
from penstock.web.presenters.pages.token_states import with_states

TOKEN = TokenView("abc", "ann", ["analyst"], AT, AT + timedelta(days=90), None, None)


def test_a_token_is_active_until_it_ends_soon_and_then_ended_or_revoked_before() -> None:
    tokens = [replace(TOKEN, prefix="gone", revoked=AT), TOKEN]
    states = {
        days: [word for _, word in with_states(tokens, AT + timedelta(days=days))]
        for days in (0, 76, 77, 90)
    }
    assert [word for word, _ in states.values()] == ["active", "active", "ends soon", "ended"]
    assert {word for _, word in states.values()} == {"revoked"}
