"""Test which columns of a view are read, and what a view is recognized by."""

from typing import Any

import pytest
from tests.unit.connectors.cases import dataset_of

from penstock.connectors.clickhouse.views import View, check_columns, server_of
from penstock.errors import InvalidInput

TYPES = {
    "person": "LowCardinality(Nullable(String))",
    "ward": "String",
    "age": "Nullable(Int32)",
    "cost": "Nullable(Decimal(10, 2))",
    "urgent": "Bool",
    "day": "Date",
}


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("cost", "Nullable(Float32)", "Float32.*Four bytes"),
        ("ward", "Array(String)", r"of type Array\(String\); one that is declared as string"),
        ("ward", "FixedString(3)", "FixedString"),
        ("ward", "Enum8('a' = 1)", "Enum8"),
        ("age", "UInt64", "of type UInt64"),
        ("age", "Int128", "of type Int128"),
        ("day", "DateTime('UTC')", "of type DateTime"),
        ("urgent", "UInt8", "of type UInt8"),
    ],
)
def test_columns_of_other_types_are_refused_by_name(name: str, kind: str, message: str) -> None:
    check_columns(dataset_of(), View("host:1", "a.b", TYPES))
    with pytest.raises(InvalidInput, match=message) as refused:
        check_columns(dataset_of(), View("host:1", "a.b", {**TYPES, name: kind}))
    assert refused.value.errors[0][0] == f"/columns/{name}"


def test_a_missing_column_is_refused_by_name() -> None:
    kinds = {name: kind for name, kind in TYPES.items() if name != "day"}
    with pytest.raises(InvalidInput, match="/columns/day: The view has no column"):
        check_columns(dataset_of(), View("host:1", "a.b", kinds))


@pytest.mark.parametrize(
    "other",
    [
        {"server": "other:1"},
        {"name": "a.c"},
        {"types": {**TYPES, "more": "Int8"}},
        {"types": {**TYPES, "age": "Int64"}},
    ],
)
def test_a_view_is_recognized_by_names_and_types(other: dict[str, Any]) -> None:
    own: dict[str, Any] = {"server": "host:1", "name": "a.b", "types": TYPES}
    key = bytes(32)
    assert View(**own).fingerprint(key) == View(**own).fingerprint(key)
    assert View(**{**own, **other}).fingerprint(key) != View(**own).fingerprint(key)


def test_of_an_address_only_the_server_counts() -> None:
    assert server_of("clickhouse://a:canary@Host:8443/x") == "host:8443"
    assert server_of("clickhouses://b@host/") == "host:8443"
    assert server_of("chdb:///srv/a%20b") == "chdb:/srv/a b"
