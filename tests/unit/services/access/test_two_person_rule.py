"""Test that with the rule on, nobody alone does what it covers; with it off, nothing is refused."""

from dataclasses import replace

import pytest
from tests.unit.worlds import World

from penstock.errors import ApprovalNeeded, Forbidden
from penstock.services.access.principals import OPERATOR
from penstock.services.access.two_person_rule import (
    require_no_larger,
    require_operator,
    require_second,
)
from penstock.services.context import Server


@pytest.fixture
def ruled(world: World) -> Server:
    settings = world.server.settings.model_copy(update={"two_person_rule": True})
    return replace(world.server, settings=settings)


def test_without_the_rule_nothing_is_refused(world: World) -> None:
    require_second(world.server)
    require_no_larger(world.server, 1.0, [2.0])
    require_operator(world.server, world.person("ada"), "makes admins")


def test_under_the_rule_an_act_takes_another_admin(ruled: Server) -> None:
    with pytest.raises(ApprovalNeeded, match="nothing was done"):
        require_second(ruled)


def test_a_budget_may_be_as_large_as_the_largest_before_and_no_larger(ruled: Server) -> None:
    require_no_larger(ruled, 1.5, [0.5, 1.5])
    with pytest.raises(Forbidden, match=r"epsilon 1\.5\."):
        require_no_larger(ruled, 1.5, [0.5, 1.5000001])


def test_the_operator_alone_makes_admins(ruled: Server, world: World) -> None:
    require_operator(ruled, OPERATOR, "makes admins")
    with pytest.raises(Forbidden, match="only the operator makes admins"):
        require_operator(ruled, world.person("ada"), "makes admins")
