"""Test which columns of a view are read, and what a view is recognized by."""

from typing import Any

import pytest
from tests.unit.connectors.cases import dataset_of

from penstock.connectors.spark.views import View, check_columns, cluster_of
from penstock.errors import InvalidInput

TYPES = {
    "person": "string",
    "ward": "string",
    "age": "int",
    "cost": "decimal(10,2)",
    "urgent": "boolean",
    "day": "date",
}


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("cost", "float", "of type float.*Four bytes"),
        ("ward", "array<string>", "of type array<string>; one that is declared as string"),
        ("ward", "string collate UTF8_LCASE", "UTF8_LCASE"),
        ("age", "decimal(10,0)", r"of type decimal\(10,0\)"),
        ("day", "timestamp", "of type timestamp"),
        ("day", "struct<a:int>", "of type struct"),
    ],
)
def test_columns_of_other_types_are_refused_by_name(name: str, kind: str, message: str) -> None:
    check_columns(dataset_of(), View("local", "a.b", TYPES))
    with pytest.raises(InvalidInput, match=message) as refused:
        check_columns(dataset_of(), View("local", "a.b", {**TYPES, name: kind}))
    assert refused.value.errors[0][0] == f"/columns/{name}"


def test_a_missing_column_is_refused_by_name() -> None:
    kinds = {name: kind for name, kind in TYPES.items() if name != "day"}
    with pytest.raises(InvalidInput, match="/columns/day: The view has no column"):
        check_columns(dataset_of(), View("local", "a.b", kinds))


@pytest.mark.parametrize(
    "other",
    [
        {"cluster": "sc://other:1"},
        {"name": "a.c"},
        {"types": {**TYPES, "more": "int"}},
        {"types": {**TYPES, "age": "bigint"}},
    ],
)
def test_a_view_is_recognized_by_names_and_types(other: dict[str, Any]) -> None:
    own: dict[str, Any] = {"cluster": "local", "name": "a.b", "types": TYPES}
    key = bytes(32)
    assert View(**own).fingerprint(key) == View(**own).fingerprint(key)
    assert View(**{**own, **other}).fingerprint(key) != View(**own).fingerprint(key)


def test_of_an_address_only_the_cluster_counts() -> None:
    assert cluster_of("local[2]") == cluster_of("local") == "local"
    assert cluster_of("sc://Host:15002/;token=canary") == "sc://host:15002"
    assert cluster_of("spark://a:7077,b:7077") == "spark://a:7077,b:7077"
