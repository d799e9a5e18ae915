"""Test that lists of requests in one state have those that are shown in it."""

from typing import Any, get_args

import pytest
from tests.unit.services.requests.requesting import LEVELS, ask, decide, identifier, listed
from tests.unit.worlds import World

from penstock.services.requests import asking
from penstock.services.schemas.requests.views import RequestState

pytestmark = pytest.mark.each_database


def test_each_request_is_in_the_list_of_the_state_in_which_it_is_shown(stays: World) -> None:
    def towns(name: str) -> dict[str, Any]:
        where = [{"column": "town", "op": "=", "value": name}]
        return {"where": where, "name": name, "levels": {"public": {"epsilon": 0.1}}}

    shared, above = ask(stays, "pia", **towns("north")), ask(stays, "pia", **towns("south"))
    gone = ask(stays, "pia", **towns("west"))
    ask(stays, "pia", levels={"public": {"epsilon": 0.1}})
    asking.withdraw(stays.server, stays.person("pia"), identifier(gone))
    decide(stays, "ada", shared, "approve")
    decide(stays, "ada", above, "approve", levels=LEVELS)
    states = {"pia": ["approved", "declined", "withdrawn", "open"]}
    states["ada"] = ["approved", "approved", "withdrawn", "open"]
    for who, own in states.items():
        assert [view.state for view in listed(stays, who)] == own
        for state in get_args(RequestState):
            names = [view.name for view in listed(stays, who) if view.state == state]
            assert [view.name for view in listed(stays, who, state)] == names
