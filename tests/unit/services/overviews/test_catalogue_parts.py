"""Test which datasets and streams of the catalogue match a choice, a page at a time."""

import pytest
from tests.unit.sites import SITES
from tests.unit.worlds import World

from penstock.services.access.principals import OPERATOR
from penstock.services.catalogue.choices import Choice
from penstock.services.datasets import datasets
from penstock.services.overviews import catalogue_parts
from penstock.services.pagination import Window
from penstock.services.schemas.queries import DatasetRequest


@pytest.fixture
def four(visits: World) -> World:
    """Return ``visits``, with three more datasets, of which one is tagged."""
    for name in ("beds", "staff", "stays"):
        texts = {"title": "People on duty", "tags": ["people"]} if name == "staff" else {}
        spec = DatasetRequest.model_validate({**SITES, "name": name, **texts})
        datasets.register(visits.server, OPERATOR, spec)
    return visits


def names(world: World, who: str, limit: int = 50, **given: str) -> list[str]:
    choice, window = Choice.parse(given), Window(limit)
    page = catalogue_parts.chosen_datasets(world.server, world.person(who), window, choice)
    return [item.name for item in page.items]


def test_datasets_are_found_by_name_title_tag_and_definition(four: World) -> None:
    assert names(four, "pia") == ["sites", "beds", "staff", "stays"]
    assert names(four, "pia", search="duty") == ["staff"]
    assert names(four, "pia", search="BEDS") == ["beds"]
    assert names(four, "pia", tag="people") == ["staff"]
    assert names(four, "pia", dataset="stays") == ["stays"]
    assert names(four, "pia", only="mine") == []


def test_a_page_of_those_that_match_leads_to_the_next(four: World) -> None:
    choice = Choice.parse({"search": "s"})
    first = catalogue_parts.chosen_datasets(four.server, OPERATOR, Window(2), choice)
    assert [item.name for item in first.items] == ["sites", "beds"]
    after = Window.parse("2", first.next_cursor)
    second = catalogue_parts.chosen_datasets(four.server, OPERATOR, after, choice)
    assert [item.name for item in second.items] == ["staff", "stays"]
    assert second.next_cursor is None
