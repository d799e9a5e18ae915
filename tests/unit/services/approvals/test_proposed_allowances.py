"""Test that it takes two admins to let analysts spend more by themselves, and one for less."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.unit.services.allowances.asking import ask, fill_stays, left
from tests.unit.services.datasets.stays import ROWS
from tests.unit.worlds import CopyWorld, World

from penstock.errors import ApprovalNeeded, Conflict, Forbidden, InvalidInput
from penstock.services.access.principals import OPERATOR
from penstock.services.approvals import proposals
from penstock.services.approvals.actions import AllowanceGift
from penstock.services.datasets import allowances
from penstock.services.pagination import Window
from penstock.services.people import users
from penstock.services.previews import given_allowance
from penstock.services.schemas.datasets import AllowanceSpec, AllowanceView
from penstock.services.schemas.people.users import UserSpec
from penstock.services.schemas.proposals import ProposalView
from penstock.services.verification.verification import verify


@pytest.fixture
def ruled(copy_world: CopyWorld, keep: Callable[[str, str], Path]) -> World:
    """Return stays in hospitals, with a second admin, in which the rule is in force."""
    file = keep("stays_asked.csv", ROWS)
    world = copy_world("stays-asked", lambda world: fill_stays(world, file))
    users.create(world.server, OPERATOR, UserSpec(name="bea", roles=["admin"]))
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    return World(replace(world.server, settings=settings), world.clock, world.streams)


def gift(epsilon: float, *named: str) -> AllowanceGift:
    return AllowanceGift(
        dataset="stays", tier="partner", epsilon=epsilon, users=list(named) or None
    )


def tried(world: World, epsilon: float, *named: str) -> Any:
    """Return what becomes of giving an allowance as ada."""
    act = gift(epsilon, *named)
    return proposals.do_or_propose(world.server, world.person("ada"), act)


def given(world: World, epsilon: float, *named: str) -> AllowanceView:
    """Give an allowance by two admins."""
    made = tried(world, epsilon, *named)
    assert isinstance(made, ProposalView)
    proposals.approve(world.server, world.person("bea"), made.id)
    return left(world)


def test_an_allowance_that_permits_more_takes_two_people(ruled: World) -> None:
    for by in (ruled.person("ada"), OPERATOR):
        with pytest.raises(ApprovalNeeded):
            allowances.give(ruled.server, by, "stays", "partner", AllowanceSpec(epsilon=0.5))
    made = tried(ruled, 0.5, "paul")
    assert (made.act, made.state) == ("give_allowance", "open")
    assert made.request == {
        "dataset": "stays",
        "tier": "partner",
        "epsilon": 0.5,
        "users": ["paul"],
    }
    with pytest.raises(Forbidden):
        ask(ruled, "paul", "mine")
    with pytest.raises(Forbidden, match="another admin"):
        proposals.approve(ruled.server, ruled.person("ada"), made.id)
    proposals.approve(ruled.server, ruled.person("bea"), made.id)
    view = left(ruled)
    assert (view.epsilon, view.users, view.given_by) == (0.5, ["paul"], "bea")
    ask(ruled, "paul", "mine")
    for more in (tried(ruled, 0.6, "paul"), tried(ruled, 0.5, "paul", "ines"), tried(ruled, 0.5)):
        assert isinstance(more, ProposalView)
    assert left(ruled).epsilon == 0.5
    assert verify(ruled.server, OPERATOR).problems == []


def test_what_permits_no_more_takes_one(ruled: World) -> None:
    given(ruled, 1.0)
    for epsilon, named in ((1.0, ()), (0.8, ()), (0.8, ("paul", "ines")), (0.5, ("paul",))):
        view = tried(ruled, epsilon, *named)
        assert (view.epsilon, view.users) == (epsilon, list(named) or None)
    server, ada = ruled.server, ruled.person("ada")
    assert allowances.take_back(server, ada, "stays", "partner").epsilon == 0.5
    # What was taken back is given anew, as large as it was.
    assert isinstance(tried(ruled, 0.5, "paul"), ProposalView)


def test_a_preview_says_whether_another_admin_must_approve_it(ruled: World) -> None:
    given(ruled, 0.5)

    def second(world: World, epsilon: float) -> bool:
        spec = AllowanceSpec(epsilon=epsilon)
        server, ada = world.server, world.person("ada")
        return given_allowance.preview(server, ada, "stays", "partner", spec).second

    assert (second(ruled, 0.6), second(ruled, 0.5)) == (True, False)
    settings = ruled.server.settings.model_copy(update={"two_person_rule": False})
    alone = World(replace(ruled.server, settings=settings), ruled.clock, ruled.streams)
    assert not second(alone, 0.6)


def test_what_cannot_be_given_cannot_be_proposed(ruled: World) -> None:
    with pytest.raises(InvalidInput):
        tried(ruled, 0.5, "nobody")
    with pytest.raises(InvalidInput, match="leaves nothing to spend"):
        tried(ruled, 1e-4)
    assert proposals.listing(ruled.server, OPERATOR, Window()).items == []


def test_it_is_given_in_place_of_the_allowance_that_was_there(ruled: World) -> None:
    """What was proposed as an increase from one may be one from another."""
    given(ruled, 0.5)
    made = tried(ruled, 0.6)
    assert made.basis["epsilon"] == 0.5
    allowances.take_back(ruled.server, ruled.person("ada"), "stays", "partner")
    with pytest.raises(Conflict, match="has changed since"):
        proposals.approve(ruled.server, ruled.person("bea"), made.id)
    assert allowances.listing(ruled.server, OPERATOR, "stays") == []
