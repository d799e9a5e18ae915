"""Test that one statistic has one hash under all its spellings, and another has another."""

import json
from typing import Any

import pytest
from tests.unit.connectors.cases import VISITS, dataset_of, query_of, stated

from penstock.connectors.planning.prepare import prepare
from penstock.connectors.specs.models import ComputedQuery

BASE: dict[str, Any] = {
    "name": "question",
    "dataset": "visits",
    "where": [
        {"column": "age", "op": ">=", "value": 18},
        {"column": "ward", "op": "in", "value": ["a", "b"]},
    ],
    "group_by": [{"column": "ward"}, {"column": "cost", "bins": [-10, 0, 10]}],
    "aggregate": {"type": "sum", "column": "cost", "lower": -10, "upper": 50, "step": 0.5},
    "contribution": {"max_groups": 6, "max_rows_per_group": 2},
}


def _hash(body: dict[str, Any], version: int = 1, mechanism: str = "gaussian") -> str:
    query = ComputedQuery.model_validate_json(json.dumps(body))
    found = prepare(dataset_of(), query, version=version, mechanism=mechanism).canonical_hash
    assert found is not None
    assert len(found) == 64
    return found


def _reversed(value: object) -> object:
    """Return the same JSON with the fields of every object the other way round."""
    if isinstance(value, dict):
        return {key: _reversed(value[key]) for key in reversed(value)}
    return [_reversed(entry) for entry in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    "changes",
    [
        {"name": "another"},
        {"where": BASE["where"][::-1]},
        {"where": [*BASE["where"], BASE["where"][0]]},
        {"where": [BASE["where"][0], {"column": "ward", "op": "in", "value": ["b", "a", "b"]}]},
        {"aggregate": {"type": "sum", "column": "cost"}},
        {"aggregate": {"type": "sum", "column": "cost", "lower": -10.2, "upper": 50.1}},
        {"contribution": {"max_groups": 100, "max_rows_per_group": 2}},
        {"group_by": [{"column": "ward"}, {"column": "cost", "bins": [-10.0, -0.0, 1e1]}]},
    ],
)
def test_other_spellings_have_the_same_hash(changes: dict[str, Any]) -> None:
    assert _hash({**BASE, **changes}) == _hash(BASE)


def test_the_order_of_fields_makes_no_difference() -> None:
    body = _reversed(BASE)
    assert isinstance(body, dict)
    assert list(body) != list(BASE)
    assert _hash(body) == _hash(BASE)


@pytest.mark.parametrize("spelling", ["18", "18.0", "1.8e1", "180e-1", "18.00"])
def test_the_spelling_of_numbers_makes_no_difference(spelling: str) -> None:
    text = json.dumps(BASE).replace('"value": 18}', f'"value": {spelling}}}')
    query = ComputedQuery.model_validate_json(text)
    same = prepare(dataset_of(), query, version=1, mechanism="gaussian").canonical_hash
    assert same == _hash(BASE)


def test_zero_has_no_sign_in_the_text_that_is_run() -> None:
    texts = set()
    for zero in (0, 0.0, -0.0):
        query = query_of(where=[{"column": "cost", "op": ">", "value": zero}])
        texts.add(stated(dataset_of(), query).text)
    assert len(texts) == 1


def test_one_value_is_a_set_of_one() -> None:
    for op, several in (("=", "in"), ("!=", "not_in")):
        one = {**BASE, "where": [{"column": "age", "op": op, "value": 18}]}
        many = {**BASE, "where": [{"column": "age", "op": several, "value": [18.0]}]}
        assert _hash(one) == _hash(many)


def test_a_histogram_is_a_count_over_bins() -> None:
    bins = [0, 10, 20]
    histogram = {**BASE, "aggregate": {"type": "histogram", "column": "age", "bins": bins}}
    groups = [*BASE["group_by"], {"column": "age", "bins": bins}]
    count = {**BASE, "group_by": groups, "aggregate": {"type": "count"}}
    assert _hash(histogram) == _hash(count)


@pytest.mark.parametrize(
    "changes",
    [
        {"where": []},
        {"where": [{"column": "age", "op": ">=", "value": 19}, BASE["where"][1]]},
        {"where": [{"column": "age", "op": ">", "value": 18}, BASE["where"][1]]},
        {"group_by": [{"column": "ward"}]},
        {"group_by": [{"column": "ward"}, {"column": "cost", "bins": [-10, 0, 11]}]},
        {"group_by": [{"column": "ward"}, {"column": "age", "bins": [-10, 0, 10]}]},
        {"aggregate": {"type": "count"}},
        {"aggregate": {"type": "count_units"}},
        {"aggregate": {"type": "sum", "column": "cost", "upper": 49}},
        {"aggregate": {"type": "sum", "column": "cost", "step": 1}},
        {"contribution": {"max_groups": 5, "max_rows_per_group": 2}},
        {"contribution": {"max_groups": 6, "max_rows_per_group": 3}},
    ],
)
def test_other_statistics_have_other_hashes(changes: dict[str, Any]) -> None:
    assert _hash({**BASE, **changes}) != _hash(BASE)


def test_version_and_mechanism_are_part_of_it() -> None:
    assert len({_hash(BASE), _hash(BASE, version=2), _hash(BASE, mechanism="laplace")}) == 3


def test_a_text_and_a_number_that_read_alike_are_told_apart() -> None:
    hashes = set()
    for kind, value in (("string", "1"), ("integer", 1)):
        columns = {**VISITS, "age": {"type": kind}}
        query = query_of(where=[{"column": "age", "op": "=", "value": value}])
        dataset = dataset_of(columns=columns)
        hashes.add(prepare(dataset, query, version=1, mechanism="gaussian").canonical_hash)
    assert len(hashes) == 2
