"""Test that marginals are written over the rows within all keys, or not at all."""

from typing import Any

import pytest
from tests.unit.connectors.cases import dataset_of, query_of
from tests.unit.connectors.sql.statements import DATASET, hash_of, hash_of_sql

from penstock.connectors.sql.writing.statement import written

TABLES: dict[str, Any] = {
    "type": "marginals",
    "columns": ["ward", "urgent", {"column": "age", "bins": [0, 17.5, 65.5]}],
}


def test_marginals_are_sets_of_groupings_within_all_keys() -> None:
    query = query_of(
        {**TABLES, "sets": [["age", "ward"], ["urgent"]]},
        where=[{"column": "cost", "op": ">", "value": 3}],
    )
    text = written(query, DATASET)
    assert text == (
        'SELECT "ward", "urgent", CASE WHEN "age" >= 0 AND "age" < 17.5 THEN \'[0, 17.5)\''
        ' WHEN "age" >= 17.5 AND "age" <= 65.5 THEN \'[17.5, 65.5]\' END, COUNT(*)\n'
        'FROM "visits"\n'
        'WHERE "cost" > 3.0\n'
        "  AND \"ward\" IN ('a', 'b', 'c')\n"
        '  AND NOT "urgent" IS NULL\n'
        '  AND "age" >= 0\n'
        '  AND "age" <= 65\n'
        "GROUP BY GROUPING SETS ((2), (1, 3))"
    )
    assert hash_of_sql(text) == hash_of(query)


def test_a_column_of_no_set_has_no_statement() -> None:
    assert written(query_of({**TABLES, "sets": [["age", "ward"]]}), DATASET) is None


@pytest.mark.parametrize(
    "entry",
    [
        {"column": "age", "op": ">=", "value": 0},
        {"all": [{"not": {"column": "age", "op": ">", "value": 65}}]},
        {"column": "ward", "op": "in", "value": ["b", "c", "a"]},
    ],
    ids=["bins", "negation", "categories"],
)
def test_a_condition_that_would_be_read_as_one_of_the_keys_is_not_written(
    entry: dict[str, Any],
) -> None:
    assert written(query_of(TABLES, where=[entry]), DATASET) is None


def test_a_condition_that_no_statistic_needs_is_written() -> None:
    query = query_of(TABLES, where=[{"column": "urgent", "op": "is_not_null"}])
    text = written(query, DATASET)
    assert text is not None
    assert hash_of_sql(text) == hash_of(query) == hash_of(query_of(TABLES))


def test_more_sets_than_a_statement_has_words_for_are_not_written() -> None:
    wide = {f"column number {place}": {"type": "boolean"} for place in range(12)}
    dataset = dataset_of(columns=wide, unit={"rows": 1})
    query = query_of({"type": "marginals", "columns": list(wide), "up_to": 4})
    assert written(query, dataset) is None
    assert written(query_of({**query.aggregate.model_dump(), "up_to": 2}), dataset) is not None
