"""Test what an address may say of the catalogue."""

import pytest

from penstock.errors import InvalidInput
from penstock.services.catalogue.choices import LONGEST_SEARCH, MARKS, SORTS, Choice


def test_what_is_left_out_filters_nothing() -> None:
    choice = Choice.parse({})
    assert choice == Choice() == Choice.parse({"search": "  ", "sort": "", "only": ""})
    assert not choice.narrows
    assert choice.matches("anything")
    assert choice.is_of("any")


@pytest.mark.parametrize("name", ["search", "only", "dataset", "tag"])
def test_each_filter_narrows_and_an_order_does_not(name: str) -> None:
    assert Choice.parse({name: MARKS[0]}).narrows
    assert not any(Choice.parse({"sort": sort}).narrows for sort in SORTS)


def test_each_word_must_be_in_one_of_the_texts_in_any_case() -> None:
    choice = Choice.parse({"search": " Plan  VISITS "})
    assert choice.matches("visits", "by plan and year")
    assert choice.matches("Visits per plan")
    assert not choice.matches("visits", "by year")
    # A word is in one text, not across two.
    assert not Choice(search="ab").matches("a", "b")
    assert Choice(search="STRASSE").matches("straße")


def test_datasets_and_tags_are_compared_as_names_are() -> None:
    assert Choice(dataset="Sites").is_of("sites")
    assert not Choice(dataset="site").is_of("sites")
    assert Choice(tag="Health").is_tagged(["work", "health"])
    assert not Choice(tag="heal").is_tagged(["health"])
    assert Choice().is_tagged([])


@pytest.mark.parametrize(
    ("given", "pointer"),
    [
        ({"sort": "best"}, "/sort"),
        ({"only": "yours"}, "/only"),
        ({"search": "a" * (LONGEST_SEARCH + 1)}, "/search"),
    ],
    ids=["sort", "only", "search"],
)
def test_what_cannot_be_chosen_is_refused_at_its_field(given: dict[str, str], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        Choice.parse(given)
    assert [place for place, _ in refused.value.errors] == [pointer]
