"""Test which aggregates of SQL those of specs are written as."""

from typing import Any

import pytest
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.sql.writing.cells import CellWriter
from penstock.connectors.sql.writing.statistics import aggregates


@pytest.mark.parametrize(
    ("aggregate", "texts"),
    [
        ({"type": "count"}, ["COUNT(*)"]),
        ({"type": "count_units"}, ['COUNT(DISTINCT "person")']),
        ({"type": "count", "columns": ["urgent"]}, ['COUNT(*) FILTER (WHERE "urgent")']),
        ({"type": "sum", "column": "cost"}, ['SUM("cost")']),
        ({"type": "sum", "column": "cost", "lower": -10, "step": 0.5}, ['SUM("cost")']),
        ({"type": "sum", "column": "cost", "lower": -11}, None),
        ({"type": "mean", "column": "age"}, ['AVG("age")']),
        (
            {"type": "moments", "columns": ["age"]},
            ['COUNT("age")', 'AVG("age")', 'VAR_POP("age")'],
        ),
        (
            {"type": "moments", "columns": ["age", "cost"], "order": 1},
            ["COUNT(*)", 'SUM("age")', 'SUM("cost")'],
        ),
        (
            {"type": "regression", "outcome": "age", "predictors": ["cost"]},
            ['REGR_SLOPE("age", "cost")', 'REGR_INTERCEPT("age", "cost")'],
        ),
        (
            {"type": "quantiles", "column": "age", "probabilities": [0.5]},
            ['PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY "age")'],
        ),
        ({"type": "quantiles", "column": "age", "scale": "log"}, None),
        ({"type": "quantiles", "column": "age", "bins": 3}, None),
        ({"type": "uncategorized", "column": "ward"}, None),
    ],
)
def test_an_aggregate_is_written(aggregate: dict[str, Any], texts: list[str] | None) -> None:
    assert aggregates(query_of(aggregate), CellWriter(dataset_of())) == texts
