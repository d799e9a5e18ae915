"""Test the token in an Authorization header, and the empty text without one."""

import pytest
from tests.api.world import World

from penstock.errors import NotAuthenticated
from penstock.http.bearer import caller, presented


@pytest.mark.parametrize(
    ("header", "token"),
    [
        (None, ""),
        ("", ""),
        ("Bearer abc", "abc"),
        ("bearer abc", "abc"),
        ("  BEARER   abc  ", "abc"),
        ("Basic abc", ""),
        ("Bearer", ""),
        ("Bearerabc", ""),
        ("abc", ""),
    ],
)
def test_only_a_bearer_token_is_taken(header: str | None, token: str) -> None:
    assert presented(header) == token


def test_every_header_without_a_valid_token_is_refused_in_the_same_words(world: World) -> None:
    token = world.tokens["ann"]
    assert caller(world.server, f"Bearer {token}").name == "ann"
    refusals = set()
    for header in (None, f"Basic {token}", "Bearer nothing", f"Bearer {token[:-1]}"):
        with pytest.raises(NotAuthenticated) as refusal:
            caller(world.server, header)
        refusals.add(refusal.value.detail)
    assert len(refusals) == 1
