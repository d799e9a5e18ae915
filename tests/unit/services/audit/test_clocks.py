"""Test that a time of the log that was wrong is given up once, with a leaf; any other is not."""

import pytest
from tests.unit.services import logged
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, Unavailable
from penstock.services.access.principals import OPERATOR
from penstock.services.audit import clocks


def test_a_clock_that_is_not_behind_the_log_has_nothing_to_acknowledge(world: World) -> None:
    before = len(logged.leaves(world))
    with pytest.raises(Conflict, match="nothing to acknowledge"):
        clocks.acknowledge(world.server, OPERATOR)
    assert len(logged.leaves(world)) == before
    clocks.require(world.server)


def test_the_machines_time_holds_once_the_logs_is_given_up(visits: World) -> None:
    visits.clock.forward(days=30)
    visits.ask("pia")
    visits.clock.forward(days=-30)
    with pytest.raises(Unavailable):
        clocks.require(visits.server)
    given_up = clocks.acknowledge(visits.server, OPERATOR)
    assert (given_up.before - given_up.after).days == 30
    leaf = logged.leaves(visits)[given_up.leaf]
    assert leaf["kind"] == "clock"
    assert leaf["before"].startswith(given_up.before.date().isoformat())
    clocks.require(visits.server)
    assert visits.server.clock() == visits.clock.now


def test_only_admins_give_up_a_time(world: World) -> None:
    with pytest.raises(Forbidden):
        clocks.acknowledge(world.server, world.person("otto"))
