"""Test that specs of earlier versions keep their stored text, their hash and their statement."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.property.typed_rows import COLUMNS, query_of
from tests.unit.connectors.cases import dataset_of

from penstock.connectors.clickhouse.dialect import ClickHouse
from penstock.connectors.duckdb.dialect import DuckDB
from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.prepare import prepare
from penstock.connectors.postgresql.dialect import PostgreSQL
from penstock.connectors.spark.dialect import Spark
from penstock.connectors.specs.models import ComputedQuery
from penstock.connectors.specs.moments import EQUAL, Moments, Regression
from penstock.connectors.statements import template
from penstock.connectors.statements.dialect import Dialect

EARLIER: list[dict[str, Any]] = json.loads(
    Path(__file__).with_name("earlier_specs.json").read_text()
)
DIALECTS: dict[str, Callable[[], Dialect]] = {
    "duckdb": DuckDB,
    "postgresql": PostgreSQL,
    "clickhouse": ClickHouse,
    "spark": Spark,
}


def _as_it_was(query: ComputedQuery) -> ComputedQuery:
    """Return an earlier query with equal weights, which it had without naming them."""
    if not isinstance(query.aggregate, Moments | Regression):
        return query
    equal = query.aggregate.model_copy(update={"weights": EQUAL})
    return query.model_copy(update={"aggregate": equal})


@pytest.mark.parametrize("place", range(len(EARLIER)))
def test_an_earlier_spec_is_what_it_was(place: int) -> None:
    earlier = EARLIER[place]
    dataset, query = dataset_of(columns=COLUMNS, max_units=1000), query_of(earlier["spec"])
    assert json.dumps(query.model_dump(mode="json")) == earlier["stored"]
    prepared = prepare(dataset, _as_it_was(query), version=1, mechanism="gaussian")
    assert prepared.spelled_hash == earlier["hash"]
    plan = interpret(dataset, query)
    texts = {name: template.statement(plan, dialect()) for name, dialect in DIALECTS.items()}
    assert {name: text.sha256[:16] for name, text in texts.items()} == earlier["statements"]
