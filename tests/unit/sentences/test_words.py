"""Test nouns, names and values as they stand in sentences."""

from typing import Any

import pytest

from penstock.sentences.words import LONGEST_PHRASE, bounded, noun_of_unit, plural, value, word


@pytest.mark.parametrize(
    ("unit", "one", "several"),
    [
        ({"column": "person"}, "person", "people"),
        ({"column": "patientID"}, "patient", "patients"),
        ({"column": "CompanyId"}, "company", "companies"),
        ({"column": "bus_key"}, "bus", "buses"),
        ({"column": "visits"}, "visits", "visits"),
        ({"column": "class_id"}, "class", "classes"),
        ({"column": "id"}, "privacy unit", "privacy units"),
        ({"column": "Straße"}, "privacy unit", "privacy units"),
        ({"rows": 1}, "row", "rows"),
        ("event", "event", "events"),
        (None, "privacy unit", "privacy units"),
    ],
    ids=[
        "person",
        "hump",
        "case",
        "key",
        "plural",
        "class",
        "empty",
        "foreign",
        "row",
        "event",
        "vector",
    ],
)
def test_a_privacy_unit_has_a_noun(unit: Any, one: str, several: str) -> None:
    assert (noun_of_unit(unit), plural(noun_of_unit(unit))) == (one, several)


def test_characters_that_reorder_a_line_are_escaped() -> None:
    assert word("a\u202eb") == '"a\\u202eb"'
    assert word("Straße") == "Straße"


@pytest.mark.parametrize("text", ["and", "Where", "", "two words", "1", "1.5", 'a"b', "a, b"])
def test_a_text_that_reads_like_the_sentence_stands_in_quotation_marks(text: str) -> None:
    assert word(text).startswith('"')
    assert value(text) == word(text)


@pytest.mark.parametrize(("cell", "words"), [(1, "1"), (1.5, "1.5"), (True, "true"), ("a", "a")])
def test_a_value_reads_as_its_type(cell: object, words: str) -> None:
    assert value(cell) == words
    assert isinstance(cell, str) or value(words) == f'"{words}"'


def test_a_long_phrase_keeps_its_beginning_and_differs_by_its_end() -> None:
    whole = "a" * LONGEST_PHRASE
    assert bounded(whole) == whole
    first, second = bounded(f"{whole}b"), bounded(f"{whole}c")
    assert first != second
    assert first.startswith("a" * 400 + "... (601 characters with the SHA-256 ")
