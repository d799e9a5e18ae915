"""Test which queries are listed, in which order, with which marks, and that none leaks."""

from typing import Any

import pytest
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR, Principal
from penstock.services.catalogue.choices import NEW_DAYS, Choice
from penstock.services.catalogue.listing import Listing, listing
from penstock.services.pagination import Page, Window
from penstock.services.people import users
from penstock.services.queries import queries
from penstock.services.schemas.people.users import UserChange

ABOVE = {"levels": {"internal": {"epsilon": 0.5}}}
"""The levels of a query that only the highest tier sees."""


ALL = Window(50)


def listed(world: World, caller: Principal, window: Window = ALL, **given: str) -> Listing:
    return listing(world.server, caller, window, Choice.parse(given))


def names(found: Listing) -> list[str]:
    return [item.query.name for item in found.page.items]


@pytest.fixture
def three(visits: World) -> World:
    """Return ``visits``, then ``beds`` much later, of the highest tier alone, and ``age``."""
    visits.clock.forward(days=NEW_DAYS + 1)
    visits.push("beds", title="Occupied places", tags=["hospital"], **ABOVE)
    visits.push("age", bound=1234, title="Years of life", tags=["people"])
    return visits


def test_orders_are_by_registration_or_by_name(three: World) -> None:
    orders = {
        "newest": ["age", "beds", "visits"],
        "oldest": ["visits", "beds", "age"],
        "name": ["age", "beds", "visits"],
        "dataset": ["age", "beds", "visits"],
    }
    for sort, expected in orders.items():
        assert names(listed(three, OPERATOR, sort=sort)) == expected
    assert names(listed(three, OPERATOR)) == orders["newest"]


def test_pages_follow_the_chosen_order(three: World) -> None:
    first = listed(three, OPERATOR, Window(2), sort="name")
    assert names(first) == ["age", "beds"]
    assert first.page.next_cursor == "1"
    rest = listed(three, OPERATOR, Window(2, after=1), sort="name")
    assert (names(rest), rest.page.next_cursor) == (["visits"], None)
    assert (rest.chosen, rest.visible) == (3, 3)
    beyond = listed(three, OPERATOR, Window(2, after=10**17))
    assert (names(beyond), beyond.chosen) == ([], 3)


def test_a_search_finds_names_datasets_and_sentences(three: World) -> None:
    assert names(listed(three, OPERATOR, search="AGE")) == ["age"]
    assert names(listed(three, OPERATOR, search="1234")) == ["age"]
    assert len(names(listed(three, OPERATOR, search="values sites"))) == 3
    nothing = listed(three, OPERATOR, search="1234 beds")
    assert (names(nothing), nothing.chosen, nothing.visible) == ([], 0, 3)


def test_a_search_tells_nothing_of_queries_out_of_sight(three: World) -> None:
    pia, ines = three.person("pia"), three.person("ines")
    assert names(listed(three, ines, search="beds")) == ["beds"]
    absent = listed(three, pia, search="nowhere")
    for word in ("beds", "0.5", "internal", "occupied", "hospital"):
        assert listed(three, pia, search=word) == absent
    assert listed(three, pia, tag="hospital") == absent
    assert (absent.chosen, absent.visible) == (0, 2)


def test_titles_and_tags_are_searched_and_a_tag_is_a_filter(three: World) -> None:
    assert names(listed(three, OPERATOR, search="occupied")) == ["beds"]
    assert names(listed(three, OPERATOR, search="people life")) == ["age"]
    (found,) = listed(three, OPERATOR, tag="PEOPLE").page.items
    assert (found.query.title, found.query.tags) == ("Years of life", ["people"])
    assert names(listed(three, OPERATOR, tag="peopl")) == []


def test_who_is_cleared_for_nothing_finds_nothing(three: World) -> None:
    users.change(three.server, OPERATOR, "pia", UserChange(clearance=None))
    assert listed(three, three.person("pia")) == Listing(Page([], None), 0, 0)


def test_marks_say_what_is_mine_new_and_retired(three: World) -> None:
    three.ask("pia")
    queries.retire(three.server, OPERATOR, "visits")
    found: dict[str, Any] = {
        item.query.name: item.marks for item in listed(three, three.person("pia")).page.items
    }
    assert found == {"visits": ("mine", "retired"), "age": ("new",)}
    for only, expected in {"mine": "visits", "new": "age", "retired": "visits"}.items():
        assert names(listed(three, three.person("pia"), only=only)) == [expected]
    assert names(listed(three, three.person("paul"), only="mine")) == []


def test_a_dataset_is_a_filter_and_an_unknown_one_filters_all(three: World) -> None:
    assert len(names(listed(three, OPERATOR, dataset="SITES"))) == 3
    unknown = listed(three, OPERATOR, dataset="nowhere")
    assert (names(unknown), unknown.chosen) == ([], 0)
