"""Test that tables compile to specs, and refuse what no spec says."""

import json
from collections.abc import Callable
from typing import Any

import httpx
import pytest

from penstock_client import Client, InvalidArgument, NotFound, Table, case, col, count
from penstock_client.tables.table import values_of

SURVEY: dict[str, Any] = {
    "name": "survey",
    "columns": {
        "area": {"type": "string", "categories": ["north", "south"]},
        "age": {"type": "integer", "lower": 0, "upper": 99},
        "income": {"type": "integer", "lower": 0, "upper": 1000},
        "smoker": {"type": "boolean"},
    },
}


@pytest.fixture
def table(client: Client, answers: dict[str, Any]) -> Table:
    answers["GET /api/v1/datasets/survey"] = SURVEY
    return client.table("survey")


def test_a_table_compiles_to_a_spec(table: Table, requests: list[httpx.Request]) -> None:
    adults = table.mutate(
        half=col("income") - 500, band=case((col("age") < 40, "young"), otherwise="old")
    ).filter((col("age") >= 18) & col("smoker"), (col("half") > 0) | (col("income") + 1 < 9))
    question = adults.group_by("area", col("age").bin([18, 30, 65]), "band").aggregate(
        n=count(), mean=col("half").mean()
    )
    assert question.data == {
        "dataset": "survey",
        "where": [
            {"column": "age", "op": ">=", "value": 18},
            {"column": "smoker", "op": "=", "value": True},
            {
                "any": [
                    {"column": "half", "op": ">", "value": 0},
                    {"column": "income + 1", "op": "<", "value": 9},
                ]
            },
        ],
        "derived": {
            "half": {"subtract": [{"column": "income"}, 500]},
            "income + 1": {"add": [{"column": "income"}, 1]},
            "band": {
                "case": [{"when": {"column": "age", "op": "<", "value": 40}, "then": "young"}],
                "else": "old",
            },
        },
        "group_by": [
            {"column": "area"},
            {"column": "age", "bins": [18, 30, 65]},
            {"column": "band"},
        ],
        "aggregate": {"type": "moments", "columns": ["half"], "order": 1},
    }
    assert len(requests) == 1, "building a question sends nothing"
    assert json.loads(json.dumps(question.data)) == question.data


def test_each_step_leaves_the_table_before_it_alone(table: Table) -> None:
    table.filter(col("smoker")).mutate(more=col("age") + 1).group_by("area")
    assert table.aggregate(count()).data == {"dataset": "survey", "aggregate": {"type": "count"}}
    assert table.columns == ("area", "age", "income", "smoker")


def test_a_statistic_without_a_name_gets_one(table: Table) -> None:
    question = table.aggregate(col("age").quantile(0.9), col("age").median())
    assert [output.name for output in question._outputs or ()] == [
        "quantile_age_0.9",
        "median_age",
    ]


@pytest.mark.parametrize(
    ("misuse", "message"),
    [
        (lambda table: table.filter(), "takes conditions"),
        (lambda table: table.filter("age > 3"), "is no condition"),
        (lambda table: table.filter(col("aeg") > 3), "Is it 'age'"),
        (lambda table: table.mutate(age=1), "another name"),
        (lambda table: table.mutate(more=col("nothing")), "no column 'nothing'"),
        (lambda table: table.group_by("income"), r"Give bins, for example col\(\"income\"\)\.bin"),
        (lambda table: table.group_by(3), "takes columns and bins"),
        (lambda table: table.aggregate(), "takes statistics"),
        (lambda table: table.aggregate(col("age")), "takes statistics"),
        (lambda table: table.aggregate(n=col("age")), "takes statistics"),
        (lambda table: table.aggregate(n=col("years").mean()), "no column 'years'"),
    ],
)
def test_misuse_is_refused_at_once(
    table: Table, misuse: Callable[[Table], object], message: str
) -> None:
    with pytest.raises(InvalidArgument, match=message):
        misuse(table)


def test_a_dataset_that_is_not_there_is_no_table(client: Client) -> None:
    with pytest.raises(NotFound):
        client.table("nothing")


def test_a_notebook_shows_the_columns(table: Table) -> None:
    page = table.mutate(more=col("age") + 1)._repr_html_()
    for text in ("north, south", "0 to 99", "boolean", "age + 1"):
        assert text in page
    assert values_of({"categories": list(range(10))}) == "0, 1, 2, 3, 4, 5, 6, 7 and 2 more"
    assert values_of({"lower": 3}) == "3 to "


def test_a_table_is_shown_in_a_line(table: Table) -> None:
    assert repr(table) == "<Table survey: 4 columns>"
    some = table.mutate(half=col("income") - 500).filter(col("age") >= 18).group_by("area")
    assert repr(some) == "<Table survey: 4 columns, and half, filtered by 1, in 1 groupings>"


def test_a_question_of_a_table_has_a_line_for_each_part(table: Table) -> None:
    page = table.filter(col("age") >= 18).aggregate(n=count())._repr_html_()
    assert "dataset: &quot;survey&quot;\nwhere: [{" in page
