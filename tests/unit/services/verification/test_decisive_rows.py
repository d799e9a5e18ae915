"""Test that whoever gives themselves something in the database is not answered accordingly."""

from collections.abc import Callable

import pytest
from tests.unit.services.verification.tampered import alter, filled, tokens_of
from tests.unit.worlds import CopyWorld, World

from penstock.errors import IntegrityViolation
from penstock.services import budgets
from penstock.services.access.principals import OPERATOR, authenticate
from penstock.services.approvals import proposals
from penstock.services.datasets import datasets
from penstock.services.exposure import exposure
from penstock.services.jobs import idempotency
from penstock.services.pagination import Window
from penstock.services.people import tier_changes, tokens, users
from penstock.services.queries import queries
from penstock.services.releases import history
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.people.tiers import TierSpec
from penstock.services.schemas.people.tokens import TokenSpec
from penstock.services.schemas.people.users import UserChange, UserSpec
from penstock.services.schemas.queries import (
    LevelsChange,
)
from penstock.services.verification.verification import verify

Tokens = dict[str, str]
Act = Callable[[World, Tokens], object]


@pytest.fixture
def full(copy_world: CopyWorld) -> tuple[World, Tokens]:
    world = copy_world("tampered", filled)
    return world, tokens_of(world)


def asks(world: World, _: Tokens) -> object:
    return world.ask("pia")


def enters(world: World, given: Tokens) -> object:
    return authenticate(world.server, given["pia"])


def enters_again(world: World, given: Tokens) -> object:
    return authenticate(world.server, given["ada"])


def registers(world: World, _: Tokens) -> object:
    return world.push("third", share=0.5, levels=None)


def shows_budget(world: World, _: Tokens) -> object:
    return budgets.show(world.server, OPERATOR, "sites")


def shows_proposals(world: World, _: Tokens) -> object:
    return proposals.listing(world.server, OPERATOR, Window())


def repeats_a_key(world: World, _: Tokens) -> object:
    request = idempotency.fingerprint(world.server, b"x")
    return idempotency.open_request(world.server, world.person("ada"), "first", request)


def rereads(world: World, _: Tokens) -> object:
    return history.listing(world.server, world.person("pia"), Window())


ESCALATIONS: list[tuple[str, Act]] = [
    ("UPDATE clearance SET tier_id = 3 WHERE user_id = 1", asks),
    ("UPDATE clearance SET user_id = 1, version = 2 WHERE user_id = 3", asks),
    ("UPDATE tier SET rank = 95 WHERE id = 1", asks),
    ("UPDATE query_level SET rung = rung - 1 WHERE tier_id = 1", asks),
    ("UPDATE query_level SET tier_id = 1, version = 2 WHERE tier_id = 3", asks),
    ("UPDATE \"user\" SET admin = true WHERE name = 'pia'", enters),
    ("UPDATE \"user\" SET name = 'ada2' WHERE name = 'pia'", enters),
    ("UPDATE token SET user_id = 4 WHERE user_id = 1", enters),
    ("UPDATE token SET expires_at = '2099-01-01 00:00:00.000000' WHERE user_id = 1", enters),
    ("UPDATE token SET revoked_at = NULL WHERE user_id = 4", enters_again),
    ("UPDATE tier_budget SET limit_loss = limit_loss * 2", registers),
    ("UPDATE tier_budget SET epsilon = 9 WHERE tier_id = 3", shows_budget),
    ("UPDATE charge SET loss_total = loss_total - 1 WHERE seq = 1", registers),
    ("UPDATE charge SET rung = rung + 1", shows_budget),
    ("UPDATE spent_floor SET loss = 0", registers),
    ("UPDATE spent_floor SET tier_id = 99", registers),
    ("UPDATE query_level SET tier_id = 99, version = 9 WHERE tier_id = 1", asks),
    ("UPDATE dataset SET spec = '{}'", registers),
    ("UPDATE dataset SET delta = 0.001", asks),
    ("UPDATE proposal SET request = '{}' WHERE id = 1", shows_proposals),
    ("UPDATE decision SET outcome = 'approved', reason = NULL", shows_proposals),
    ("UPDATE idempotency SET expires_at = '2099-01-01 00:00:00.000000'", repeats_a_key),
    ('UPDATE "grant" SET user_id = 1 WHERE user_id = 2', rereads),
    ("UPDATE release SET public_id = public_id || '0'", asks),
    ('UPDATE "query" SET read_states = \'["another"]\'', asks),
]


@pytest.mark.slow
@pytest.mark.only("sqlite")
@pytest.mark.parametrize(("statement", "act"), ESCALATIONS)
def test_what_was_altered_gives_nobody_anything(
    full: tuple[World, Tokens], statement: str, act: Act
) -> None:
    world, given = full
    taken = world.streams.taken
    alter(world, statement)
    with pytest.raises(IntegrityViolation, match="was altered outside of this server"):
        act(world, given)
    assert world.streams.taken == taken
    assert verify(world.server, OPERATOR).problems


@pytest.mark.only("sqlite")
def test_the_same_is_answered_where_nothing_was_altered(full: tuple[World, Tokens]) -> None:
    world, given = full
    for act in {act for _, act in ESCALATIONS} - {enters_again}:
        act(world, given)


def test_whatever_the_server_changes_is_signed_again(full: tuple[World, Tokens]) -> None:
    world, given = full
    server = world.server
    finer = {"levels": {"internal": {"epsilon": 1}}, "values": [120, 7, 0]}
    queries.change(server, OPERATOR, "visits", LevelsChange.model_validate(finer))
    tier_changes.create(server, OPERATOR, TierSpec(name="between", above="public"))
    tier_changes.create(server, OPERATOR, TierSpec(name="brief", above="internal"))
    tier_changes.delete(server, OPERATOR, "brief")
    users.create(server, OPERATOR, UserSpec(name="away", roles=["analyst"]))
    tokens.issue(server, OPERATOR, "away", TokenSpec())
    users.change(server, OPERATOR, "away", UserChange(roles=["auditor"], clearance="between"))
    users.disable(server, OPERATOR, "away")
    larger = {"budgets": {"internal": {"epsilon": 5}}}
    budgets.change(server, OPERATOR, "sites", DatasetChange.model_validate(larger))
    world.ask("ines", epsilon=0.9)
    assert exposure.of(server, OPERATOR, ["ines"], "sites").queries
    queries.retire(server, OPERATOR, "visits")
    world.clock.forward(days=2)
    repeats_a_key(world, given)
    assert enters(world, given)
    assert datasets.show(server, OPERATOR, "sites").budgets["internal"].epsilon == 5
    problems = verify(server, OPERATOR).problems
    assert not [problem for problem in problems if "altered" in problem]
