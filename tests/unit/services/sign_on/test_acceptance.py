"""Test that an invitation makes its user once, and only while its admin could make them."""

import zlib
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import NoReturn

import pytest
from tests.unit.services.sign_on.inviting import invited
from tests.unit.worlds import World

from penstock.errors import Conflict, NameTaken, NotAuthenticated
from penstock.services.access import token_format
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.context import Server
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.sign_on import acceptance, invitations
from penstock.services.verification.verification import verify

Change = Callable[[World], object]


def names(world: World) -> list[str]:
    return [user.name for user in users.listing(world.server, OPERATOR, Window()).items]


def refused(world: World, server: Server, code: str, match: str) -> None:
    """Hold an invitation to a refusal with these words, which leaves nothing behind."""
    before = names(world)
    with pytest.raises(Conflict, match=match):
        acceptance.accept(server, code)
    assert names(world) == before


def test_an_invitation_makes_the_user_that_was_described_and_a_token(world: World) -> None:
    code = invited(world.server, world.person("ada"))
    issued = acceptance.accept(world.server, code)
    caller = authenticate(world.server, issued.token)
    assert (caller.name, caller.roles) == ("lea", frozenset({"analyst"}))
    assert users.show(world.server, OPERATOR, "lea").clearance == "partner"
    assert invitations.listing(world.server, OPERATOR, Window()).items[0].state == "accepted"
    assert verify(world.server, OPERATOR).size > 0


def test_an_invitation_counts_once(world: World) -> None:
    code = invited(world.server)
    acceptance.accept(world.server, code)
    refused(world, world.server, code, "accepted already, and counts once")
    users.disable(world.server, OPERATOR, "lea")
    refused(world, world.server, code, "accepted already, and counts once")


@pytest.mark.each_database
def test_of_two_browsers_at_once_one_becomes_the_user(world: World) -> None:
    code = invited(world.server)

    def accepted(_: int) -> bool:
        try:
            acceptance.accept(world.server, code)
        except Conflict:
            return False
        return True

    with ThreadPoolExecutor(4) as pool:
        assert sorted(pool.map(accepted, range(4))) == [False, False, False, True]
    assert names(world).count("lea") == 1
    assert len(tokens.listing(world.server, OPERATOR, "lea", Window()).items) == 1


def test_an_invitation_ends(world: World) -> None:
    code = invited(world.server, expires_in=60)
    world.clock.forward(seconds=60)
    refused(world, world.server, code, "is expired")
    other = invited(world.server)
    invitations.revoke(world.server, OPERATOR, other.split("_")[1])
    refused(world, world.server, other, "is revoked")


def _demoted(world: World) -> None:
    users.change(world.server, OPERATOR, "ada", UserChange(roles=["auditor"]))


def _disabled(world: World) -> None:
    users.disable(world.server, OPERATOR, "ada")


@pytest.mark.parametrize("change", [_demoted, _disabled])
def test_it_does_not_count_once_its_admin_is_none(world: World, change: Change) -> None:
    code = invited(world.server, world.person("ada"))
    change(world)
    refused(world, world.server, code, "ada, who made this invitation, may no longer")


def test_it_ends_with_the_token_that_it_was_made_with(world: World) -> None:
    issued = tokens.issue(world.server, OPERATOR, "ada", TokenSpec())
    ada = authenticate(world.server, issued.token)
    first, second = invited(world.server, ada), invited(world.server, ada, name="max")
    made = acceptance.accept(world.server, first)
    assert (made.parent, made.expires <= issued.expires) == (issued.prefix, True)
    tokens.revoke(world.server, OPERATOR, "ada", issued.prefix)
    refused(world, world.server, second, "may no longer")
    with pytest.raises(NotAuthenticated):
        authenticate(world.server, made.token)


def test_a_token_ends_with_the_providers_session_that_it_was_invited_in(world: World) -> None:
    until = world.clock() + timedelta(hours=8)
    ada = replace(world.person("ada"), token_expires=until)
    longer, shorter = (
        invited(world.server, ada),
        invited(world.server, ada, name="max", expires_in=60),
    )
    assert acceptance.accept(world.server, longer).expires == until
    assert acceptance.accept(world.server, shorter).expires <= until


def test_wrong_codes_keep_no_writer_waiting(world: World) -> None:
    def writing(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a wrong code began a transaction that writes")

    code = invited(world.server)
    wrong = ("x", token_format.new_token(token_format.INVITING))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(world.server.database, "write", writing)
        for each in wrong:
            with pytest.raises(NotAuthenticated):
                acceptance.accept(world.server, each)
    assert acceptance.accept(world.server, code).user == "lea"


def test_under_the_two_person_rule_an_earlier_invitation_makes_no_admin(world: World) -> None:
    by_ada = invited(world.server, world.person("ada"), roles=["admin"])
    by_operator = invited(world.server, name="max", roles=["admin"])
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    ruled = replace(world.server, settings=settings)
    refused(world, ruled, by_ada, "may no longer")
    assert acceptance.accept(ruled, by_operator).scopes == ["admin"]


def test_a_name_that_was_taken_meanwhile_stays_its_users(world: World) -> None:
    code = invited(world.server)
    users.create(world.server, OPERATOR, UserSpec(name="LEA", roles=["auditor"]))
    with pytest.raises(NameTaken, match="is taken by now"):
        acceptance.accept(world.server, code)
    assert tokens.listing(world.server, OPERATOR, "LEA", Window()).items == []


def test_a_tier_that_was_deleted_meanwhile_is_not_given(world: World) -> None:
    users.change(world.server, OPERATOR, "paul", UserChange(clearance=None))
    code = invited(world.server)
    tier_changes.delete(world.server, OPERATOR, "partner")
    refused(world, world.server, code, "tier 'partner' of this invitation was deleted")


def test_every_other_code_has_one_refusal(world: World) -> None:
    code = invited(world.server)
    mark, prefix, rest = code.split("_", 2)
    other = token_format.new_token(token_format.INVITING)
    body = f"{mark}_{prefix}_{other.split('_', 2)[2].rpartition('_')[0]}"
    wrong = [
        *("", "x", code[:-1], code.upper(), f"{code} ", f"pst_{prefix}_{rest}", other),
        f"{body}_{zlib.crc32(body.encode()):08x}",
        tokens.issue(world.server, OPERATOR, "pia", TokenSpec()).token,
        "pin_" + "\u0660" * 8,
    ]
    said = set()
    for each in wrong:
        with pytest.raises(NotAuthenticated) as caught:
            acceptance.accept(world.server, each)
        said.add(caught.value.detail)
    assert len(said) == 1
    with pytest.raises(NotAuthenticated):
        authenticate(world.server, code)
    acceptance.accept(world.server, code)
