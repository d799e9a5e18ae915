"""Test the sections of the menu."""

from penstock.web import PAGES
from penstock.web.presenters.pages.menu import OTHER, SECTIONS, Entry, Section, sections


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
