"""Test which levels some people hold of each query, who holds them, and what they come to."""

import pytest
from tests.unit.worlds import World

from penstock.errors import Forbidden
from penstock.services.access.principals import OPERATOR
from penstock.services.exposure import by_query
from penstock.services.pagination import Window

EVERYTHING = Window(100)


def test_everybody_who_may_be_asked_about_is_listed(visits: World) -> None:
    people = by_query.listing(visits.server, OPERATOR, EVERYTHING).items
    assert [person.name for person in people] == ["pia", "paul", "ines", "ada", "otto"]
    assert people[0] == by_query.PersonView("pia", ["analyst"], "public", active=True)
    assert people[3].clearance is None


def test_together_people_hold_what_the_best_informed_holds(visits: World) -> None:
    for name in ("pia", "ines"):
        visits.ask(name)
    names = ["pia", "ines", "ada"]
    (query,) = by_query.shared(visits.server, OPERATOR, names, EVERYTHING).items
    assert (query.query, query.dataset, query.version) == ("visits", "sites", 1)
    assert query.lossless
    assert [(point.tiers, point.people) for point in query.points] == [
        (["internal"], ["ines"]),
        (["public"], ["pia"]),
    ]
    assert query.points[0].level.value < query.points[1].level.value
    (alone,) = by_query.shared(visits.server, OPERATOR, ["ines"], EVERYTHING).items
    assert query.together == alone.together
    assert query.independent.epsilon > query.together.epsilon


def test_queries_that_none_of_them_holds_are_left_out(visits: World) -> None:
    visits.push("second", share=0.01, levels=None)
    visits.ask("paul", "second")
    assert by_query.shared(visits.server, OPERATOR, ["pia"], EVERYTHING).items == []
    (query,) = by_query.shared(visits.server, OPERATOR, ["paul"], EVERYTHING).items
    assert query.query == "second"


def test_pages_have_each_query_once(visits: World) -> None:
    visits.push("second", share=0.01, levels=None)
    for name in ("visits", "second"):
        visits.ask("pia", name)
    first = by_query.shared(visits.server, OPERATOR, ["pia"], Window(1))
    rest = Window.parse("1", first.next_cursor)
    last = by_query.shared(visits.server, OPERATOR, ["pia"], rest)
    assert [query.query for query in first.items + last.items] == ["visits", "second"]
    assert last.next_cursor is None


def test_others_are_asked_about_by_auditors_alone(visits: World) -> None:
    pia = visits.person("pia")
    assert by_query.shared(visits.server, pia, ["pia"], EVERYTHING).items == []
    for act in (
        lambda: by_query.shared(visits.server, pia, ["paul"], EVERYTHING),
        lambda: by_query.listing(visits.server, pia, EVERYTHING),
    ):
        with pytest.raises(Forbidden):
            act()
