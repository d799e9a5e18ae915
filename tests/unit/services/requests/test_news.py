"""Test what admins learn about requests that wait, and analysts about those that are decided."""

from datetime import timedelta

import pytest
from tests.unit.services.requests.requesting import ask, decide, identifier
from tests.unit.worlds import World

from penstock.errors import Forbidden
from penstock.services.requests import asking, comments, news
from penstock.services.schemas.requests.specs import CommentRequest
from penstock.services.schemas.requests.views import RequestView

NORTH = [{"column": "town", "op": "=", "value": "north"}]
SOUTH = [{"column": "town", "op": "=", "value": "south"}]


def told(world: World, name: str) -> list[tuple[str, str | None]]:
    return [(view.state, view.query) for view in news.decided(world.server, world.person(name))]


def test_admins_are_told_how_many_requests_wait(stays: World) -> None:
    """Equal ones of several people are one; withdrawn and decided ones do not wait."""
    ada = stays.person("ada")
    assert news.waiting(stays.server, ada) == 0
    first, _ = ask(stays), ask(stays, "iris", name="the same")
    withdrawn = ask(stays, where=NORTH)
    ask(stays, where=SOUTH)
    assert news.waiting(stays.server, ada) == 3
    asking.withdraw(stays.server, stays.person("ines"), identifier(withdrawn))
    decide(stays, "ada", first, "decline")
    assert news.waiting(stays.server, ada) == 1
    with pytest.raises(Forbidden):
        news.waiting(stays.server, stays.person("ines"))


def test_analysts_are_told_what_was_decided_of_their_own_for_two_weeks(stays: World) -> None:
    first, second = ask(stays), ask(stays, where=NORTH, name="north")
    ask(stays, where=SOUTH)
    assert told(stays, "ines") == []
    decide(stays, "ada", first, "decline")
    stays.clock.now += timedelta(days=1)
    decide(stays, "ada", second, "approve")
    assert told(stays, "ines") == [("approved", "north"), ("declined", None)]
    assert told(stays, "iris") == []
    stays.clock.now += timedelta(days=news.DAYS - 1)
    assert told(stays, "ines") == [("approved", "north")]
    stays.clock.now += timedelta(days=1)
    assert told(stays, "ines") == []


def test_a_query_that_is_hidden_from_its_asker_is_not_named(stays: World) -> None:
    view = ask(stays, "pia", levels={"public": {"epsilon": 0.1}})
    decide(stays, "ada", view, "approve", levels={"internal": {"epsilon": 0.1}})
    assert told(stays, "pia") == [("declined", None)]


def say(world: World, name: str, view: RequestView, text: str) -> None:
    sent = CommentRequest(comment=text)
    comments.comment(world.server, world.person(name), identifier(view), sent)
    world.clock.forward(minutes=1)


def spoken(world: World, name: str) -> list[str]:
    """Return the last comments that somebody is told of."""
    told = news.commented(world.server, world.person(name))
    return [view.comments[-1].comment for view in told]


def test_analysts_are_told_of_an_admin_s_comment_until_they_answer_it(stays: World) -> None:
    view, other = ask(stays), ask(stays, where=NORTH, name="north")
    say(stays, "ines", view, "As last year.")
    assert spoken(stays, "ines") == []
    say(stays, "ada", view, "Which towns?")
    say(stays, "ada", other, "And when?")
    assert spoken(stays, "ines") == ["And when?", "Which towns?"]
    assert spoken(stays, "iris") == []
    say(stays, "ines", view, "All of them.")
    assert spoken(stays, "ines") == ["And when?"]
    decide(stays, "ada", other, "decline", comment="No answer.")
    assert spoken(stays, "ines") == []
    stays.clock.forward(minutes=1)
    say(stays, "ada", other, "Ask again next year.")
    assert spoken(stays, "ines") == ["Ask again next year."]
    stays.clock.forward(days=news.DAYS)
    assert spoken(stays, "ines") == []


def test_who_requests_later_or_withdrew_is_not_told_of_what_was_said_before(stays: World) -> None:
    view = ask(stays)
    say(stays, "ada", view, "Which towns?")
    ask(stays, "iris", name="the same")
    assert spoken(stays, "iris") == []
    asking.withdraw(stays.server, stays.person("ines"), identifier(view))
    assert spoken(stays, "ines") == []
    with pytest.raises(Forbidden):
        news.commented(stays.server, stays.person("ada"))
