"""Test that all columns that are missing or of another type are named, each with what it may be."""

import pytest
from tests.unit.connectors.cases import dataset_of

from penstock.connectors.specs.typed_columns import Readable, require_readable
from penstock.errors import InvalidInput

READABLE: Readable = {
    "string": frozenset({"text"}),
    "number": frozenset({"double", "decimal"}),
    "integer": frozenset({"long", "int"}),
}
COLUMNS = {
    "person": {"type": "string"},
    "age": {"type": "integer", "lower": 0, "upper": 120},
    "cost": {"type": "number", "lower": 0, "upper": 9, "step": 1},
}


def places(**types: str) -> dict[str, str]:
    """Return what is said of columns of these types."""
    with pytest.raises(InvalidInput) as refused:
        require_readable(dataset_of(columns=COLUMNS), types, READABLE, short="float", kind_of=kind)
    return dict(refused.value.errors)


def kind(type_: str) -> str:
    return type_.partition("(")[0]


def test_columns_of_readable_types_are_taken_with_others_beside_them() -> None:
    types = {"person": "text", "age": "int", "cost": "decimal(9,2)", "more": "blob"}
    require_readable(dataset_of(columns=COLUMNS), types, READABLE, short="float", kind_of=kind)


def test_every_column_that_is_not_is_named() -> None:
    said = places(person="text(9)", age="decimal(3,0)")
    assert set(said) == {"/columns/age", "/columns/cost"}
    assert said["/columns/cost"] == "The view has no column of this name."
    assert "is of type decimal(3,0)" in said["/columns/age"]
    assert "is of type int, long." in said["/columns/age"]


def test_numbers_of_four_bytes_are_told_why() -> None:
    said = places(person="text", age="float", cost="float")
    assert "Four bytes" in said["/columns/cost"]
    assert "Four bytes" not in said["/columns/age"]
