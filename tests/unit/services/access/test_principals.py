"""Test who a token is of: until it expires or is revoked, with no more roles than it carries."""

import pytest
from sqlmodel import select
from tests.unit.worlds import World

from penstock.errors import Conflict, InvalidInput, NotAuthenticated
from penstock.persistence.tables import Leaf, Token
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange


def test_a_token_lets_in_until_it_expires(world: World) -> None:
    issued = tokens.issue(world.server, OPERATOR, "pia", TokenSpec(expires_in=60))
    assert authenticate(world.server, issued.token).name == "pia"
    world.clock.forward(seconds=59.9)
    assert authenticate(world.server, issued.token).roles == {"analyst"}
    world.clock.forward(seconds=0.2)
    with pytest.raises(NotAuthenticated):
        authenticate(world.server, issued.token)


def test_a_revoked_token_and_a_disabled_user_are_out_at_once(world: World) -> None:
    first = tokens.issue(world.server, OPERATOR, "pia", TokenSpec())
    second = tokens.issue(world.server, world.person("pia"), "pia", TokenSpec())
    tokens.revoke(world.server, world.person("pia"), "pia", first.prefix)
    with pytest.raises(NotAuthenticated):
        authenticate(world.server, first.token)
    assert authenticate(world.server, second.token).name == "pia"
    users.disable(world.server, OPERATOR, "pia")
    with pytest.raises(NotAuthenticated):
        authenticate(world.server, second.token)
    with pytest.raises(Conflict):
        tokens.issue(world.server, OPERATOR, "pia", TokenSpec())


def test_what_is_stored_of_a_token_is_an_hmac(world: World) -> None:
    issued = tokens.issue(world.server, OPERATOR, "pia", TokenSpec())
    with world.server.database.read() as session:
        row = session.exec(select(Token)).one()
        leaves = session.exec(select(Leaf.bytes)).all()
    secret = issued.token.split("_", 2)[2].encode()
    assert secret not in row.digest
    assert not any(secret in leaf for leaf in leaves)
    assert row.prefix == issued.prefix


@pytest.mark.parametrize("spoil", ["", "x", "swap", "cut", "other"])
def test_a_token_that_is_not_ours_is_refused_in_the_same_words(world: World, spoil: str) -> None:
    token = tokens.issue(world.server, OPERATOR, "pia", TokenSpec()).token
    other = tokens.issue(world.server, OPERATOR, "paul", TokenSpec()).token
    spoiled = {
        "": "",
        "x": "x" * 200,
        "swap": token[:-1] + ("0" if token[-1] != "0" else "1"),
        "cut": token[:40],
        "other": other[:12] + token[12:],
    }[spoil]
    with pytest.raises(NotAuthenticated, match="malformed, unknown, expired or revoked"):
        authenticate(world.server, spoiled)


def test_scopes_narrow_a_token_and_never_widen_it(world: World) -> None:
    users.change(world.server, OPERATOR, "otto", UserChange(roles=["analyst", "auditor"]))
    narrow = tokens.issue(world.server, OPERATOR, "otto", TokenSpec(scopes=["auditor"]))
    principal = authenticate(world.server, narrow.token)
    assert principal.roles == {"auditor"}
    with pytest.raises(InvalidInput, match="scopes"):
        tokens.issue(world.server, principal, "otto", TokenSpec(scopes=["analyst"]))
    with pytest.raises(InvalidInput, match="scopes"):
        tokens.issue(world.server, OPERATOR, "otto", TokenSpec(scopes=["admin"]))
    assert tokens.issue(world.server, principal, "otto", TokenSpec()).scopes == ["auditor"]
