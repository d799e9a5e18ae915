"""Test the sections of the menu."""

import pytest

from penstock.web import PAGES
from penstock.web.http.documentation import FOLDER
from penstock.web.presenters.pages.menu import (
    HELP,
    OTHER,
    SECTIONS,
    Entry,
    Section,
    help_of,
    sections,
)


def test_pages_are_in_their_sections_and_in_the_order_of_the_sections() -> None:
    made = sections([("keys", "Keys"), ("budgets", "Budgets"), ("catalogue", "Catalogue")])
    assert [(section.title, [entry.title for entry in section.entries]) for section in made] == [
        ("", ["Catalogue", "Budgets"]),
        ("Access", ["Keys"]),
    ]


def test_a_page_that_no_section_names_is_the_last_of_the_first() -> None:
    made = sections([("anything", "Anything"), ("catalogue", "Catalogue")])
    other = Entry("anything", "Anything", OTHER)
    assert made == [Section("", (Entry("catalogue", "Catalogue", "catalogue"), other))]


def test_sections_name_only_pages_that_are_in_a_menu() -> None:
    named = {page for icons in SECTIONS.values() for page in icons}
    assert named <= {page.name for page in PAGES if page.menu}


def test_every_page_of_the_menu_has_a_place_in_the_documentation() -> None:
    assert {page.name for page in PAGES if page.menu} <= HELP.keys()
    assert help_of("web.keys") == HELP["keys"]
    assert help_of("web.front") is help_of(None) is None


def test_pages_beside_the_menu_have_help_as_well() -> None:
    assert HELP.keys() <= {page.name for page in PAGES}
    assert {"query", "release", "dataset", "dataset_budgets", "preview_clearance"} <= HELP.keys()


@pytest.mark.parametrize("place", sorted(set(HELP.values())))
def test_the_documentation_has_every_place_that_a_page_leads_to(place: str) -> None:
    page, _, part = place.partition("#")
    written = (FOLDER / page / "index.html").read_text()
    assert not part or f'id="{part}"' in written
