"""Test that a token is checked with its row's pepper, and moves to the newest when used."""

import pytest
from sqlmodel import select
from tests.unit.worlds import World

from penstock.errors import KeysUnavailable
from penstock.persistence.tables import Token
from penstock.services.access import peppers
from penstock.services.access.principals import OPERATOR
from penstock.services.operations import secret_rotation
from penstock.services.people import tokens
from penstock.services.schemas.people.tokens import TokenSpec


def issued(world: World) -> str:
    return tokens.issue(world.server, OPERATOR, "pia", TokenSpec()).token


def row(world: World) -> Token:
    with world.server.database.read() as session:
        return session.exec(select(Token)).one()


def test_the_token_that_the_row_was_made_of_is_genuine_and_no_other(world: World) -> None:
    token = issued(world)
    assert peppers.is_genuine(world.server.stored.now, row(world), token)
    assert not peppers.is_genuine(world.server.stored.now, row(world), token[:-1] + "_")


def test_a_token_moves_to_the_newest_pepper_and_stays_genuine(world: World) -> None:
    token = issued(world)
    before = row(world)
    secret_rotation.rotate(world.server, OPERATOR)
    assert peppers.number_of(row(world)) == 1
    assert peppers.is_genuine(world.server.stored.now, row(world), token)
    peppers.move(world.server, world.server.stored.now, row(world), token)
    after = row(world)
    assert (peppers.number_of(after), after.digest == before.digest) == (2, False)
    assert peppers.is_genuine(world.server.stored.now, after, token)


def test_a_token_under_a_dropped_pepper_is_nobodys(world: World) -> None:
    token = issued(world)
    before = row(world)
    secret_rotation.rotate(world.server, OPERATOR)
    assert not peppers.is_dropped(world.server.stored.now, before)
    secret_rotation.drop(world.server, OPERATOR)
    assert peppers.is_dropped(world.server.stored.now, before)
    assert not peppers.is_genuine(world.server.stored.now, before, token)


def test_a_pepper_that_is_newer_than_the_secrets_is_told(world: World) -> None:
    token, stored = issued(world), row(world)
    stored.pepper = 7
    with pytest.raises(KeysUnavailable, match=r"under pepper 7, .* ends with 1"):
        peppers.is_genuine(world.server.stored.now, stored, token)
