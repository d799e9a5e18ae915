"""Test that what a token makes ends with it at the latest.

In time, by revocation, and in number.
"""

import threading
from dataclasses import replace
from datetime import timedelta

import pytest
from sqlmodel import col, select, update
from tests.unit.worlds import World

from penstock.errors import Conflict, IntegrityViolation, InvalidInput, NotAuthenticated
from penstock.persistence.tables import Token
from penstock.services.access import sessions
from penstock.services.access.principals import OPERATOR, Principal, authenticate
from penstock.services.pagination import Window
from penstock.services.people import tokens, users
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.people.views import IssuedTokenView
from penstock.services.verification import verification

YEARS = 3000 * 86400


def lasting(world: World) -> World:
    settings = world.server.settings.model_copy(update={"token_longest_days": 3650})
    return replace(world, server=replace(world.server, settings=settings))


def issue(world: World, by: Principal, name: str, **spec: object) -> IssuedTokenView:
    return tokens.issue(world.server, by, name, TokenSpec.model_validate(spec))


def bearer(world: World, issued: IssuedTokenView) -> Principal:
    return authenticate(world.server, issued.token)


def problems(world: World) -> list[str]:
    return verification.verify(world.server, OPERATOR).problems


def lets_in(world: World, issued: IssuedTokenView) -> bool:
    try:
        authenticate(world.server, issued.token)
    except NotAuthenticated:
        return False
    return True


@pytest.mark.parametrize("whose", ["pia", "ada"])
def test_a_token_of_two_seconds_makes_none_of_ten_years(world: World, whose: str) -> None:
    """An admin's makes none for somebody else either: who stole it could sign in as them."""
    world = lasting(world)
    short = issue(world, OPERATOR, whose, expires_in=2)
    child = issue(world, bearer(world, short), "pia", expires_in=YEARS)
    grandchild = issue(world, bearer(world, child), "pia")
    assert child.expires == grandchild.expires == short.expires
    assert (child.parent, grandchild.parent) == (short.prefix, child.prefix)
    world.clock.forward(seconds=2)
    assert not any(lets_in(world, one) for one in (short, child, grandchild))
    assert issue(world, OPERATOR, "pia", expires_in=YEARS).parent is None


def test_nor_does_a_session_that_began_with_it(world: World) -> None:
    world = lasting(world)
    short = issue(world, OPERATOR, "pia", expires_in=3600)
    begun = sessions.sign_in(world.server, short.token)
    child = issue(world, sessions.resume(world.server, begun.secret), "pia", expires_in=YEARS)
    assert (child.expires, child.parent) == (short.expires, short.prefix)
    # Signing out leaves it; it is what the session was begun with that ends it.
    sessions.end(world.server, begun.secret)
    assert lets_in(world, child)
    tokens.revoke(world.server, OPERATOR, "pia", short.prefix)
    assert not lets_in(world, child)


def test_a_caller_without_a_token_of_ours_makes_none_that_outlasts_what_they_came_with(
    world: World,
) -> None:
    """Such as one with a token of an OpenID provider, which has no row here."""
    world = lasting(world)
    until = world.clock() + timedelta(minutes=5)
    caller = replace(world.person("pia"), token_expires=until)
    assert issue(world, caller, "pia", expires_in=YEARS).expires == until
    world.clock.forward(minutes=5)
    with pytest.raises(NotAuthenticated):
        issue(world, caller, "pia")


def test_what_a_token_made_is_revoked_with_it_and_what_made_it_is_not(world: World) -> None:
    root = issue(world, OPERATOR, "ada")
    middle = issue(world, bearer(world, root), "ada")
    leaves = [issue(world, bearer(world, middle), name) for name in ("ada", "pia", "paul")]
    early = issue(world, bearer(world, middle), "pia")
    tokens.revoke(world.server, OPERATOR, "pia", early.prefix)
    apart = issue(world, bearer(world, root), "pia")
    gone = tokens.revoke(world.server, world.person("ada"), "ada", middle.prefix)
    assert gone.also == [one.prefix for one in leaves]
    assert not any(lets_in(world, one) for one in (middle, *leaves))
    assert lets_in(world, root)
    assert lets_in(world, apart)
    assert tokens.revoke(world.server, OPERATOR, "ada", middle.prefix).also == []
    assert problems(world) == []


def test_what_a_shut_out_admin_made_for_others_ends_too(world: World) -> None:
    of_admin = issue(world, OPERATOR, "ada")
    made = issue(world, bearer(world, of_admin), "pia")
    again = issue(world, bearer(world, made), "pia")
    users.disable(world.server, OPERATOR, "ada")
    assert not lets_in(world, made)
    assert not lets_in(world, again)
    assert problems(world) == []


def test_who_was_revoked_or_ran_out_meanwhile_makes_nothing(world: World) -> None:
    """The token was good when the request began: it is looked at again where it counts."""
    revoked, ended = (issue(world, OPERATOR, "pia", expires_in=60) for _ in range(2))
    late, later = bearer(world, revoked), bearer(world, ended)
    tokens.revoke(world.server, OPERATOR, "pia", revoked.prefix)
    with pytest.raises(NotAuthenticated):
        issue(world, late, "pia")
    world.clock.forward(seconds=60)
    with pytest.raises(NotAuthenticated):
        issue(world, later, "pia")
    with world.server.database.read() as session:
        assert len(session.exec(select(Token)).all()) == 2


def test_a_token_that_is_not_for_a_role_makes_none_for_it_of_an_admin_either(world: World) -> None:
    users.change(world.server, OPERATOR, "ada", UserChange(roles=["admin", "auditor"]))
    narrow = bearer(world, issue(world, OPERATOR, "ada", scopes=["admin"]))
    with pytest.raises(InvalidInput, match="must be some of admin"):
        issue(world, narrow, "ada", scopes=["auditor"])
    assert issue(world, narrow, "ada").scopes == ["admin"]
    assert issue(world, narrow, "otto").scopes == ["auditor"]


def test_no_token_lives_longer_than_the_setting_says(world: World) -> None:
    assert world.server.settings.token_longest_days == 365
    with pytest.raises(InvalidInput, match="at most 365 days"):
        issue(world, OPERATOR, "pia", expires_in="366d")
    short = world.server.settings.model_copy(update={"token_longest_days": 7})
    weekly = replace(world, server=replace(world.server, settings=short))
    made = issue(weekly, OPERATOR, "pia")
    assert made.expires == world.clock() + timedelta(days=7)


def test_nobody_has_more_live_tokens_than_the_setting_says(world: World) -> None:
    few = world.server.settings.model_copy(update={"tokens_per_user": 3})
    world = replace(world, server=replace(world.server, settings=few))
    first, second = issue(world, OPERATOR, "pia", expires_in="2d"), issue(world, OPERATOR, "pia")
    short = issue(world, bearer(world, first), "pia", expires_in="1d")
    for by in (OPERATOR, bearer(world, second)):
        with pytest.raises(Conflict, match="3 valid tokens") as refused:
            issue(world, by, "pia")
        assert all(one.prefix in refused.value.detail for one in (first, second, short))
    issue(world, OPERATOR, "paul")
    world.clock.forward(days=1)
    third = issue(world, OPERATOR, "pia")
    tokens.revoke(world.server, OPERATOR, "pia", third.prefix)
    issue(world, OPERATOR, "pia")
    with pytest.raises(Conflict):
        issue(world, OPERATOR, "pia")


def test_of_many_made_at_once_one_takes_the_last_place(world: World) -> None:
    few = world.server.settings.model_copy(update={"tokens_per_user": 3})
    world = replace(world, server=replace(world.server, settings=few))
    made, refused, gate = list[str](), list[Conflict](), threading.Barrier(4)
    for _ in range(2):
        issue(world, OPERATOR, "pia")

    def act() -> None:
        gate.wait()
        try:
            made.append(issue(world, OPERATOR, "pia").prefix)
        except Conflict as problem:
            refused.append(problem)

    threads = [threading.Thread(target=act) for _ in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert (len(made), len(refused)) == (1, 3)
    listed = tokens.listing(world.server, OPERATOR, "pia", Window()).items
    assert len(listed) == 3


def test_who_made_a_token_is_not_taken_off_it(world: World) -> None:
    parent = issue(world, OPERATOR, "pia")
    child = issue(world, bearer(world, parent), "pia")
    assert [
        one.parent for one in tokens.listing(world.server, OPERATOR, "pia", Window()).items
    ] == [
        None,
        parent.prefix,
    ]
    with world.server.database.write() as session:
        session.connection().execute(
            update(Token).where(col(Token.prefix) == child.prefix).values(parent_id=None)
        )
    with pytest.raises(IntegrityViolation):
        authenticate(world.server, child.token)
    assert any("'token' was altered" in problem for problem in problems(world))
