"""Test that questions in SQL are answered by a server, as those from a table are."""

import pytest
from tests.api.questions.survey import ANALYST, BOTH, ONCE, Survey

from penstock_client import InvalidInput, Question, Table, case, col, count

LEVEL = {"internal": 2.0}
SQL = """
SELECT area, COUNT(*) AS people FROM survey
WHERE (age >= 18 OR smoker) AND NOT area IN ('west') GROUP BY area
"""


def test_a_select_is_registered_released_and_read_under_its_own_names(survey: Survey) -> None:
    bea = survey.as_user(BOTH)
    question = bea.sql(SQL, levels=LEVEL, contribution=ONCE)
    cost = question.preview()
    assert (cost.fits, cost.registered) == (True, None)
    result = question.result()
    assert (result.groups, result.statistics) == (("area",), ("people",))
    assert [row.group for row in result] == [("north",), ("south",), ("west",)]
    assert abs(result.rows[2].value or 0) < 10 * result.release.error.standard_deviation
    again = survey.as_user(ANALYST).sql(SQL, epsilon=0.1, contribution=ONCE).result()
    assert again.release.query == result.release.query


def test_several_aggregates_are_one_release_with_a_column_each(survey: Survey) -> None:
    text = "SELECT COUNT(*) AS n, AVG(income) AS pay, VAR_POP(income) AS spread FROM survey"
    text += " WHERE income IS NOT NULL"
    result = survey.as_user(BOTH).sql(text, levels=LEVEL, contribution=ONCE).result()
    assert result.statistics == ("n", "pay", "spread")
    exact = sum(row[3] for row in survey.rows) / len(survey.rows)
    (pay,) = result.wide()["pay"]
    assert isinstance(pay, float)
    assert pay == pytest.approx(exact, rel=0.2)


def test_what_sql_cannot_say_here_is_refused_with_its_place(survey: Survey) -> None:
    question = survey.as_user(ANALYST).sql(
        "SELECT COUNT(*) FROM survey LIMIT 3", epsilon=1, contribution=ONCE
    )
    for act in (question.preview, question.result, question.sql, question.dummy):
        with pytest.raises(InvalidInput, match="LIMIT") as refused:
            act()
        assert next(field.pointer for field in refused.value.errors).endswith("/sql")


def questions(table: Table) -> list[Question]:
    """Return questions from a table that SQL can say."""
    adults = table.filter((col("age") >= 18) | ~col("smoker"), ~col("area").isin(["west"]))
    return [
        adults.aggregate(n=count()),
        adults.group_by("area", col("income").bin([0, 250, 1000])).aggregate(n=count()),
        table.filter(col("income").is_null()).aggregate(n=col("age").sum()),
        table.aggregate(half=col("age").median()),
    ]


def test_a_question_from_a_table_is_shown_as_sql_that_asks_the_same(survey: Survey) -> None:
    bea = survey.as_user(BOTH)
    for question in questions(bea.table("survey")):
        text = question.sql()
        query = question.at(levels=LEVEL, contribution=ONCE).register()
        same = bea.sql(text, levels=LEVEL, contribution=ONCE).preview()
        assert same.registered == query.name, text


def test_derived_columns_are_counted_and_summed(survey: Survey) -> None:
    bea = survey.as_user(BOTH)
    band = case((col("age") < 40, "young"), (col("age") < 70, "middle"), otherwise="old")
    banded = bea.table("survey").mutate(band=band, rest=1000 - col("income"))
    counts = banded.group_by("band").aggregate(n=count()).at(levels=LEVEL, contribution=ONCE)
    result = counts.result()
    ages = [row[2] for row in survey.rows]
    exact = {
        "young": sum(age < 40 for age in ages),
        "middle": sum(40 <= age < 70 for age in ages),
        "old": sum(age >= 70 for age in ages),
    }
    room = 10 * result.release.error.standard_deviation
    assert {row.group[0] for row in result} == set(exact)
    assert all(abs((row.value or 0) - exact[str(row.group[0])]) < room for row in result)
    rest = banded.filter(col("rest") >= 500).aggregate(s=col("rest").sum())
    answer = rest.at(contribution={"max_groups": 1, "max_rows_per_group": 1000}).dummy(200, 3)
    rows = bea.dummy("survey", rows=200, seed=3).rows
    incomes = [row["income"] for row in rows]
    kept = [1000 - income for income in incomes if isinstance(income, int) and income <= 500]
    assert answer.wide() == {"s": [float(sum(kept))]}
