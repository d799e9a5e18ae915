"""Test that every part that no query has is refused, and none is dropped."""

import logging

import pytest
from tests.unit.connectors.sql.statements import fields_of, refusal_of

COUNT = "SELECT COUNT(*) FROM visits"


@pytest.mark.parametrize(
    ("text", "alternative"),
    [
        ("SELECT DISTINCT ward FROM visits", "Leave DISTINCT out"),
        ("SELECT COUNT(*) FROM visits, wards", "reads one dataset"),
        ("SELECT COUNT(*) OVER () FROM visits", "no window functions"),
        ("SELECT SUM(age) / COUNT(*) FROM visits", "no division"),
        ("SELECT COUNT(*) FROM visits TABLESAMPLE 10%", "never sampled"),
        ("SELECT COUNT(*) FROM main.visits", "without a schema"),
        ("SELECT COUNT(*) FROM visits AS v(a)", "names of columns"),
        ("SELECT COUNT(*)", "Name the dataset"),
        ("SELECT COUNT(*) FROM visits OFFSET 3", "Leave OFFSET out"),
        ("SELECT MIN(age) FROM visits", "PERCENTILE_CONT(0.01)"),
        ("SELECT MAX(age) FROM visits", "PERCENTILE_CONT(0.99)"),
        ("SELECT STDDEV(age) FROM visits", "Write STDDEV_POP, which"),
        ("SELECT VARIANCE(age) FROM visits", "Write VAR_POP, which"),
        ("SELECT SQRT(age) FROM visits", "no such function"),
        ("SELECT LIST(age) FROM visits", "no such function"),
        ("SELECT READ_CSV('/etc/passwd') FROM visits", "no such function"),
        ("SELECT COUNT(*) FROM READ_CSV('/etc/passwd')", "the name by which it is registered"),
        ("SELECT COUNT(*) FROM range(3)", "Name the dataset itself"),
        ("SELECT COUNT(*) FROM (VALUES (1))", "Name the dataset itself"),
        (f"{COUNT} WHERE ward LIKE 'a%'", "Write IN"),
        (f"{COUNT} WHERE age % 2 = 0", "no remainder"),
        (f"{COUNT} WHERE age // 2 = 0", "no division"),
        (f"{COUNT} WHERE age BETWEEN SYMMETRIC 3 AND 1", "leave SYMMETRIC out"),
        (f"{COUNT} WHERE LOWER(ward) = 'a'", "Write IN"),
        (f"{COUNT} WHERE DATE_TRUNC('month', day) = DATE '2026-01-01'", "Write BETWEEN"),
        ("SELECT AVG(age / 2) FROM visits", "no division of columns"),
        ("SELECT ROUND(AVG(age), 1) FROM visits", "round what is released"),
        ("SELECT REGR_R2(age, cost) FROM visits", "Write CORR"),
        (f"{COUNT} GROUP BY (ward, day)", "without parentheses"),
        (f"{COUNT} GROUP BY CUBE ((ward, (day, urgent)))", "without parentheses"),
        (f"{COUNT} GROUP BY CUBE (ward), ()", "without parentheses"),
        (f"{COUNT} WHERE (ward, age) IN (('a', 1))", "without parentheses"),
        ("SELECT GROUPING(ward), COUNT(*) FROM visits GROUP BY CUBE (ward)", "Leave this out"),
        ("SELECT * FROM visits", ""),
        ("SELECT COUNT(*) FROM visits WHERE", "no SQL that can be read"),
        ("SELECT SUM(alter) FROM visits", "double quotes around the name of a column"),
        ("SELECT SUM(age ORDER BY age) FROM visits", ""),
        ("SELECT SUM(DISTINCT age) FROM visits", ""),
        ("SELECT COUNT(*) INTO t FROM visits", ""),
        ("SELECT COUNT(*) FROM visits FOR UPDATE", ""),
    ],
)
def test_other_parts_are_refused_with_their_place(text: str, alternative: str) -> None:
    refusal = refusal_of(text)
    assert refusal.startswith("Line 1, column ")
    assert alternative in refusal


@pytest.mark.parametrize(
    "condition", ["FALSE", "TRUE", "NULL", "age > 3 AND FALSE", "urgent OR (NOT true)", "NOT NULL"]
)
def test_a_constant_is_refused_where_it_stands(condition: str) -> None:
    text = f"SELECT COUNT(*) FROM visits WHERE {condition}"
    constant = condition.rstrip(")").split(" ")[-1]
    place = text.index(constant) + 1
    assert refusal_of(text).startswith(f"Line 1, column {place}: Write a condition here")


@pytest.mark.parametrize(
    "text",
    [
        'SELECT COUNT(*) FROM "visits"',
        "select count( * ) from VISITS as v",
        "SELECT ALL COUNT(*) AS n FROM visits v WHERE (TRUE IS NULL OR v.urgent) IS NULL OR 1=1",
    ],
)
def test_spellings_of_one_statement_are_read_alike(text: str) -> None:
    if "IS NULL" in text:
        assert "name of a column" in refusal_of(text)
    else:
        assert fields_of(text) == {"aggregate": {"type": "count"}}


def test_nothing_of_a_statement_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        for text in ("EXPLAIN secret", "SELECT secret FROM", "SELECT 'secret", f"{COUNT} secret("):
            assert "secret" not in refusal_of(text)
    assert "secret" not in caplog.text


def test_a_function_on_whose_arguments_the_parser_fails_is_refused() -> None:
    assert refusal_of("SELECT VAR_MAP(age) FROM visits").startswith("Line 1, column 1: ")
