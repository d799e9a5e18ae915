"""Test that a presumed caller is confirmed by the same rows under the same secrets alone."""

import pytest
from tests.unit.worlds import World

from penstock.encryption.secrets import PEPPER
from penstock.errors import NotAuthenticated
from penstock.persistence.statements.glances import Glance
from penstock.services.access import principals
from penstock.services.access.presumptions import confirmed, presumed
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.access.token_format import prefix_of
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec


@pytest.fixture
def token(world: World) -> str:
    return tokens.issue(world.server, OPERATOR, "pia", TokenSpec(expires_in=60)).token


def rows_of(world: World, token: str) -> Glance:
    return world.server.database.glance(principals._BY_PREFIX, prefix=prefix_of(token))


def test_nobody_is_presumed_before_their_token_was_good_once(world: World, token: str) -> None:
    assert presumed(world.server, token) is None
    principal = authenticate(world.server, token)
    caller = presumed(world.server, token)
    assert caller is not None
    assert confirmed(world.server, rows_of(world, token), caller) == principal


def test_a_caller_is_not_confirmed_by_the_rows_of_another_token(world: World, token: str) -> None:
    other = tokens.issue(world.server, OPERATOR, "pia", TokenSpec()).token
    authenticate(world.server, token)
    caller = presumed(world.server, token)
    assert caller is not None
    assert confirmed(world.server, rows_of(world, other), caller) is None


def test_a_caller_is_not_confirmed_once_the_peppers_changed(world: World, token: str) -> None:
    """The token's own may have been dropped between the two."""
    authenticate(world.server, token)
    caller = presumed(world.server, token)
    assert caller is not None
    world.server.stored.renew(PEPPER)
    assert confirmed(world.server, rows_of(world, token), caller) is None
    assert presumed(world.server, token) is None
    authenticate(world.server, token)  # which moves it to the newest pepper
    authenticate(world.server, token)
    assert presumed(world.server, token) is not None


def test_nobody_is_presumed_any_more_once_their_token_was_refused(world: World, token: str) -> None:
    authenticate(world.server, token)
    world.clock.forward(seconds=61)
    with pytest.raises(NotAuthenticated):
        authenticate(world.server, token)
    assert presumed(world.server, token) is None


def test_few_tokens_are_kept(world: World, token: str, monkeypatch: pytest.MonkeyPatch) -> None:
    other = tokens.issue(world.server, OPERATOR, "pia", TokenSpec()).token
    monkeypatch.setattr(principals, "MOST_SIGNED_IN", 1)
    authenticate(world.server, token)
    authenticate(world.server, other)
    assert presumed(world.server, token) is None
    assert presumed(world.server, other) is not None
