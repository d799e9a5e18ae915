"""Test which aggregates are answered together, by one vector, and which by none."""

import pytest
from tests.unit.connectors.sql.statements import fields_of, refusal_of

OTHER = "No single vector answers this"


@pytest.mark.parametrize(
    ("aggregates", "fields"),
    [
        (
            "COUNT(*), AVG(cost), VAR_POP(age), CORR(age, cost)",
            {"type": "moments", "columns": ["cost", "age"]},
        ),
        ("AVG(age), SUM(cost)", {"type": "moments", "columns": ["age", "cost"], "order": 1}),
        ("COUNT(*), AVG(age)", {"type": "moments", "columns": ["age"], "order": 1}),
        ("SUM(age), COUNT(age)", {"type": "moments", "columns": ["age"], "order": 1}),
        ("STDDEV_POP(cost), SUM(cost)", {"type": "moments", "columns": ["cost"]}),
        (
            "MEDIAN(age), QUANTILE_CONT(age, 0.1), COUNT(age)",
            {"type": "quantiles", "column": "age", "probabilities": [0.1, 0.5]},
        ),
        (
            "REGR_SLOPE(cost, age), REGR_INTERCEPT(cost, age), REGR_COUNT(cost, age)",
            {"type": "regression", "outcome": "cost", "predictors": ["age"]},
        ),
    ],
)
def test_aggregates_together_are_one_statistic(aggregates: str, fields: object) -> None:
    assert fields_of(f"SELECT {aggregates} FROM visits") == {"aggregate": fields}


@pytest.mark.parametrize(
    ("aggregates", "column"),
    [
        ("COUNT(*), COUNT(DISTINCT person)", 18),
        ("MEDIAN(age), MEDIAN(cost)", 21),
        ("MEDIAN(age), AVG(age)", 21),
        ("REGR_SLOPE(cost, age), REGR_SLOPE(age, cost)", 31),
        ("REGR_SLOPE(cost, age), AVG(age)", 31),
        ("COUNT(*), COUNT_IF(urgent)", 18),
        ("COUNT_IF(urgent), COUNT_IF(urgent)", 26),
        ("COUNT(*), COUNT(*)", 18),
    ],
)
def test_what_no_vector_answers_is_refused_where_it_begins(aggregates: str, column: int) -> None:
    refusal = refusal_of(f"SELECT {aggregates} FROM visits")
    assert refusal.startswith(f"Line 1, column {column}: {OTHER}")


def test_aggregates_together_count_the_same_rows() -> None:
    refusal = refusal_of(
        "SELECT COUNT(*) FILTER (WHERE age > 3), SUM(age), AVG(age) FROM visits GROUP BY ward"
    )
    assert "One vector counts the same rows" in refusal
