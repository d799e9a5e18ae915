"""Test how each aggregate is read by itself."""

import pytest
from tests.unit.connectors.cases import dataset_of
from tests.unit.connectors.sql.statements import fields_of, hash_of_sql, refusal_of

AT_LEAST_3 = {"column": "age", "op": ">=", "value": 3}


@pytest.mark.parametrize(
    ("aggregate", "fields"),
    [
        ("COUNT(*)", {"type": "count"}),
        ("COUNT(1)", {"type": "count"}),
        ("COUNT(DISTINCT person)", {"type": "count_units"}),
        ("SUM(age)", {"type": "sum", "column": "age"}),
        ("AVG(cost)", {"type": "mean", "column": "cost"}),
        ("VAR_POP(cost)", {"type": "moments", "columns": ["cost"]}),
        ("STDDEV_POP(cost)", {"type": "moments", "columns": ["cost"]}),
        ("COVAR_POP(cost, age)", {"type": "moments", "columns": ["cost", "age"]}),
        ("CORR(cost, age)", {"type": "moments", "columns": ["cost", "age"]}),
        (
            "REGR_SLOPE(cost, age)",
            {"type": "regression", "outcome": "cost", "predictors": ["age"]},
        ),
        (
            "REGR_INTERCEPT(age, cost)",
            {"type": "regression", "outcome": "age", "predictors": ["cost"]},
        ),
        ("MEDIAN(age)", {"type": "quantiles", "column": "age", "probabilities": [0.5]}),
        (
            "PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY age)",
            {"type": "quantiles", "column": "age", "probabilities": [0.9]},
        ),
        (
            "QUANTILE_CONT(age, [0.25, 0.75])",
            {"type": "quantiles", "column": "age", "probabilities": [0.25, 0.75]},
        ),
        ("COUNT(*) FILTER (WHERE urgent)", {"type": "count", "columns": ["urgent"]}),
        ("COUNT_IF(urgent)", {"type": "count", "columns": ["urgent"]}),
        ("COUNT(CASE WHEN urgent THEN 1 END)", {"type": "count", "columns": ["urgent"]}),
        ("SUM(CASE WHEN urgent THEN 1 ELSE 0 END)", {"type": "count", "columns": ["urgent"]}),
        (
            "COUNT(DISTINCT person) FILTER (WHERE urgent)",
            {"type": "count_units", "columns": ["urgent"]},
        ),
    ],
)
def test_an_aggregate_becomes_that_of_a_spec(aggregate: str, fields: object) -> None:
    assert fields_of(f"SELECT {aggregate} AS x FROM visits") == {"aggregate": fields}


@pytest.mark.parametrize(
    "aggregate",
    [
        "COUNT(*) FILTER (WHERE age >= 3)",
        "COUNT_IF(age >= 3)",
        "COUNT(CASE WHEN age >= 3 THEN 1 END)",
    ],
)
def test_a_count_of_what_meets_a_condition_is_a_count_where_it_holds(aggregate: str) -> None:
    fields = fields_of(f"SELECT {aggregate} FROM visits")
    assert fields == {"aggregate": {"type": "count"}, "where": [AT_LEAST_3]}


def test_a_filter_of_a_sum_is_a_condition() -> None:
    fields = fields_of("SELECT SUM(cost) FILTER (WHERE age >= 3) FROM visits WHERE urgent")
    assert fields["where"] == [{"column": "urgent", "op": "=", "value": True}, AT_LEAST_3]


def test_a_count_of_cells_is_a_count_of_rows_that_have_one() -> None:
    fields = fields_of("SELECT COUNT(age) FROM visits")
    assert fields == {
        "aggregate": {"type": "count"},
        "where": [{"column": "age", "op": "is_not_null"}],
    }


def test_a_cell_with_a_stand_in_is_never_missing() -> None:
    columns = {"person": {"type": "string"}, "age": {"type": "integer", "missing": 0}}
    fields = fields_of("SELECT COUNT(COALESCE(age, 0)) FROM visits", dataset_of(columns=columns))
    assert fields == {"aggregate": {"type": "count"}}


@pytest.mark.parametrize(
    ("aggregate", "alternative"),
    [
        ("COUNT(DISTINCT ward)", "COUNT(DISTINCT person)"),
        ("COUNT(DISTINCT person, ward)", "COUNT(DISTINCT person)"),
        ("SUM(ward)", "Only integers and numbers"),
        ("AVG(person)", "Only integers and numbers"),
        ("SUM(age) + 1", "by themselves"),
        ("2 * AVG(age)", "by themselves"),
        ("COVAR_POP(age, age)", "VAR_POP"),
        ("MEDIAN(ward)", "Only integers and numbers"),
        ("QUANTILE_CONT(age, 0)", "above 0 and below 1"),
        ("QUANTILE_CONT(age, 1.5)", "above 0 and below 1"),
        ("QUANTILE_CONT(age)", "PERCENTILE_CONT(0.5) WITHIN GROUP"),
        ("PERCENTILE_CONT(0.5)", ""),
        ("PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY age DESC)", "Leave DESC out"),
        ("SUM(1)", "name of a column"),
        ("COUNT('x')", "name of a column"),
        ("SUM(cost + 1)", "cost is declared as number"),
        ("SUM(SUM(age))", "name of a column"),
        ("COUNT(*) FILTER (WHERE urgent) FILTER (WHERE urgent)", ""),
    ],
)
def test_other_aggregates_are_refused(aggregate: str, alternative: str) -> None:
    refusal = refusal_of(f"SELECT {aggregate} FROM visits")
    assert refusal.startswith("Line 1, column ")
    assert alternative in refusal


def test_units_are_counted_only_where_a_column_names_them() -> None:
    dataset = dataset_of(unit={"rows": 1})
    assert "write COUNT(*)" in refusal_of("SELECT COUNT(DISTINCT person) FROM visits", dataset)


def test_a_statement_has_an_aggregate() -> None:
    assert "at least one aggregate" in refusal_of("SELECT ward FROM visits GROUP BY ward")


def test_one_statistic_has_one_hash_in_all_its_spellings() -> None:
    texts = (
        "SELECT COUNT(*) FROM visits WHERE age >= 3 AND NOT urgent",
        "SELECT COUNT(1) FROM visits v WHERE NOT (v.urgent OR age < 3)",
        "SELECT COUNT(*) FILTER (WHERE 3 <= AGE) FROM visits WHERE urgent = FALSE",
    )
    assert len({hash_of_sql(text) for text in texts}) == 1
