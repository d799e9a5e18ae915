"""Test how requests are shown and listed, by reader and state."""

from typing import get_args

import pytest
from tests.unit.services.datasets.stays import BY_TOWN
from tests.unit.services.requests.requesting import LEVELS, ask, decide, identifier, listed, shown
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.datasets import allowances
from penstock.services.pagination import Window
from penstock.services.people import users
from penstock.services.queries import registration
from penstock.services.requests import asking, news, views
from penstock.services.schemas.datasets import AllowanceSpec
from penstock.services.schemas.people.users import UserChange
from penstock.services.schemas.queries import ComputedQueryRequest
from penstock.services.schemas.requests.views import RequestState

NORTH = [{"column": "town", "op": "=", "value": "north"}]
SOUTH = [{"column": "town", "op": "=", "value": "south"}]

pytestmark = pytest.mark.each_database


def test_every_request_is_listed_in_one_state(stays: World) -> None:
    decide(stays, "ada", ask(stays, where=NORTH, name="north"), "approve")
    decide(stays, "ada", ask(stays, where=SOUTH), "decline")
    withdrawn = ask(stays, where=SOUTH)
    asking.withdraw(stays.server, stays.person("ines"), identifier(withdrawn))
    ask(stays)
    for name in ("ines", "ada"):
        every = [view.state for view in listed(stays, name)]
        assert every == ["approved", "declined", "withdrawn", "open"]
        for state in get_args(RequestState):
            expected = [state] if state in every else []
            assert [view.state for view in listed(stays, name, state)] == expected


def test_a_list_goes_on_where_it_ended(stays: World) -> None:
    first, second = ask(stays), ask(stays, where=NORTH)
    for name in ("ines", "ada"):
        page = views.listing(stays.server, stays.person(name), Window(limit=1))
        assert [view.id for view in page.items] == [first.id]
        rest = Window(after=int(page.next_cursor or ""))
        more = views.listing(stays.server, stays.person(name), rest)
        assert [view.id for view in more.items] == [second.id]


def test_a_list_of_the_newest_first_goes_on_with_older_ones(stays: World) -> None:
    sent = [ask(stays), ask(stays, where=NORTH), ask(stays, where=SOUTH)]
    for name in ("ines", "ada"):
        person, shown_before, window = stays.person(name), [], Window(limit=2)
        while True:
            page = views.listing(stays.server, person, window, newest_first=True)
            shown_before += [view.id for view in page.items]
            if page.next_cursor is None:
                break
            window = Window(limit=2, after=int(page.next_cursor))
        assert shown_before == [view.id for view in reversed(sent)]


def test_a_preview_shows_each_reader_the_tiers_that_they_see(stays: World) -> None:
    view = ask(stays, "pia", levels={"public": {"epsilon": 0.1}})
    for name, tiers in (("ada", ["public", "partner", "internal"]), ("pia", ["public"])):
        preview = shown(stays, name, view).preview
        assert preview is not None
        assert [tier.tier for tier in preview.tiers] == tiers


def test_a_request_that_cannot_be_registered_any_more_says_why(stays: World) -> None:
    view = ask(stays)
    decide(stays, "ada", ask(stays, where=NORTH), "approve")
    for name in ("ines", "ada"):
        late = shown(stays, name, view)
        assert late.preview is None
        assert "by_town" in (late.problem or "")
        assert late.state == "open"


def test_what_its_asker_registered_meanwhile_is_settled_for_admins_too(stays: World) -> None:
    view, other = ask(stays), ask(stays, where=NORTH)
    own = allowed(stays)
    assert [each.id for each in listed(stays, "ada", "open")] == [view.id, other.id]
    registration.register(stays.server, stays.person("ines"), own)
    seen = shown(stays, "ada", view)
    assert (seen.state, seen.query, seen.problem) == ("answered", "mine@internal", None)
    assert [each.id for each in listed(stays, "ada", "answered")] == [view.id]
    assert [each.id for each in listed(stays, "ada", "open")] == [other.id]
    assert [each.state for each in listed(stays, "ada")] == ["answered", "open"]
    assert news.waiting(stays.server, stays.person("ada")) == 1
    mine = shown(stays, "ines", view)
    assert (mine.state, mine.query) == ("answered", "mine")


def test_a_request_waits_as_long_as_one_who_made_it_does_not_see_the_query(stays: World) -> None:
    view = ask(stays)
    registration.register(stays.server, stays.person("ines"), allowed(stays))
    pia = ask(stays, "pia", name="all", levels={"public": {"epsilon": 0.1}})
    assert [each.id for each in listed(stays, "ada", "open")] == [view.id]
    assert listed(stays, "ada", "answered") == []
    assert shown(stays, "ada", view).state == "open"
    asking.withdraw(stays.server, stays.person("pia"), identifier(pia))
    assert listed(stays, "ada", "open") == []
    assert shown(stays, "ada", view).state == "answered"
    asking.withdraw(stays.server, stays.person("ines"), identifier(view))
    assert listed(stays, "ada", "answered") == []
    assert [each.state for each in listed(stays, "ada", "withdrawn")] == ["withdrawn"]


def test_a_query_of_admins_that_one_of_two_sees_settles_nothing(stays: World) -> None:
    view = ask(stays)
    ask(stays, "pia", name="all", levels={"public": {"epsilon": 0.1}})
    spec = {**BY_TOWN, "name": "towns", "levels": LEVELS}
    registration.register(stays.server, OPERATOR, ComputedQueryRequest.model_validate(spec))
    seen = shown(stays, "ada", view)
    assert (seen.state, seen.query, seen.registered_as) == ("open", None, "towns")
    assert [each.id for each in listed(stays, "ada", "open")] == [view.id]
    assert listed(stays, "ada", "answered") == []


def test_a_request_waits_again_when_its_asker_loses_sight_of_the_query(stays: World) -> None:
    view = ask(stays)
    registration.register(stays.server, stays.person("ines"), allowed(stays))
    for tier, state in (("partner", "open"), ("internal", "answered"), (None, "open")):
        users.change(stays.server, OPERATOR, "ines", UserChange(clearance=tier))
        assert shown(stays, "ada", view).state == state
        assert [each.id for each in listed(stays, "ada", state)] == [view.id]
    assert news.waiting(stays.server, stays.person("ada")) == 1


def allowed(world: World) -> ComputedQueryRequest:
    """Give the tier internal an allowance, and return a query that fits."""
    allowances.give(world.server, OPERATOR, "stays", "internal", AllowanceSpec(epsilon=4.0))
    return ComputedQueryRequest.model_validate({**BY_TOWN, "name": "mine", "levels": LEVELS})
