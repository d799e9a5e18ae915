"""Test which derived columns are taken, and where they say what is wrong."""

from typing import Any

import pytest
from pydantic import ValidationError
from tests.unit.connectors.cases import query_of

from penstock.connectors.formulas.expressions import MOST_DERIVED, MOST_PARTS
from penstock.connectors.planning.refusals import invalid_input

AGE = {"column": "age"}
MINOR = {"when": {"column": "age", "op": "<", "value": 18}, "then": "minor"}


def _refusals(expression: object) -> list[tuple[str, str]]:
    with pytest.raises(ValidationError) as caught:
        query_of(derived={"x": expression})
    return list(invalid_input(caught.value).errors)


@pytest.mark.parametrize(
    "expression",
    [
        7,
        "a text",
        AGE,
        {"add": [AGE, 1, {"negate": AGE}]},
        {"subtract": [{"multiply": [2, AGE]}, 1]},
        {"case": [MINOR], "else": "adult"},
        {"case": [MINOR, {**MINOR, "then": {"column": "ward"}}]},
    ],
)
def test_what_is_stored_is_what_was_sent(expression: object) -> None:
    query = query_of(derived={"x": expression})
    for stored in (query.model_dump(mode="json"), query.model_dump(mode="json", exclude_none=True)):
        assert stored["derived"] == {"x": expression}
        assert query_of(**stored) == query


def test_a_query_without_derived_columns_is_stored_as_before() -> None:
    assert "derived" not in query_of().model_dump(mode="json")


@pytest.mark.parametrize(
    ("expression", "place"),
    [
        (1.5, "/derived/x"),
        (True, "/derived/x"),
        (None, "/derived/x"),
        ([AGE], "/derived/x"),
        ({}, "/derived/x"),
        ({"divide": [AGE, 2]}, "/derived/x"),
        (2**53, "/derived/x"),
        ("x" * 1025, "/derived/x"),
        ({"add": []}, "/derived/x/add"),
        ({"add": AGE}, "/derived/x/add"),
        ({"add": [AGE, 1.5]}, "/derived/x/add/1"),
        ({"add": [AGE], "else": 1}, "/derived/x/else"),
        ({"subtract": [AGE]}, "/derived/x/subtract"),
        ({"subtract": [AGE, 1, 2]}, "/derived/x/subtract"),
        ({"negate": [AGE]}, "/derived/x/negate"),
        ({"case": []}, "/derived/x/case"),
        ({"case": [{"when": MINOR["when"]}]}, "/derived/x/case/0/then"),
        (
            {"case": [{**MINOR, "when": {"column": "age", "op": "<"}}]},
            "/derived/x/case/0/when/value",
        ),
        ({"case": [MINOR], "else": {"multiply": [1, {}]}}, "/derived/x/else/multiply/1"),
    ],
)
def test_a_wrong_part_is_named(expression: object, place: str) -> None:
    assert _refusals(expression)[0][0] == place


def test_derived_columns_have_a_size() -> None:
    query_of(derived={f"x{number}": AGE for number in range(MOST_DERIVED)})
    query_of(derived={"x": {"add": [1] * (MOST_PARTS - 1)}})
    with pytest.raises(ValidationError):
        query_of(derived={f"x{number}": AGE for number in range(MOST_DERIVED + 1)})
    ((place, sentence),) = _refusals({"add": [1] * MOST_PARTS})
    assert (place, str(MOST_PARTS) in sentence) == ("/derived", True)


@pytest.mark.parametrize("depth", [33, 100_000])
def test_what_is_too_deep_is_refused_before_anything_is_made_of_it(depth: int) -> None:
    expression: Any = AGE
    for _ in range(depth):
        expression = {"negate": expression}
    assert len(_refusals(expression)) == 1


def test_conditions_of_cases_count_too() -> None:
    condition: Any = MINOR["when"]
    for _ in range(40):
        condition = {"not": condition}
    assert len(_refusals({"case": [{"when": condition, "then": 1}]})) == 1
