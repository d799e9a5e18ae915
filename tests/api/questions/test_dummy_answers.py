"""Test that a question is answered exactly on made-up rows, and touches nothing else."""

import statistics
from typing import Any

import pytest
from tests.api.questions.survey import ANALYST, AREAS, BOTH, ONCE, Survey
from tests.api.world import QUERY

from penstock_client import Client, InvalidInput, Table, col, count, count_units

MANY = {"max_groups": 100, "max_rows_per_group": 1000}
"""A contribution that cuts nothing: of made-up rows some people have many."""

ROWS, SEED = 400, 11


@pytest.fixture
def ian(survey: Survey) -> Client:
    return survey.as_user(ANALYST)


@pytest.fixture
def table(ian: Client) -> Table:
    return ian.table("survey")


@pytest.fixture
def rows(ian: Client) -> list[dict[str, Any]]:
    return [dict(row) for row in ian.dummy("survey", rows=ROWS, seed=SEED).rows]


def test_counts_sums_and_means_are_those_of_the_rows(
    table: Table, rows: list[dict[str, Any]]
) -> None:
    adults = table.filter((col("age") >= 18) | col("smoker")).group_by("area")
    kept = [row for row in rows if row["age"] >= 18 or row["smoker"]]
    by_area = {area: [row for row in kept if row["area"] == area] for area in AREAS}
    for statistic, exact in (
        (count(), {area: len(own) for area, own in by_area.items()}),
        (
            count_units(),
            {area: len({row["person"] for row in own}) for area, own in by_area.items()},
        ),
        (col("income").sum(), {a: sum(row["income"] for row in own) for a, own in by_area.items()}),
        (
            col("income").mean(),
            {a: statistics.fmean(row["income"] for row in own) for a, own in by_area.items()},
        ),
    ):
        answer = adults.aggregate(x=statistic).at(contribution=MANY).dummy(ROWS, SEED)
        assert answer.groups == ("area",)
        assert {row.group[0]: row.value for row in answer} == pytest.approx(exact)
        assert answer.dataset == "survey"


def test_moments_and_quantiles_are_read_from_the_exact_sums(
    table: Table, rows: list[dict[str, Any]]
) -> None:
    spread = table.aggregate(v=col("income").variance(), m=col("age").mean())
    columns = spread.at(contribution=MANY).dummy(ROWS, SEED).wide()
    incomes = [row["income"] for row in rows]
    # Values are rounded to one of 1,024 steps between the bounds, so nearly the exact variance.
    assert columns["v"] == pytest.approx([statistics.pvariance(incomes)], rel=0.01)
    assert columns["m"] == pytest.approx([statistics.fmean(row["age"] for row in rows)], rel=0.01)
    half = table.aggregate(n=count(), half=col("income").median())
    columns = half.at(contribution=MANY).dummy(ROWS, SEED).wide()
    assert columns["n"] == pytest.approx([ROWS])
    assert columns["half"] == pytest.approx([statistics.median(incomes)], abs=10)


def test_the_bound_on_contributions_cuts_as_it_would(table: Table) -> None:
    everybody = table.aggregate(n=count())
    cut = everybody.at(contribution=ONCE).dummy(ROWS, SEED).wide()["n"][0]
    people = table.aggregate(n=count_units()).at(contribution=ONCE).dummy(ROWS, SEED)
    assert cut == people.wide()["n"][0]
    assert isinstance(cut, float)
    assert cut < ROWS


def test_a_group_without_rows_has_no_mean(table: Table) -> None:
    nobody = table.filter((col("age") > 50) & (col("age") < 50)).group_by("area")
    answer = nobody.aggregate(m=col("age").mean()).at(contribution=ONCE).dummy()
    assert [row.value for row in answer] == [None, None, None]
    assert "3 numbers" in repr(answer)


def test_a_trial_registers_and_charges_nothing(survey: Survey, table: Table) -> None:
    before = survey.as_user(BOTH).budget("survey")
    leaves = survey.as_user(BOTH).verify().size
    table.aggregate(count()).at(contribution=ONCE).dummy()
    assert survey.as_user(BOTH).queries("survey") == []
    assert survey.as_user(BOTH).budget("survey") == before
    assert survey.as_user(BOTH).verify().size == leaves


def test_a_trial_needs_no_file(survey: Survey, table: Table) -> None:
    (survey.folder / "survey.csv").unlink()
    assert table.aggregate(n=count()).at(contribution=ONCE).dummy().wide()["n"] != [0.0]


SPEC: dict[str, Any] = {
    "name": "trial",
    "dataset": "survey",
    "aggregate": {"type": "count"},
    "contribution": ONCE,
    "mechanism": "gaussian",
    "share": 0.01,
}


TABLES = {"type": "marginals", "columns": ["area", "smoker"]}


@pytest.mark.parametrize(
    ("query", "pointer"),
    [
        (
            {**SPEC, "where": [{"column": "nothing", "op": "=", "value": 1}]},
            "/query/where/0/column",
        ),
        ({**SPEC, "aggregate": TABLES}, "/query/aggregate"),
        ({**QUERY, "name": "trial"}, "/query"),
    ],
)
def test_what_cannot_be_tried_is_refused(ian: Client, query: dict[str, Any], pointer: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        ian.answered_on_dummy({"query": query})
    assert [field.pointer for field in refused.value.errors] == [pointer]


def test_many_numbers_are_refused(ian: Client) -> None:
    table = ian.table("survey").group_by(
        col("age").bin(range(100)), col("income").bin(range(0, 1001, 5))
    )
    with pytest.raises(InvalidInput, match="at most 10000 are computed"):
        table.aggregate(count()).at(contribution=ONCE).dummy()
