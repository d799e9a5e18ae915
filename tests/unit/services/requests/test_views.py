"""Test how requests are shown and listed, by reader and state."""

from typing import get_args

from tests.unit.services.requests.requesting import ask, decide, identifier, listed, shown
from tests.unit.worlds import World

from penstock.services.pagination import Window
from penstock.services.requests import asking, views
from penstock.services.schemas.requests.views import RequestState

NORTH = [{"column": "town", "op": "=", "value": "north"}]
SOUTH = [{"column": "town", "op": "=", "value": "south"}]


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
