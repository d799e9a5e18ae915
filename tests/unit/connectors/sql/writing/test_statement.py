"""Test that a spec is written as a statement that says the same statistic, or not at all."""

from typing import Any

import pytest
from tests.property.typed_rows import AGGREGATES, COLUMNS, CONDITIONS, GROUPS, groups_of
from tests.unit.connectors.cases import correlated_of, dataset_of, query_of
from tests.unit.connectors.sql.statements import hash_of, hash_of_sql

from penstock.connectors.sql.limits import LONGEST
from penstock.connectors.sql.reading import read
from penstock.connectors.sql.writing.statement import written

DATASET = dataset_of(columns=COLUMNS)
UNSAID = ("uncategorized", "workload")


@pytest.mark.parametrize("aggregate", AGGREGATES, ids=str)
def test_a_statement_has_the_hash_of_its_spec(aggregate: dict[str, Any]) -> None:
    query = query_of(aggregate, group_by=groups_of(aggregate, GROUPS[:2]), where=list(CONDITIONS))
    text = written(query, DATASET)
    own = {"lower", "upper", "step", "bounds", "grid", "bins", "scale"} & aggregate.keys()
    is_said = aggregate["type"] == "histogram" or not (own or aggregate["type"] in UNSAID)
    assert (text is not None) == is_said
    if text is not None:
        assert hash_of_sql(text, DATASET) == hash_of(query, DATASET)


def test_a_statement_reads_like_one_that_people_write() -> None:
    query = query_of(
        {"type": "sum", "column": "cost"},
        where=[
            {
                "any": [
                    {"column": "urgent", "op": "=", "value": True},
                    {"column": "day", "op": "is_null"},
                ]
            },
            {"not": {"column": "age", "op": "in", "value": [3, 4]}},
            {"column": "person", "op": "!=", "value": "it's"},
        ],
        group_by=["day", {"column": "cost", "bins": [-0.5, 0, 12]}],
    )
    assert written(query, DATASET) == (
        'SELECT "day", CASE WHEN "cost" >= -0.5 AND "cost" < 0 THEN \'[-0.5, 0)\''
        ' WHEN "cost" >= 0 AND "cost" <= 12 THEN \'[0, 12]\' END, SUM("cost")\n'
        'FROM "visits"\n'
        'WHERE ("urgent" OR "day" IS NULL)\n'
        '  AND NOT COALESCE("age", 4) IN (3, 4)\n'
        "  AND \"person\" <> 'it''s'\n"
        "GROUP BY 1, 2"
    )


def test_moments_of_several_columns_are_over_rows_that_have_all() -> None:
    query = query_of({"type": "moments", "columns": ["cost", "age"]})
    assert written(query, DATASET) == (
        'SELECT COUNT(*), AVG("cost"), AVG(COALESCE("age", 4)), VAR_POP("cost"),'
        ' VAR_POP(COALESCE("age", 4)), COVAR_POP("cost", COALESCE("age", 4))\n'
        'FROM "visits"\n'
        'WHERE NOT "cost" IS NULL'
    )


def test_what_a_registration_stores_is_what_was_sent() -> None:
    query = query_of({"type": "moments", "columns": ["age"]})
    stored = query_of(
        {"type": "moments", "columns": ["age"], "grid": 32768, "bounds": {"age": [-3, 90]}}
    )
    assert written(stored, dataset_of(columns=COLUMNS, max_units=1000)) == written(query, DATASET)
    coarse = query_of({"type": "moments", "columns": ["age"], "grid": 16})
    assert written(coarse, DATASET) is None


def test_units_that_are_rows_are_not_counted_by_a_column() -> None:
    dataset = dataset_of(columns=COLUMNS, unit={"rows": 1})
    assert written(query_of({"type": "count_units"}), dataset) is None


def test_what_sql_cannot_say_is_not_written() -> None:
    assert written(correlated_of(group_by=["ward"]), DATASET) is None
    texts = ["x" * 1000 + str(number) for number in range(LONGEST // 1000 + 1)]
    where = [{"column": "person", "op": "in", "value": texts}]
    assert written(query_of(where=where), DATASET) is None


MORE = '(COALESCE("age", 4) + 1)'


@pytest.mark.parametrize(
    ("aggregate", "group_by", "line"),
    [
        ({"type": "sum", "column": "more"}, [], 'SUM({}) AS "more"'),
        (
            {"type": "sum", "column": "more"},
            [{"column": "more", "bins": [0, 1]}],
            "CASE WHEN {} >= 0 AND {} <= 1 THEN '[0, 1]' END AS \"more\", SUM({})",
        ),
        (
            {"type": "moments", "columns": ["more"], "order": 1},
            [],
            'COUNT({}), SUM({}) AS "more"',
        ),
        (
            {"type": "quantiles", "column": "more", "probabilities": [0.1, 0.5]},
            [],
            (
                'PERCENTILE_CONT(0.1) WITHIN GROUP (ORDER BY {}) AS "more",'
                " PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY {})"
            ),
        ),
    ],
    ids=["sum", "bins", "moments", "quantiles"],
)
def test_the_name_of_a_derived_column_comes_back(
    aggregate: dict[str, Any], group_by: list[Any], line: str
) -> None:
    more = {"more": {"add": [{"column": "age"}, 1]}}
    text = written(query_of(aggregate, group_by=group_by, derived=more), DATASET)
    assert text is not None
    assert text.split("\n")[0] == f"SELECT {line.replace('{}', MORE)}"
    assert list(read(text, DATASET)["derived"]) == ["more"]
