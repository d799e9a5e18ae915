"""Test which conditions are taken, and where they say what is wrong."""

from typing import Any

import pytest
from pydantic import ValidationError
from tests.unit.connectors.cases import query_of

from penstock.connectors.formulas.conditions import DEEPEST, MOST_ENTRIES
from penstock.connectors.planning.refusals import invalid_input

ADULT = {"column": "age", "op": ">=", "value": 18}
EMPTY = {"column": "ward", "op": "is_null"}


def _nested(depth: int, joining: str = "not") -> dict[str, Any]:
    entry: dict[str, Any] = ADULT
    for _ in range(depth - 1):
        entry = {joining: entry if joining == "not" else [entry]}
    return entry


def _refusals(where: object) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        query_of(where=where)
    return list(invalid_input(caught.value).errors)


@pytest.mark.parametrize(
    "where",
    [
        [{"any": [ADULT, EMPTY]}],
        [{"all": [ADULT, {"not": {"any": [EMPTY, ADULT]}}]}, EMPTY],
        [{"not": ADULT}],
    ],
)
def test_what_is_stored_is_what_was_sent(where: list[dict[str, Any]]) -> None:
    stored = query_of(where=where).model_dump(mode="json")
    assert stored["where"] == where
    assert query_of(**{**stored, "name": "question"}) == query_of(where=where)


def test_an_entry_alone_needs_no_list() -> None:
    assert query_of(where={"any": [ADULT, EMPTY]}) == query_of(where=[{"any": [ADULT, EMPTY]}])


@pytest.mark.parametrize(
    ("where", "place"),
    [
        ([{"any": []}], "/where/0/any"),
        ([{"any": ADULT}], "/where/0/any"),
        ([{"not": [ADULT]}], "/where/0/not"),
        ([{"any": [ADULT], "column": "age"}], "/where/0/column"),
        ([{"all": [ADULT], "any": [ADULT]}], "/where/0/all"),
        ([ADULT, {"any": [ADULT, {**ADULT, "op": "like"}]}], "/where/1/any/1/op"),
        ([{"not": {"all": [{**ADULT, "value": None}]}}], "/where/0/not/all/0/value"),
        ([{"column": "age", "op": "="}], "/where/0/value"),
        ([{**EMPTY, "value": 1}], "/where/0/value"),
        ([{"not_of": ADULT}], "/where/0/column"),
    ],
)
def test_a_wrong_condition_is_named(where: object, place: str) -> None:
    assert _refusals(where)[0][0] == place


def test_conditions_have_a_depth_and_a_number() -> None:
    for joining in ("not", "any"):
        query_of(where=[_nested(DEEPEST, joining)])
        ((place, sentence),) = _refusals([_nested(DEEPEST + 1, joining)])
        assert (place, str(DEEPEST) in sentence) == ("/where", True)
    several = {"any": [ADULT] * (MOST_ENTRIES - 1)}
    query_of(where=[several])
    ((place, sentence),) = _refusals([several, ADULT])
    assert (place, str(MOST_ENTRIES) in sentence) == ("/where", True)


def test_a_huge_condition_is_counted_before_anything_is_made_of_it() -> None:
    assert len(_refusals([_nested(100_000)])) == 1
