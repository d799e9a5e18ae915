"""Test which texts for readers are accepted, and that all mistakes are named at once."""

from typing import Any

import pytest
from pydantic import TypeAdapter

from penstock.connectors.planning.refusals import checked
from penstock.errors import InvalidInput
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.queries import QueryChange
from penstock.services.schemas.streams import StreamOrTextsChange
from penstock.services.schemas.wordings.wordings import (
    LONGEST_LABELS,
    MOST_LABELS,
    WordingSpec,
    texts_of,
)

TEXTS = {
    "title": "Stays by area",
    "description": "Counted at the door.\nOnce a day.",
    "unit": "days",
    "tags": ["health", "2026"],
    "labels": {"1": "Outside of towns", "ü/~": "In towns"},
    "owners": ["ada"],
}


def test_texts_are_kept_and_never_written_with_a_spec() -> None:
    spec = checked(WordingSpec, TEXTS)
    assert texts_of(spec) == TEXTS
    assert spec.model_dump() == {}
    assert texts_of(checked(WordingSpec, {"title": None})) == {}
    spaced = checked(WordingSpec, {"title": " a ", "tags": []})
    assert texts_of(spaced) == {"title": "a", "tags": []}


def test_lines_of_a_form_become_lines() -> None:
    assert checked(WordingSpec, {"description": "a\r\nb"}).description == "a\nb"


@pytest.mark.parametrize(
    ("field", "value", "place"),
    [
        ("title", "t" * 201, "/title"),
        ("title", "two\nlines", "/title"),
        ("title", "\u202eesrever", "/title"),
        ("title", 7, "/title"),
        ("description", "d" * 4001, "/description"),
        ("description", "a\x00b", "/description"),
        ("unit", "u" * 65, "/unit"),
        ("tags", ["ok", "a,b"], "/tags/1"),
        ("tags", [""], "/tags/0"),
        ("tags", ["a", "A"], "/tags"),
        ("tags", [f"{number}" for number in range(21)], "/tags"),
        ("labels", {"a": ""}, "/labels/a"),
        ("labels", {"a": 3}, "/labels/a"),
        ("labels", {"a": ["x"]}, "/labels/a"),
        ("labels", {"a\x07": "x"}, "/labels/a\x07"),
        ("labels", {f"{number}": "x" for number in range(MOST_LABELS + 1)}, "/labels"),
        ("labels", {f"{number}": "x" * 200 for number in range(LONGEST_LABELS // 200)}, "/labels"),
        ("owners", ["a/b"], "/owners/0"),
        ("owners", ["ada", "Ada"], "/owners"),
    ],
    ids=lambda value: ascii(value)[:24],
)
def test_texts_that_are_too_long_or_not_plain(field: str, value: object, place: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        checked(WordingSpec, {field: value})
    assert [pointer for pointer, _ in refused.value.errors] == [place]


def test_all_mistakes_are_named_at_once() -> None:
    lists: dict[str, Any] = {"tags": [1, "a,b"], "labels": {"x": ""}}
    wrong = {"title": "\x00", "unit": "\n\x01", **lists}
    with pytest.raises(InvalidInput) as refused:
        checked(WordingSpec, wrong)
    places = [pointer for pointer, _ in refused.value.errors]
    assert places == ["/title", "/unit", "/tags/0", "/tags/1", "/labels/x"]


@pytest.mark.parametrize("form", [QueryChange, StreamOrTextsChange], ids=["query", "stream"])
def test_levels_and_texts_are_changed_by_separate_requests(form: Any) -> None:
    assert texts_of(checked(form, {"title": "A"})) == {"title": "A"}
    assert checked(form, {"levels": {"public": {"epsilon": 1}}}).levels["public"].epsilon == 1
    with pytest.raises(InvalidInput, match="each by a request of its own"):
        checked(form, {"title": "A", "levels": {"public": {"epsilon": 1}}})
    assert TypeAdapter(form).json_schema()


@pytest.mark.parametrize(
    "also",
    [{"budgets": {"public": 1}}, {"same_people_as": "b"}, {"delta": 0.1}],
    ids=["budgets", "same_people_as", "delta"],
)
def test_a_datasets_texts_are_changed_alone(also: dict[str, object]) -> None:
    assert checked(DatasetChange, {"unit": "days"}).texts == {"unit": "days"}
    with pytest.raises(InvalidInput, match="each by a request of its own"):
        checked(DatasetChange, {"unit": "days", **also})
