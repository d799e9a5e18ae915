"""Test the links from one choice of the catalogue to the others."""

from penstock.services.catalogue.choices import SORTS, Choice
from penstock.web.presenters.pages import catalogue_links

CHOICE = Choice(search="a b", sort="name", only="new", dataset="sites", tag="x")


def test_an_order_keeps_the_filters() -> None:
    links = catalogue_links.orders(CHOICE)
    assert [link.title for link in links] == list(SORTS)
    assert [link.title for link in links if link.is_current] == ["name"]
    assert all(Choice.parse(link.fields).search == "a b" for link in links)
    assert {Choice.parse(link.fields).sort for link in links} == set(SORTS)


def test_a_filter_keeps_the_search_and_all_removes_it() -> None:
    every, mine, new, *_, dataset, tag = catalogue_links.chips(CHOICE)
    assert (every.title, every.fields) == (
        "All",
        {"search": "a b", "sort": "name", "dataset": "sites", "tag": "x"},
    )
    assert mine.fields["only"] == "mine"
    assert (new.is_current, mine.is_current) == (True, False)
    assert dataset.title == "Dataset sites"
    assert "dataset" not in dataset.fields
    assert (tag.title, tag.removes, tag.fields["dataset"]) == ("Tag x", True, "sites")
    assert "tag" not in tag.fields


def test_an_address_leaves_out_what_goes_without_saying() -> None:
    assert catalogue_links.fields(Choice()) == {}
    assert len(catalogue_links.chips(Choice())) == 4
    assert Choice.parse(catalogue_links.fields(CHOICE)) == CHOICE
