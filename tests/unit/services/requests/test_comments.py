"""Test that both sides comment on a request, and that askers do not read each other."""

import pytest
from tests.unit.services.requests.requesting import (
    ask,
    decide,
    identifier,
    leaves,
    problems,
    shown,
)
from tests.unit.worlds import World

from penstock.errors import Conflict, Forbidden, NotFound
from penstock.services.requests import asking, comments
from penstock.services.schemas.requests.specs import CommentRequest
from penstock.services.schemas.requests.views import RequestView


def comment(world: World, name: str, view: RequestView, text: str) -> RequestView:
    request = CommentRequest(comment=text)
    return comments.comment(world.server, world.person(name), identifier(view), request)


def read(world: World, name: str, view: RequestView) -> list[tuple[str, str]]:
    return [(each.by, each.comment) for each in shown(world, name, view).comments]


def test_an_analyst_and_an_admin_read_each_other(stays: World) -> None:
    view = ask(stays)
    comment(stays, "ada", view, "Which year?")
    comment(stays, "ines", view, "The last one.")
    both = [("ada", "Which year?"), ("ines", "The last one.")]
    assert read(stays, "ines", view) == read(stays, "ada", view) == both
    assert [leaf["act"] for leaf in leaves(stays)] == ["ask", "comment", "comment"]
    assert problems(stays) == []


def test_askers_of_one_statistic_do_not_read_each_other_nor_what_came_before(stays: World) -> None:
    first = ask(stays, "ines")
    comment(stays, "ada", first, "To ines alone, so far.")
    stays.clock.forward(hours=1)
    second = ask(stays, "iris")
    comment(stays, "ines", first, "What ines says.")
    comment(stays, "ada", second, "To both.")
    assert read(stays, "iris", second) == [("ada", "To both.")]
    assert [by for by, _ in read(stays, "ines", first)] == ["ada", "ines", "ada"]


def test_others_do_not_comment(stays: World) -> None:
    view = ask(stays)
    with pytest.raises(NotFound):
        comment(stays, "iris", view, "Me too.")
    with pytest.raises(Forbidden):
        comment(stays, "otto", view, "Noted.")


def test_a_decided_request_takes_comments_and_a_withdrawn_one_takes_none_of_its_asker(
    stays: World,
) -> None:
    view = ask(stays)
    decide(stays, "ada", view, "decline")
    comment(stays, "ines", view, "Why?")
    again = ask(stays)
    asking.withdraw(stays.server, stays.person("ines"), identifier(again))
    with pytest.raises(Conflict, match="withdrew"):
        comment(stays, "ines", again, "Still here.")
    comment(stays, "ada", again, "Withdrawn, but noted.")
    assert read(stays, "ines", again) == []


def test_a_decision_s_comment_stands_where_it_was_made(stays: World) -> None:
    view = ask(stays)
    for who, text in (("ines", "First."), ("ada", ""), ("ines", "Why?"), ("ada", "See above.")):
        stays.clock.forward(minutes=1)
        if text:
            comment(stays, who, view, text)
        else:
            decide(stays, who, view, "decline", comment="Too close.")
    texts = [text for _, text in read(stays, "ines", view)]
    assert texts == ["First.", "Too close.", "Why?", "See above."]
