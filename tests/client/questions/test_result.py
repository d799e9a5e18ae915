"""Test results: the rows of a release, by group and by the names of the question."""

from typing import Any

import pytest
from tests.client.questions.asking import QUERY
from tests.client.servers.answers import RELEASE

from penstock_client import Query, Release
from penstock_client._http.fields import Fields
from penstock_client.questions.result import Row, result_of
from penstock_client.tables.aggregates import Output


def query_of(**spec: object) -> Query:
    return Query.read(Fields({**QUERY, "spec": spec}, "query"))


def release_of(**changes: object) -> Release:
    return Release.read(Fields({**RELEASE, **changes}, "release"))


def estimate(name: str, value: float | None, key: object = None) -> dict[str, object]:
    ends = (None, None) if value is None else (value - 1, value + 1)
    return {
        "name": name, "key": key, "value": value, "lower": ends[0], "upper": ends[1],
        "standard_deviation": None, "interval": "noise",
    }  # fmt: skip


COUNT = {"group_by": [{"column": "carrier"}], "aggregate": {"type": "count"}}


def test_a_result_has_value_lower_and_upper_by_group() -> None:
    result = result_of(query_of(**COUNT), release_of(), (Output("flights", "n"),))
    assert result.groups == ("carrier",)
    first = result.rows[0]
    assert (first.group, first.statistic, first.value) == (("AA",), "flights", 31987.5)
    assert (first.lower, first.upper) == (31987.5 - 88.26, 31987.5 + 88.26)
    assert result.wide() == {"carrier": ["AA", "UA"], "flights": [31987.5, 0.0]}
    frame = result.to_pandas()
    assert list(frame.columns) == ["carrier", "statistic", "value", "lower", "upper"]
    assert frame["carrier"].tolist() == ["AA", "UA"]
    assert result.to_polars().height == result.to_arrow().num_rows == len(result) == 2


def test_statistics_without_a_name_keep_that_of_the_release() -> None:
    for outputs in (None, (), (Output("x", "mean:delay"),)):
        assert result_of(query_of(**COUNT), release_of(), outputs).statistics == ("n",)


def test_the_estimates_of_several_statistics_are_chosen_and_named() -> None:
    estimates = [
        estimate(name, value, key)
        for key in ("AA", "UA")
        for name, value in (("n", 5.0), ("sum:Delay", 20.0), ("mean:Delay", None))
    ]
    release = release_of(estimates=estimates)
    outputs = (Output("avg", "mean:delay"), Output("rows", "n"))
    result = result_of(query_of(**COUNT), release, outputs)
    assert [(row.group, row.statistic, row.value) for row in result] == [
        (("AA",), "avg", None),
        (("AA",), "rows", 5.0),
        (("UA",), "avg", None),
        (("UA",), "rows", 5.0),
    ]
    assert result.wide() == {
        "carrier": ["AA", "UA"],
        "avg": [None, None],
        "rows": [5.0, 5.0],
    }
    assert "<td>-</td>" in result._repr_html_()


@pytest.mark.parametrize(
    ("keys", "spec", "groups", "first"),
    [
        (["all", "b"], {"aggregate": {"type": "count"}}, ("key",), ()),
        ([["a", "1"], ["b", "2"]], COUNT, ("key_1", "key_2"), ("a", "1")),
        (
            [["a", "1"], ["b", "2"]],
            {
                "group_by": [{"column": "carrier"}],
                "aggregate": {"type": "histogram", "column": "delay"},
            },
            ("carrier", "delay"),
            ("a", "1"),
        ),
    ],
)
def test_groups_have_the_names_of_the_spec_if_it_has_as_many(
    keys: Any, spec: dict[str, object], groups: tuple[str, ...], first: tuple[str, ...]
) -> None:
    result = result_of(query_of(**spec), release_of(keys=keys), None)
    assert (result.groups, result.rows[0].group) == (groups, first)


def test_a_whole_answer_has_no_group() -> None:
    spec = {"aggregate": {"type": "mean", "column": "delay"}}
    release = release_of(keys=["all"], values=[3.5])
    result = result_of(query_of(**spec), release, (Output("avg_delay", "mean:Delay"),))
    (row,) = result
    assert row == Row((), "avg_delay", 3.5, 3.5 - 88.26, 3.5 + 88.26)
    assert result.wide() == {"avg_delay": [3.5]}
    assert "1 number" in repr(result)
