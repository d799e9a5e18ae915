"""Test that other spellings of SQL are the statistic of the first one."""

import pytest
from tests.unit.connectors.sql.statements import hash_of_sql, refusal_of

from penstock.connectors.sql.limits import LONGEST


@pytest.mark.parametrize(
    ("spelling", "other"),
    [
        ("AVG(age)", "MEAN(age)"),
        ("AVG(age)", "AVG(age::DOUBLE)"),
        ("AVG(age)", "AVG(CAST(age AS FLOAT))"),
        ("AVG(age)", "AVG(age::DECIMAL(10, 2))"),
        ("COUNT_IF(urgent)", "SUM(urgent::INT)"),
        ("SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END)", "SUM(IF(age > 3, 1, 0))"),
        ("SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END)", "SUM((age > 3)::INT)"),
        ("AVG(CASE WHEN age > 3 THEN 1 WHEN age <= 3 THEN 0 END)", "AVG(CAST(age > 3 AS INT))"),
        ("AVG(CASE WHEN urgent THEN 1 WHEN NOT urgent THEN 0 END)", "AVG(urgent::BIGINT)"),
        ("SUM(CASE WHEN age > 3 THEN 1 ELSE 0 END)", "SUM(CASE WHEN age > 3 THEN 1 END)"),
        ("COUNT_IF(urgent)", "SUM(CASE WHEN urgent THEN 1 ELSE NULL END)"),
        ("SUM(CASE WHEN ward = 'a' THEN age END)", "SUM(CASE ward WHEN 'a' THEN age END)"),
        ("SUM(CASE WHEN ward = 'a' THEN age ELSE 2 END)", "SUM(IF(ward = 'a', age, 2))"),
    ],
)
def test_two_spellings_of_an_aggregate_are_one_statistic(spelling: str, other: str) -> None:
    first, second = (hash_of_sql(f"SELECT {each} FROM visits") for each in (spelling, other))
    assert first == second


@pytest.mark.parametrize(
    "bins",
    ["FLOOR(age / 40) * 40", "40 * FLOOR((age / 40))", "FLOOR(age / 40)", "(FLOOR(age / 40) * 40)"],
)
def test_bins_of_one_width_reach_beyond_the_bounds(bins: str) -> None:
    plain = hash_of_sql(
        "SELECT WIDTH_BUCKET(age, [0, 40, 80, 120, 160]), COUNT(*) FROM visits GROUP BY 1"
    )
    assert hash_of_sql(f"SELECT {bins} AS b, COUNT(*) FROM visits GROUP BY b") == plain
    assert hash_of_sql(f"SELECT COUNT(*) FROM visits GROUP BY {bins} ORDER BY {bins}") == plain


def test_bins_below_0_and_of_parts_of_1_have_their_edges() -> None:
    plain = "SELECT COUNT(*) FROM visits GROUP BY WIDTH_BUCKET(cost, -12.5, 62.5, 3)"
    half = "SELECT COUNT(*) FROM visits GROUP BY FLOOR(cost / 0.25)"
    assert hash_of_sql(half) != hash_of_sql(plain.replace("3)", "300)"))
    wide = "SELECT COUNT(*) FROM visits GROUP BY FLOOR(cost / 12.5) * 12.5"
    assert hash_of_sql(wide) == hash_of_sql(plain.replace("3)", "6)"))


@pytest.mark.parametrize(
    ("statement", "alternative"),
    [
        ("SELECT AVG(cost::INT) FROM visits", "cast would change cells"),
        ("SELECT COUNT(*) FROM visits WHERE ward::INT = 3", "cast would change cells"),
        ("SELECT COUNT(*) FROM visits WHERE urgent::VARCHAR = 'true'", "cast would change cells"),
        ("SELECT COUNT(*) FROM visits GROUP BY FLOOR(age / 0)", "The width of bins"),
        ("SELECT COUNT(*) FROM visits GROUP BY FLOOR(age / 0.1)", "The width of bins"),
        ("SELECT COUNT(*) FROM visits GROUP BY FLOOR(ward / 2)", "Bins are for integers"),
        ("SELECT COUNT(*) FROM visits GROUP BY FLOOR(age / 40) * 20", ""),
        (
            "SELECT COUNT(*) FROM visits GROUP BY FLOOR(cost / 0.0009765625)",
            "larger width",
        ),
        ("SELECT COUNT(*) FROM visits GROUP BY age // 40", "no division"),
        ("SELECT COUNT(*) FROM visits WHERE FLOOR(age / 40) > 1", "Compare a column"),
        ("SELECT AVG(FLOOR(age / 40)) FROM visits", "Bins are made for GROUP BY"),
        ("SELECT YEAR(day), COUNT(*) FROM visits GROUP BY 1", "CASE WHEN"),
        ("SELECT MEAN(age, cost) FROM visits", "no such function"),
        ("SELECT CASE ward WHEN NULL THEN 1 END, COUNT(*) FROM visits GROUP BY 1", "IS NULL"),
    ],
)
def test_other_spellings_are_refused(statement: str, alternative: str) -> None:
    assert alternative in refusal_of(statement)


def test_what_is_copied_does_not_grow_with_its_depth() -> None:
    deep = "age = 1"
    for _ in range(20):
        deep = f"CAST({deep} AS INT) = 1"
    refusal_of(f"SELECT COUNT(*) FROM visits WHERE {deep}")
    deep = "age"
    for _ in range(20):
        deep = f"CASE {deep} WHEN 1 THEN 1 WHEN 2 THEN 2 WHEN 3 THEN 3 END"
    assert len(deep) < LONGEST
    refusal_of(f"SELECT SUM({deep}) FROM visits")
