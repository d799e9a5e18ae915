"""Test how conditions are read, with the three-valued logic of SQL."""

from typing import Any

import pytest
from tests.unit.connectors.sql.statements import refusal_of, where_of


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
            [URGENT, {"column": "urgent", "op": "is_not_null"}],
        ),
        (
            "urgent IS NOT FALSE",
            [{"any": [{**CALM, "op": "!="}, {"column": "urgent", "op": "is_null"}]}],
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
        ("age < cost", "write their difference and 0"),
        ("1 = 1", "Compare a column to a constant"),
        ("age", "Only a boolean column"),
        ("TRUE", "Write a condition here"),
        ("age IS TRUE", "Write IS NULL, or IS TRUE of a boolean column"),
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
