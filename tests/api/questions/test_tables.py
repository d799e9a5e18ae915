"""Test that questions which are written in Python are answered by a server."""

import pytest
from tests.api.questions.survey import ADMIN, ANALYST, AREAS, BOTH, ONCE, Survey

from penstock_client import (
    BudgetExhausted,
    Conflict,
    Forbidden,
    InvalidArgument,
    NotRegistered,
    col,
    count,
)

LEVEL = {"internal": 2.0}


def test_a_question_is_previewed_registered_released_and_read(survey: Survey) -> None:
    bea = survey.as_user(BOTH)
    adults = bea.table("survey").filter(col("age") >= 18, col("income").between(10, 900))
    question = adults.group_by("area").aggregate(n=count()).at(contribution=ONCE, levels=LEVEL)
    cost = question.preview()
    assert (cost.fits, cost.registered, cost.preview.dimension) == (True, None, 3)
    assert [tier.tier for tier in cost.tiers] == ["internal"]
    left = cost.remaining("internal")
    assert left is not None
    assert bea.queries("survey") == [], "a preview registers nothing"
    result = question.result()
    assert (result.groups, result.statistics) == (("area",), ("n",))
    exact = [
        sum(1 for _, own, age, income, _ in survey.rows if own == area and age >= 18
            and 10 <= income <= 900)
        for area in AREAS
    ]  # fmt: skip
    assert [row.group for row in result] == [(area,) for area in AREAS]
    # Each is off by less than ten standard deviations, which fails once in 10^22.
    room = 10 * result.release.error.standard_deviation
    assert all(abs((row.value or 0) - own) < room for row, own in zip(result, exact, strict=True))
    assert all((row.lower or 0) < (row.value or 0) < (row.upper or 0) for row in result)
    (query,) = bea.queries("survey")
    assert query.name == result.release.query


def test_the_same_statistic_leads_to_the_query_at_no_charge(survey: Survey) -> None:
    bea, ian = survey.as_user(BOTH), survey.as_user(ANALYST)
    first = bea.table("survey").group_by("area").aggregate(n=count())
    query = first.at(contribution=ONCE, levels=LEVEL, name="by area").register()
    spent = bea.budget("survey")
    again = (
        bea.table("survey")
        .group_by("area")
        .aggregate(n=count())
        .at(contribution=ONCE, levels=LEVEL)
    )
    assert again.register().name == query.name == "by area"
    assert bea.budget("survey") == spent
    theirs = (
        ian.table("survey")
        .group_by("area")
        .aggregate(rows=count())
        .at(contribution=ONCE, epsilon=0.5)
    )
    cost = theirs.preview()
    assert (cost.registered, cost.fits) == ("by area", True)
    assert "by area" in cost.headline()
    result = theirs.result()
    assert (result.release.query, result.statistics) == ("by area", ("rows",))
    assert [row.value for row in result] == list(
        first.at(contribution=ONCE, epsilon=1).release().values
    )
    with pytest.raises(Conflict, match="by area"):
        theirs.request("a report")
    assert bea.budget("survey") == spent


def test_a_name_that_is_taken_by_another_statistic_is_refused(survey: Survey) -> None:
    bea = survey.as_user(BOTH)
    table = bea.table("survey")
    table.aggregate(count()).at(contribution=ONCE, levels=LEVEL, name="mine").register()
    other = (
        table.filter(col("smoker"))
        .aggregate(count())
        .at(contribution=ONCE, levels=LEVEL, name="mine")
    )
    with pytest.raises(Conflict, match="choose another name"):
        other.register()
    # A notebook that runs again has the same statistic under the same name.
    again = table.aggregate(count()).at(contribution=ONCE, levels=LEVEL, name="mine")
    assert again.result().release.query == "mine"


def test_who_may_not_register_is_told_what_to_do(survey: Survey) -> None:
    ian, root = survey.as_user(ANALYST), survey.as_user(ADMIN)
    question = ian.table("survey").aggregate(count()).at(contribution=ONCE, epsilon=0.5)
    with pytest.raises(Forbidden, match="request"):
        question.result()
    with pytest.raises(NotRegistered, match="Nobody has registered"):
        question.release()
    theirs = root.table("survey").aggregate(count()).at(contribution=ONCE, levels=LEVEL)
    with pytest.raises(InvalidArgument, match="Results are for analysts"):
        theirs.result()
    assert root.queries("survey") == []
    with pytest.raises(InvalidArgument, match="you have none"):
        theirs.at(epsilon=1).preview()


def test_a_question_beyond_the_budget_is_refused_before_it_is_charged(survey: Survey) -> None:
    bea = survey.as_user(BOTH)
    question = (
        bea.table("survey").aggregate(count()).at(contribution=ONCE, levels={"internal": 25.0})
    )
    cost = question.preview()
    assert not cost.fits
    assert cost.refusal is not None
    assert "no" in cost._repr_html_()
    with pytest.raises(BudgetExhausted):
        question.result()
    assert bea.queries("survey") == []


def test_moments_and_quantiles_are_named_as_the_question_names_them(survey: Survey) -> None:
    bea = survey.as_user(BOTH)
    table = bea.table("survey").group_by(col("age").bin([0, 50, 99]))
    spread = table.aggregate(n=col("income").mean(), wide=col("income").standard_deviation())
    result = spread.at(contribution=ONCE, levels=LEVEL).result()
    assert result.statistics == ("n", "wide")
    assert result.groups == ("age",)
    assert len(result) == 4
    middle = bea.table("survey").aggregate(half=col("age").median(), most=col("age").max())
    columns = middle.at(contribution=ONCE, levels=LEVEL).result().wide()
    assert set(columns) == {"half", "most"}
    half = columns["half"][0]
    assert isinstance(half, float)
    assert 0 <= half <= 99
