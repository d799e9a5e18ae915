"""Test how the columns of a ``SELECT`` are named."""

import pytest

from penstock_client.questions.select_list import outputs_of, renamed_table


@pytest.mark.parametrize(
    ("sql", "names"),
    [
        ("SELECT COUNT(*) AS nb FROM df", {"nb": "n"}),
        ("select count(*) n, avg(Age) as age from df", {"n": "n", "age": "mean:Age"}),
        ("SELECT area, SUM(x) FROM df GROUP BY area", {"sum(x)": "sum:x"}),
        ('SELECT AVG("my, column") AS "Mean" FROM df', {"Mean": "mean:my, column"}),
        ("SELECT COUNT(DISTINCT person) AS u FROM df", {"u": "units"}),
        (
            "SELECT VAR_POP(x) v, STDDEV(x) s FROM df",
            {"v": "variance:x", "s": "standard_deviation:x"},
        ),
        ("SELECT CORR(x, y) AS r FROM df", {"r": "correlation:x,y"}),
        (
            "SELECT MEDIAN(x) AS h, PERCENTILE_CONT(0.9) WITHIN GROUP (ORDER BY x) AS top FROM df",
            {"h": "median", "top": "quantile:0.9"},
        ),
        (
            "SELECT /* AVG(y) , */ MIN(x) AS lo -- FROM\n, MAX(x) AS hi FROM df",
            {"lo": "minimum", "hi": "maximum"},
        ),
        ("SELECT 'it''s' AS t, COUNT(*) AS n FROM df", {"n": "n"}),
    ],
)
def test_the_columns_have_the_names_that_the_text_gives_them(
    sql: str, names: dict[str, str]
) -> None:
    outputs = outputs_of(sql)
    assert outputs is not None
    assert {output.name: output.statistic for output in outputs} == names


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT AVG(a + b) AS m FROM df",
        "SELECT SUM(x) / COUNT(*) AS m FROM df",
        "SELECT PERCENTILE_CONT(half) WITHIN GROUP (ORDER BY x) FROM df",
        "SELECT area FROM df",
        "SELECT COUNT(*",
        "SELECT 'COUNT(*) FROM",
        "",
    ],
)
def test_what_is_not_known_keeps_the_names_of_the_release(sql: str) -> None:
    assert outputs_of(sql) is None


@pytest.mark.parametrize(
    ("sql", "expected"),
    [
        ("SELECT COUNT(*) FROM df", 'SELECT COUNT(*) FROM "my ""own"" data"'),
        ("SELECT 'FROM df', df FROM df WHERE df > 1", "SELECT 'FROM df', df FROM {} WHERE df > 1"),
        ('SELECT COUNT(*) from "DF" -- FROM df', "SELECT COUNT(*) from {} -- FROM df"),
        ("SELECT COUNT(*) FROM dfs", "SELECT COUNT(*) FROM dfs"),
        ("SELECT COUNT(*) FROM 'df'", "SELECT COUNT(*) FROM 'df'"),
    ],
)
def test_the_table_of_a_text_is_renamed_outside_of_quotes(sql: str, expected: str) -> None:
    quoted = '"my ""own"" data"'
    assert renamed_table(sql, "df", 'my "own" data') == expected.replace("{}", quoted)
