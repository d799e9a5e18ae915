"""Test how conditions are read, with the three-valued logic of SQL."""

from typing import Any

import pytest
from tests.unit.connectors.cases import VISITS, dataset_of
from tests.unit.connectors.sql.statements import hash_of_sql, refusal_of, where_of


def entry(column: str, operator: str, value: object) -> dict[str, Any]:
    return {"column": column, "op": operator, "value": value}


URGENT, CALM = ({"column": "urgent", "op": "=", "value": truth} for truth in (True, False))
YOUNG, OLD = entry("age", "<", 18), entry("age", ">=", 18)


@pytest.mark.parametrize(
    ("condition", "entries"),
    [
        ("age < 18", [YOUNG]),
        ("18 > age", [YOUNG]),
        ("18 <> age", [entry("age", "!=", 18)]),
        ("NOT age >= 18", [YOUNG]),
        ("NOT NOT age < 18", [YOUNG]),
        ("NOT age = 18", [entry("age", "!=", 18)]),
        ("age != 18", [entry("age", "!=", 18)]),
        ("NOT age <> 18", [entry("age", "=", 18)]),
        ("NOT age <= 18", [entry("age", ">", 18)]),
        ("age BETWEEN 1 AND 5", [entry("age", ">=", 1), entry("age", "<=", 5)]),
        ("age IN (1, 2)", [entry("age", "in", [1, 2])]),
        ("age NOT IN (1, 2)", [entry("age", "not_in", [1, 2])]),
        ("NOT age NOT IN (1, 2)", [entry("age", "in", [1, 2])]),
        ("urgent", [URGENT]),
        ("NOT urgent", [CALM]),
        ("urgent AND age < 18", [URGENT, YOUNG]),
        ("NOT (urgent OR age < 18)", [CALM, OLD]),
        ("age < 18 AND (age < 18 AND age < 18)", [YOUNG]),
        ("age < 18 OR urgent", [{"any": [YOUNG, URGENT]}]),
        ("NOT (age >= 18 AND urgent)", [{"any": [YOUNG, CALM]}]),
        ("NOT age BETWEEN 1 AND 5", [{"any": [entry("age", "<", 1), entry("age", ">", 5)]}]),
        ("age IS NULL", [{"column": "age", "op": "is_null"}]),
        ("age IS NOT NULL", [{"column": "age", "op": "is_not_null"}]),
        ("NOT age IS NULL", [{"column": "age", "op": "is_not_null"}]),
        (
            "urgent IS TRUE",
            [URGENT],
        ),
        (
            "urgent IS NOT FALSE",
            [{"any": [URGENT, {"column": "urgent", "op": "is_null"}]}],
        ),
        (
            "urgent OR (age < 18 OR urgent AND (age < 18 AND NOT urgent))",
            [
                {
                    "any": [
                        URGENT,
                        YOUNG,
                        {
                            "all": [
                                URGENT,
                                YOUNG,
                                CALM,
                            ]
                        },
                    ]
                }
            ],
        ),
    ],
)
def test_conditions_become_entries(condition: str, entries: list[dict[str, Any]]) -> None:
    assert where_of(condition) == entries


@pytest.mark.parametrize(
    ("condition", "alternative"),
    [
        ("age = NULL", "Write IS NULL"),
        ("age IN (1, NULL)", "Write IS NULL"),
        ("age < cost", "cost is declared as number"),
        ("age LIKE 'a'", "LIKE is for texts"),
        ("ward LIKE '_%'", "of the declared ones these match: 'a', 'b', 'c'."),
        ("ward LIKE 'x%'", "Write IN with the texts."),
        ("YEAR(day) = 0", "Write a year from 1 to 9999"),
        ("YEAR(age) = 2026", "age is declared as integer"),
        ("YEAR(day) = YEAR(day)", "Write an integer"),
        ("1 = 1", "Compare a column to a constant"),
        ("age", "Only a boolean column"),
        ("TRUE", "Write a condition here"),
        ("age IS TRUE", "Only a boolean column"),
        ("ward < 'b'", "compares integers, numbers and dates"),
        ("ward = 'x'", "none of the categories"),
        ("COUNT(*) > 3", "Compare a column to a constant"),
        ("age IN ()", ""),
        ("(age, cost) = (1, 2)", ""),
        ("EXISTS (age)", ""),
        ("1 < age < 3", ""),
    ],
)
def test_other_conditions_are_refused(condition: str, alternative: str) -> None:
    refusal = refusal_of(f"SELECT COUNT(*) FROM visits WHERE {condition}")
    assert refusal.startswith("Line 1, column ")
    assert alternative in refusal


def test_a_long_chain_is_read_without_recursion() -> None:
    condition = " AND ".join(f"age <> {number}" for number in range(60))
    assert len(where_of(condition)) == 60


@pytest.mark.parametrize(
    ("spelling", "other"),
    [
        ("age - day_of_stay > 0", "age > day_of_stay"),
        ("age > 2", "age > 2.5"),
        ("age <= 2", "age < 2.5"),
        ("age > -3", "age >= -2.5"),
        ("age <= 2", "NOT age > 2.5"),
        ("age = 3", "age = '3'"),
        ("cost < -0.5", "cost < '-0.5'"),
        ("ward = 'a'", "ward LIKE 'a'"),
        ("ward <> 'a'", "ward NOT LIKE 'a'"),
        ("ward = 'a'", "NOT ward NOT LIKE 'a'"),
        ("urgent", "urgent IS TRUE"),
        ("NOT urgent", "urgent IS FALSE"),
        ("age > 3 OR urgent", "(age > 3 OR urgent) IS TRUE"),
        ("age <> 3 OR age IS NULL", "age IS DISTINCT FROM 3"),
        ("age = 3 AND age IS NOT NULL", "age IS NOT DISTINCT FROM 3"),
        ("age = 3 AND age IS NOT NULL", "NOT age IS DISTINCT FROM 3"),
        ("age IS NULL", "NULL IS NOT DISTINCT FROM age"),
        ("age <= 3 OR age IS NULL", "(age > 3) IS NOT TRUE"),
        (
            "(age <= 3 OR age IS NULL) AND (NOT urgent OR urgent IS NULL)",
            "(age > 3 OR urgent) IS NOT TRUE",
        ),
        (
            "age > 3 OR age IS NULL OR NOT urgent OR urgent IS NULL",
            "(age <= 3 AND urgent) IS NOT TRUE",
        ),
        ("age <= 3 OR age IS NULL", "(NOT age > 3) IS NOT FALSE"),
        (
            "age = day_of_stay OR age IS NULL AND day_of_stay IS NULL",
            "age IS NOT DISTINCT FROM day_of_stay",
        ),
        (
            (
                "age <> day_of_stay OR age IS NULL AND day_of_stay IS NOT NULL"
                " OR age IS NOT NULL AND day_of_stay IS NULL"
            ),
            "age IS DISTINCT FROM day_of_stay",
        ),
        (
            "(age >= 3) IS NOT TRUE OR (age <= day_of_stay) IS NOT TRUE",
            "(age BETWEEN 3 AND day_of_stay) IS NOT TRUE",
        ),
        ("age IS NULL", "(age IS NULL) IS TRUE"),
        ("age IS NOT NULL", "(age IS NULL) IS NOT TRUE"),
        ("born >= '2026-01-01' AND born <= '2026-12-31'", "YEAR(born) = 2026"),
        ("born < '2026-01-01' OR born > '2026-12-31'", "NOT EXTRACT(YEAR FROM born) = 2026"),
        ("born < '2026-01-01'", "DATE_PART('year', born) < 2026"),
        ("born <= '2026-12-31'", "2026 >= YEAR(born)"),
        ("born > '2026-12-31'", "YEAR(born) > 2026"),
        ("YEAR(born) = 2026 OR YEAR(born) = 2028", "YEAR(born) IN (2026, 2028)"),
        ("YEAR(born) <> 2026 AND YEAR(born) <> 2028", "YEAR(born) NOT IN (2026, 2028)"),
        ("born >= '0800-01-01' AND born <= '2026-12-31'", "YEAR(born) BETWEEN 800 AND 2026"),
        (
            "NOT (born < '2026-01-01' OR born > '2027-12-31')",
            "YEAR(born) BETWEEN 2026 AND 2027",
        ),
    ],
)
def test_two_spellings_of_a_condition_are_one_statistic(spelling: str, other: str) -> None:
    stay = {"type": "integer", "lower": 0, "upper": 99}
    dataset = dataset_of(columns={**VISITS, "day_of_stay": stay, "born": {"type": "date"}})
    first, second = (
        hash_of_sql(f"SELECT COUNT(*) FROM visits WHERE {each}", dataset)
        for each in (spelling, other)
    )
    assert first == second


def test_a_boolean_column_that_is_true_is_one_statistic() -> None:
    conditions = ("urgent", "urgent IS TRUE", "urgent = TRUE", "urgent AND urgent IS NOT NULL")
    count = "SELECT COUNT(*) FROM visits WHERE"
    assert len({hash_of_sql(f"{count} {condition}") for condition in conditions}) == 1
    assert hash_of_sql(f"{count} urgent IS NOT FALSE") != hash_of_sql(f"{count} urgent")
