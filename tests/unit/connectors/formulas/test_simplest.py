"""Test which conditions and columns are one statistic in other words, and which are not."""

from typing import Any

import pytest
from tests.unit.connectors.cases import VISITS, dataset_of, query_of

from penstock.connectors.planning.prepare import prepare

COLUMNS: dict[str, Any] = {**VISITS, "visits": {"type": "integer", "missing": 0}}
AGE, DAY = {"column": "age"}, "2026-01-01"
YES = {"column": "urgent", "op": "=", "value": True}
NO, NOT_YES = {**YES, "value": False}, {**YES, "op": "!="}
OVER: dict[str, Any] = {"case": [{"when": {**AGE, "op": ">", "value": 5}, "then": 1}], "else": 0}
FROM: dict[str, Any] = {
    "case": [
        {"when": {**AGE, "op": ">=", "value": 9}, "then": 1},
        {"when": {**AGE, "op": ">", "value": 5}, "then": 1},
        {
            "when": {"all": [{**AGE, "op": "<", "value": 1}, {**AGE, "op": ">", "value": 1}]},
            "then": 2,
        },
    ],
    "else": 0,
}


def of(column: str, op: str, value: Any = None) -> dict[str, Any]:
    entry = {"column": column, "op": op, "value": value}
    return {name: part for name, part in entry.items() if part is not None}


def hash_of(*where: Any, **parts: Any) -> str | None:
    query = query_of(where=list(where), **parts)
    dataset = dataset_of(columns=COLUMNS)
    return prepare(dataset, query, version=1, mechanism="gaussian").canonical_hash


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([{"any": [of("age", "=", 1), of("age", "=", 2)]}], [of("age", "in", [1, 2])]),
        ([of("age", ">", 5)], [of("age", ">=", 6)]),
        ([of("age", "in", [3, 4, 5])], [of("age", ">", 2), of("age", "<", 6)]),
        ([of("day", ">", DAY)], [of("day", ">=", "2026-01-02")]),
        ([NOT_YES], [NO]),
        ([of("visits", "!=", 1)], [{"any": [of("visits", "!=", 1), of("visits", "is_null")]}]),
        ([{"any": [of("age", ">=", 18), of("age", "<", 18)]}], [of("age", "is_not_null")]),
        ([of("cost", ">=", 1), of("cost", "<=", 1)], [of("cost", "=", 1)]),
        ([of("age", ">", 5), of("age", "<", 3)], [of("cost", ">", 5), of("cost", "<", 3)]),
        (
            [of("age", ">", 5), {"any": [of("ward", "=", "a"), of("age", "is_null")]}],
            [of("age", ">", 5), of("ward", "=", "a")],
        ),
    ],
)
def test_conditions_that_hold_for_the_same_rows_are_one(left: Any, right: Any) -> None:
    assert hash_of(*left) == hash_of(*right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ([of("cost", ">", 5)], [of("cost", ">=", 6)]),
        ([of("cost", ">", 5)], [of("cost", ">=", 5)]),
        ([of("age", "!=", 1)], [{"any": [of("age", "!=", 1), of("age", "is_null")]}]),
        ([of("ward", "!=", "a")], [of("ward", "in", ["b", "c"])]),
        (
            [NOT_YES],
            [{"any": [NO, of("urgent", "is_null")]}],
        ),
        ([of("day", ">", DAY)], [of("day", ">=", DAY)]),
    ],
)
def test_conditions_that_differ_for_a_row_are_two(left: Any, right: Any) -> None:
    assert hash_of(*left) != hash_of(*right)


def test_a_missing_cell_is_no_difference_where_its_row_is_left_out() -> None:
    distinct = {"any": [of("age", "!=", 1), of("age", "is_null")]}
    total = {"type": "sum", "column": "age"}
    assert hash_of(distinct, aggregate=total) == hash_of(of("age", "!=", 1), aggregate=total)


def test_a_grouped_column_has_its_categories_alone() -> None:
    groups = {"group_by": ["ward"]}
    others = of("ward", "!=", "a"), of("ward", "in", ["b", "c"])
    assert hash_of(others[0], **groups) == hash_of(others[1], **groups)
    assert hash_of(others[0], **groups) != hash_of(of("ward", "=", "b"), **groups)


def test_a_column_that_is_the_cell_of_another_is_that_one() -> None:
    total = {"type": "sum", "column": "age"}
    derived = {"derived": {"x": AGE}, "aggregate": {"type": "sum", "column": "x"}}
    assert hash_of(**derived) == hash_of(aggregate=total)
    assert hash_of(of("x", ">", 5), **derived) == hash_of(of("age", ">", 5), aggregate=total)
    # Cells are cut at 120 before they are counted, and at 130 they are not.
    wider = {**derived, "aggregate": {"type": "sum", "column": "x", "upper": 130}}
    assert hash_of(**wider) != hash_of(aggregate={**total, "upper": 130})


def test_a_difference_may_be_turned_round() -> None:
    left = {"d": {"subtract": [AGE, {"multiply": [2, AGE]}]}}
    right = {"d": {"subtract": [{"multiply": [2, AGE]}, AGE]}}
    assert hash_of(of("d", ">", 3), derived=left) == hash_of(of("d", "<=", -4), derived=right)
    more = {"d": {"add": [AGE, 1]}}
    assert hash_of(of("d", ">", 5), derived=more) == hash_of(of("age", ">", 4))


def test_cases_that_never_count_are_left_out_unless_they_are_keys() -> None:
    where = of("x", "=", 1)
    assert hash_of(where, derived={"x": FROM}) == hash_of(where, derived={"x": OVER})
    keys = {"group_by": ["x"]}
    assert hash_of(derived={"x": FROM}, **keys) != hash_of(derived={"x": OVER}, **keys)
