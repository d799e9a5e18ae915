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
        ("COUNT_IF(urgent), COUNT(DISTINCT person)", 26),
    ],
)
def test_what_no_vector_answers_is_refused_where_it_begins(aggregates: str, column: int) -> None:
    refusal = refusal_of(f"SELECT {aggregates} FROM visits")
    assert refusal.startswith(f"Line 1, column {column}: {OTHER}")


def test_aggregates_together_count_the_same_rows() -> None:
    refusal = refusal_of(
        "SELECT COUNT(*), SUM(age) FILTER (WHERE age > 3), AVG(age) FROM visits GROUP BY ward"
    )
    assert "One vector counts the same rows" in refusal


@pytest.mark.parametrize(
    ("aggregates", "condition"),
    [
        ("COUNT(*), COUNT(age) AS part", {"column": "age", "op": "is_not_null"}),
        ("COUNT(*), COUNT_IF(urgent) AS part", {"column": "urgent", "op": "=", "value": True}),
        (
            "COUNT(*) FILTER (WHERE age < 18 AND cost IS NULL) AS part, COUNT(1)",
            {
                "all": [
                    {"column": "age", "op": "<", "value": 18},
                    {"column": "cost", "op": "is_null"},
                ]
            },
        ),
    ],
)
def test_counts_of_different_rows_are_sums_of_ones(
    aggregates: str, condition: dict[str, object]
) -> None:
    assert fields_of(f"SELECT {aggregates} FROM visits") == {
        "aggregate": {"type": "moments", "columns": ["part"], "order": 1},
        "derived": {"part": {"case": [{"when": condition, "then": 1}], "else": 0}},
    }


def test_a_count_of_other_rows_stands_beside_sums() -> None:
    fields = fields_of("SELECT SUM(cost), COUNT(cost), COUNT(age) AS known FROM visits")
    assert fields["aggregate"] == {"type": "moments", "columns": ["cost", "known"], "order": 1}


@pytest.mark.parametrize(
    ("aggregates", "fields"),
    [
        ("COUNT(*), COUNT(1) AS n", {"type": "count"}),
        (
            "COUNT_IF(urgent), COUNT(*) FILTER (WHERE urgent)",
            {"type": "count", "columns": ["urgent"]},
        ),
    ],
)
def test_counts_of_the_same_rows_are_one(aggregates: str, fields: object) -> None:
    assert fields_of(f"SELECT {aggregates} FROM visits") == {"aggregate": fields}


@pytest.mark.parametrize("other", ["CORR(cost, age)", "AVG(age)", "VAR_POP(cost)"])
def test_a_slope_beside_other_aggregates_says_what_to_write(other: str) -> None:
    for first, second in (("REGR_SLOPE(cost, age)", other), (other, "REGR_INTERCEPT(cost, age)")):
        refusal = refusal_of(f"SELECT {first}, {second} FROM visits")
        assert refusal.startswith(f"Line 1, column {len(f'SELECT {first}, ') + 1}: ")
        assert "the slope is COVAR_POP / VAR_POP" in refusal
    parts = "COVAR_POP(cost, age), VAR_POP(age), AVG(cost), AVG(age), CORR(cost, age)"
    fields = fields_of(f"SELECT {parts} FROM visits")
    assert fields["aggregate"] == {"type": "moments", "columns": ["cost", "age"]}
    other_pair = refusal_of("SELECT REGR_SLOPE(cost, age), MEDIAN(age) FROM visits")
    assert "No single vector" in other_pair
