"""Test that short spellings equal the long ones, and that all faults of a spec are reported."""

from typing import Any

import pytest
from pydantic import TypeAdapter
from tests.unit.connectors.cases import dataset_of, prepared, query_of

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.specs.models import ComputedQuery
from penstock.errors import InvalidInput
from penstock.services.schemas.datasets import DatasetChange
from penstock.services.schemas.queries import LevelsChange, QueryRequest
from penstock.services.schemas.streams import StreamChange

WARD = [{"column": "ward"}]
LATE = [{"column": "age", "op": ">=", "value": 60}]


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ({"group_by": "ward"}, {"group_by": WARD}),
        ({"group_by": ["ward"]}, {"group_by": WARD}),
        ({"group_by": WARD[0]}, {"group_by": WARD}),
        ({"group_by": ["ward", "day"]}, {"group_by": [*WARD, {"column": "day"}]}),
        ({"where": LATE[0]}, {"where": LATE}),
        (
            {"aggregate": {"type": "count", "columns": "urgent"}},
            {"aggregate": {"type": "count", "columns": ["urgent"]}},
        ),
    ],
)
def test_one_alone_is_the_list_of_it(short: dict[str, Any], long: dict[str, Any]) -> None:
    read = [query_of(**({"group_by": WARD} | one)) for one in (short, long)]
    assert read[0] == read[1]
    assert prepared(dataset_of(), read[0]) == prepared(dataset_of(), read[1])


@pytest.mark.parametrize("number", [1, 0.25, 3.0])
def test_a_number_alone_is_an_epsilon(number: float) -> None:
    long = {"public": {"epsilon": number}}
    for form, field in (
        (LevelsChange, "levels"),
        (StreamChange, "levels"),
        (DatasetChange, "budgets"),
    ):
        short = {field: {"public": number}}
        assert form.model_validate(short) == form.model_validate({field: long})
    spec = {
        "name": "visits",
        "dataset": "sites",
        "values": [1, 2],
        "mechanism": "laplace",
        "sensitivity": {"l1": 1},
    }
    read = TypeAdapter(QueryRequest).validate_python({**spec, "levels": {"public": number}})
    assert read == TypeAdapter(QueryRequest).validate_python({**spec, "levels": long})


def test_every_fault_of_a_query_is_told_at_once() -> None:
    query = ComputedQuery.model_validate(
        {
            "name": "q",
            "dataset": "visits",
            "group_by": ["yeer", "cost", "ward"],
            "where": [
                {"column": "warp", "op": "=", "value": "a"},
                {"column": "age", "op": ">=", "value": 60},
                {"column": "ward", "op": "<", "value": "a"},
            ],
            "aggregate": {"type": "sum", "column": "ward"},
            "contribution": {"max_groups": 1},
        }
    )
    with pytest.raises(InvalidInput) as caught:
        interpret(dataset_of(), query)
    assert [place for place, _ in caught.value.errors] == [
        "/group_by/0/column",
        "/group_by/1/column",
        "/where/0/column",
        "/where/2/op",
        "/aggregate/column",
        "/contribution/max_rows_per_group",
    ]
    assert "5 more places are not valid" in caught.value.detail


def test_both_bounds_are_asked_for_at_once() -> None:
    columns = {"person": {"type": "string"}, "size": {"type": "integer"}}
    query = query_of({"type": "sum", "column": "size"}, group_by=[])
    with pytest.raises(InvalidInput) as caught:
        interpret(dataset_of(columns=columns), query)
    assert [place for place, _ in caught.value.errors] == ["/aggregate/lower", "/aggregate/upper"]
