"""Test that a dataset or query without a valid meaning is refused before any file is opened."""

from fractions import Fraction
from typing import Any

import pytest
from tests.unit.connectors.cases import VISITS, dataset_of, prepared, query_of

from penstock.connectors.planning.prepare import check_source
from penstock.connectors.specs.models import DatasetSpec
from penstock.errors import InvalidInput


def _place(dataset: DatasetSpec) -> str:
    with pytest.raises(InvalidInput) as caught:
        check_source(dataset)
    assert caught.value.errors[0][1].endswith(".")
    return caught.value.errors[0][0]


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"unit": "event"}, "/privacy_unit"),
        ({"privacy_unit": None}, "/privacy_unit"),
        ({"unit": {"column": "nobody"}}, "/privacy_unit/column"),
        ({"unit": {"column": "cost"}}, "/columns/cost/type"),
        ({"unit": {"column": "urgent"}}, "/columns/urgent/type"),
        ({"columns": {}}, "/columns"),
        ({"columns": {**VISITS, "AGE": {"type": "integer"}}}, "/columns"),
        ({"source": {"engine": "duckdb"}}, "/source/uri"),
        ({"source": {"engine": "vector", "uri": "visits.csv"}}, "/source/uri"),
        ({"source": {"engine": "vector"}}, "/columns"),
    ],
)
def test_a_dataset_that_contradicts_itself_is_refused(changes: dict[str, Any], place: str) -> None:
    assert _place(dataset_of(**changes)) == place


@pytest.mark.parametrize(
    ("column", "field"),
    [
        ({"type": "integer", "lower": 5, "upper": 4}, "upper"),
        ({"type": "number", "step": 0}, "step"),
        ({"type": "number", "step": -1}, "step"),
        ({"type": "number", "step": 0.1}, "step"),
        ({"type": "number", "step": 0.75}, "step"),
        ({"type": "number", "step": 1.5}, "step"),
        ({"type": "number", "step": 1e-300}, "step"),
        ({"type": "string", "lower": 0}, "lower"),
        ({"type": "boolean", "upper": 0}, "upper"),
        ({"type": "date", "step": 1}, "step"),
        ({"type": "number", "categories": [1, 2]}, "categories"),
        ({"type": "boolean", "categories": [True]}, "categories"),
        ({"type": "integer", "categories": [1, "2"]}, "categories/1"),
        ({"type": "integer", "categories": [1, 1.5]}, "categories/1"),
        ({"type": "integer", "categories": [1, True]}, "categories/1"),
        ({"type": "integer", "categories": [1, 1.0]}, "categories"),
        ({"type": "string", "categories": ["a", "b", "a"]}, "categories"),
        ({"type": "string", "categories": ["a", 1]}, "categories/1"),
        ({"type": "date", "categories": ["2026-02-30"]}, "categories/0"),
        ({"type": "date", "categories": ["20260228"]}, "categories/0"),
        ({"type": "integer", "missing": "1"}, "missing"),
        ({"type": "integer", "missing": 1.5}, "missing"),
        ({"type": "string", "missing": 1}, "missing"),
        ({"type": "boolean", "missing": 1}, "missing"),
        ({"type": "date", "missing": "yesterday"}, "missing"),
    ],
)
def test_a_column_that_contradicts_itself_is_refused(column: dict[str, Any], field: str) -> None:
    dataset = dataset_of(columns={"person": {"type": "string"}, "x": column})
    assert _place(dataset) == f"/columns/x/{field}"


def test_nothing_can_stand_in_for_a_person() -> None:
    dataset = dataset_of(columns={"person": {"type": "string", "missing": "somebody"}})
    assert _place(dataset) == "/columns/person/missing"


def test_every_contradiction_of_a_dataset_is_named_at_once() -> None:
    columns = {"x": {"type": "number", "step": 0.1}, "y": {"type": "string", "lower": 1}}
    with pytest.raises(InvalidInput, match="2 more places") as caught:
        check_source(dataset_of(columns=columns))
    assert len(caught.value.errors) == 3


def test_vectors_may_be_pushed_under_either_relation() -> None:
    for relation in ("add_remove", "replace"):
        check_source(
            DatasetSpec.model_validate(
                {"name": "sites", "source": {"engine": "vector"}, "neighboring": relation}
            )
        )


SUM = {"type": "sum", "column": "cost"}


@pytest.mark.parametrize(
    ("changes", "place"),
    [
        ({"group_by": [{"column": "nothing"}]}, "/group_by/0/column"),
        ({"group_by": [{"column": "person"}]}, "/group_by/0/column"),
        ({"group_by": [{"column": "age"}]}, "/group_by/0/column"),
        ({"group_by": [{"column": "ward", "bins": [0, 1]}]}, "/group_by/0/bins"),
        ({"group_by": [{"column": "age", "bins": [0, 1, 1]}]}, "/group_by/0/bins/2"),
        ({"group_by": [{"column": "age", "bins": [1, 0]}]}, "/group_by/0/bins/1"),
        ({"where": [{"column": "nothing", "op": "=", "value": 1}]}, "/where/0/column"),
        ({"where": [{"column": "age", "op": "=", "value": "1"}]}, "/where/0/value"),
        ({"where": [{"column": "age", "op": "=", "value": 1.5}]}, "/where/0/value"),
        ({"where": [{"column": "age", "op": "=", "value": True}]}, "/where/0/value"),
        ({"where": [{"column": "age", "op": "in", "value": 1}]}, "/where/0/value"),
        ({"where": [{"column": "age", "op": "=", "value": [1]}]}, "/where/0/value"),
        ({"where": [{"column": "age", "op": "in", "value": [1, "2"]}]}, "/where/0/value/1"),
        ({"where": [{"column": "ward", "op": "<", "value": "b"}]}, "/where/0/op"),
        ({"where": [{"column": "urgent", "op": ">=", "value": True}]}, "/where/0/op"),
        ({"where": [{"column": "ward", "op": "=", "value": "z"}]}, "/where/0/value"),
        ({"where": [{"column": "day", "op": ">", "value": "2026-02-29"}]}, "/where/0/value"),
        ({"aggregate": {"type": "mean", "column": "ward"}}, "/aggregate/column"),
        ({"aggregate": {"type": "mean", "column": "bare", "upper": 1}}, "/aggregate/lower"),
        ({"aggregate": {"type": "mean", "column": "cost", "step": 1024}}, "/aggregate"),
        ({"aggregate": {"type": "mean", "column": "cost", "lower": 50}}, "/aggregate"),
        ({"aggregate": {"type": "mean", "column": "cost", "upper": 2**50}}, "/aggregate"),
        ({"aggregate": {**SUM, "column": "nothing"}}, "/aggregate/column"),
        ({"aggregate": {**SUM, "column": "ward"}}, "/aggregate/column"),
        ({"aggregate": {**SUM, "column": "bare"}}, "/aggregate/lower"),
        ({"aggregate": {**SUM, "column": "bare", "lower": 0}}, "/aggregate/upper"),
        ({"aggregate": {**SUM, "column": "bare", "lower": 0, "upper": 1}}, "/aggregate/step"),
        ({"aggregate": {**SUM, "lower": 60}}, "/aggregate/upper"),
        ({"aggregate": {**SUM, "step": 0.3}}, "/aggregate/step"),
        ({"aggregate": {**SUM, "step": 2.0**-60}}, "/aggregate/step"),
        ({"aggregate": {**SUM, "step": 1024}}, "/aggregate"),
        ({"aggregate": {**SUM, "upper": 2**50, "step": 1}}, "/aggregate"),
        (
            {"aggregate": {"type": "histogram", "column": "ward", "bins": [0, 1]}},
            "/aggregate/bins",
        ),
        ({"contribution": {"max_groups": 1}}, "/contribution/max_rows_per_group"),
        (
            {"contribution": {"max_rows_per_group": 1}, "group_by": [{"column": "ward"}]},
            "/contribution/max_groups",
        ),
    ],
)
def test_a_query_that_cannot_be_meant_is_refused(changes: dict[str, Any], place: str) -> None:
    dataset = dataset_of(columns={**VISITS, "bare": {"type": "number"}})
    with pytest.raises(InvalidInput) as caught:
        prepared(dataset, query_of(**changes))
    assert caught.value.errors[0][0] == place


def test_a_query_on_a_dataset_of_vectors_is_refused() -> None:
    vectors = DatasetSpec.model_validate(
        {"name": "sites", "source": {"engine": "vector"}, "neighboring": "add_remove"}
    )
    with pytest.raises(InvalidInput, match="pushed vectors only"):
        prepared(vectors, query_of())


def test_more_than_a_hundred_million_keys_are_refused_and_a_hundred_million_are_not() -> None:
    bins = list(range(10_001))
    groups = [{"column": "age", "bins": bins}, {"column": "cost", "bins": bins}]
    assert prepared(dataset_of(), query_of(group_by=groups)).dimension == 10_000**2
    mean = {"type": "mean", "column": "cost"}
    with pytest.raises(InvalidInput, match="at most 5000000"):
        prepared(dataset_of(), query_of(mean, group_by=groups))
    groups.append({"column": "urgent"})
    with pytest.raises(InvalidInput, match="at most 100000000"):
        prepared(dataset_of(), query_of(group_by=groups))


def test_what_cannot_bind_is_brought_down() -> None:
    groups = [{"column": "ward"}]
    contribution = {"max_groups": 1000, "max_rows_per_group": 2}
    query = prepared(dataset_of(), query_of(group_by=groups, contribution=contribution))
    assert (query.sensitivity.l1, query.sensitivity.linf) == (Fraction(6), Fraction(2))
    rows = prepared(dataset_of(unit={"rows": 1}), query_of(group_by=groups, contribution={}))
    assert (rows.sensitivity.l1, rows.sensitivity.linf) == (Fraction(1), Fraction(1))


def test_the_answer_to_a_sum_is_bounded_in_the_units_of_its_values() -> None:
    query = prepared(dataset_of(max_units=1000), query_of(SUM))
    assert (query.step, query.bound) == (Fraction(1, 2), Fraction(1000 * 2 * 50))
    assert (query.sensitivity.l1, query.sensitivity.l2_squared) == (Fraction(100), Fraction(100**2))
