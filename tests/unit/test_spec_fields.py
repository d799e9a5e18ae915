"""Test the kinds of field that specs are made of: what each takes and refuses."""

import json
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError
from tests.unit.connectors.cases import dataset_of

from penstock.spec_fields import (
    LARGEST,
    ColumnName,
    Name,
    Number,
    Text,
    Value,
    Values,
    as_column,
    as_epsilon,
    as_list,
    each_once,
    folded,
)

KINDS: dict[str, TypeAdapter[Any]] = {
    "name": TypeAdapter(Name),
    "column": TypeAdapter(ColumnName),
    "text": TypeAdapter(Text),
    "number": TypeAdapter(Number),
    "value": TypeAdapter(Value),
    "values": TypeAdapter(Values),
}


def test_names_are_brought_to_one_unicode_form_and_compared_without_case() -> None:
    assert dataset_of(name="Zoe\u0308").name == "Zoë"
    assert folded("ZOË") == folded("zoe\u0308") == folded("Zoë")
    assert folded("Straße") == folded("STRASSE")
    assert dataset_of(name="1 good name").name == "1 good name"


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("name", "x" * 64),
        ("column", " any, name/at all "),
        ("text", ""),
        ("text", "x" * 1024),
        ("number", LARGEST),
        ("number", -LARGEST),
        ("number", 0.5),
        ("value", True),
        ("values", (1, "a", False)),
        ("values", "alone"),
    ],
)
def test_what_is_within_the_bounds_is_taken_as_it_is(kind: str, value: object) -> None:
    taken = KINDS[kind].validate_python(value)
    assert taken == value
    assert type(taken) is type(value)


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("name", "x" * 65),
        ("name", "a,b"),
        ("name", "_a"),
        ("column", ""),
        ("column", "x" * 129),
        ("column", "a\x1b"),
        ("text", "x" * 1025),
        ("text", "a\nb"),
        ("text", 1),
        ("number", True),
        ("number", "1"),
        ("number", float("nan")),
        ("number", float("-inf")),
        ("number", LARGEST + 1),
        ("value", None),
        ("value", [1]),
        ("values", []),
        ("values", [1] * 1001),
        ("values", [[1]]),
    ],
)
def test_what_is_refused_is_not_repeated(kind: str, value: object) -> None:
    with pytest.raises(ValidationError) as refused:
        KINDS[kind].validate_python(value)
    [error] = json.loads(refused.value.json(include_input=False))
    assert error["msg"].endswith(".")
    if len(repr(value)) > 8:
        assert str(value)[:9] not in error["msg"]


def test_short_spellings_stand_for_long_ones() -> None:
    assert (as_list("a"), as_list({"a": 1}), as_list(["a"])) == (["a"], [{"a": 1}], ["a"])
    assert (as_column("age"), as_column({"column": "age"})) == ({"column": "age"},) * 2
    assert (as_epsilon(0.5), as_epsilon({"rho": 1})) == ({"epsilon": 0.5}, {"rho": 1})
    assert as_epsilon(value=True) is True


def test_two_spellings_of_one_tier_are_refused() -> None:
    assert each_once({"public": 1, "internal": 2}) == {"public": 1, "internal": 2}
    with pytest.raises(ValueError, match="listed twice"):
        each_once({"Public": 1, "public": 2})
