"""Test schedules as forms declare them: each refusal points to its field."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from penstock.errors import InvalidInput
from penstock.web.forms.schedule_form import (
    DAYS,
    EXAMPLE,
    EXAMPLE_OF_STREAMS,
    MOST_DAYS,
    days_of,
    placed,
    spec_of,
)

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
TIERS = ("public", "internal")
SOURCE = {"engine": "duckdb", "uri": "/data/visits-{date}.csv"}
FORM = {
    "name": " nightly ",
    "dataset": "visits",
    "cron": " 0 3 * * * ",
    "timezone": "",
    "missed": "skip",
    "refused": "go_on",
    "epsilon public": "1",
    "epsilon internal": "2.5",
    "total public": "12",
    "total internal": "30",
    "queries": EXAMPLE,
}


def as_sent(query: dict[str, Any]) -> dict[str, Any]:
    return query


def refused(changes: dict[str, str], source: dict[str, str] | None = None) -> dict[str, str]:
    """Return what is said beside each field."""
    with pytest.raises(InvalidInput) as caught:
        spec_of({**FORM, **changes}, source or SOURCE, TIERS, NOW, as_sent)
    return dict(caught.value.errors)


def queries(**changes: Any) -> dict[str, str]:
    """Return the example, and a second query with changes."""
    (query,) = json.loads(EXAMPLE)
    return {"queries": json.dumps([query, {**query, "name": "b-{date}", **changes}])}


def test_a_form_becomes_the_schedule_that_it_describes() -> None:
    spec = spec_of({**FORM, "max_units": "100", "disjoint_units": "1"}, SOURCE, TIERS, NOW, as_sent)
    assert spec.model_dump() == {
        "name": "nightly",
        "dataset": "visits",
        "cron": "0 3 * * *",
        "timezone": "UTC",
        "version": {
            "source": SOURCE,
            "budgets": {"public": {"epsilon": 1}, "internal": {"epsilon": 2.5}},
            "disjoint_units": True,
            "max_units": 100,
        },
        "queries": json.loads(EXAMPLE),
        "streams": [],
        "total": {"public": 12.0, "internal": 30.0},
        "missed": "skip",
        "refused": "go_on",
    }


def test_streams_are_fed_as_well() -> None:
    spec = spec_of({**FORM, "streams": EXAMPLE_OF_STREAMS}, SOURCE, TIERS, NOW, as_sent)
    assert [feed.model_dump() for feed in spec.streams] == json.loads(EXAMPLE_OF_STREAMS)


def test_without_queries_only_versions_are_registered() -> None:
    assert spec_of({**FORM, "queries": " \n"}, SOURCE, TIERS, NOW, as_sent).queries == []


@pytest.mark.parametrize(
    ("changes", "place", "words"),
    [
        ({"name": ""}, "/name", "Enter a name"),
        ({"cron": ""}, "/cron", "five fields"),
        ({"cron": "0 3 * *"}, "/cron", "five fields"),
        ({"timezone": "Mars/Base"}, "/timezone", "no time zone"),
        ({"total public": "", "total internal": ""}, "/total", "Enter a total for each tier"),
        ({"total public": ""}, "/total", "name each of them in both"),
        ({"total public": "much"}, "/total/public", "must be a number"),
        ({"epsilon public": "-1"}, "/version/budgets/public/epsilon", "above 0"),
        ({"max_units": "1.5"}, "/version/max_units", "integer"),
        ({"missed": "x"}, "/missed", "'late' or 'skip'"),
        ({"queries": "[{]"}, "/queries", "in line 1, column 3"),
        ({"queries": "{}"}, "/queries", "must be a list of objects"),
        ({"queries": "[1]"}, "/queries", "must be a list of objects"),
        ({"queries": '[{"a": NaN}]'}, "/queries", "NaN is not a number"),
        ({"queries": '[{"a": 1, "a": 2}]'}, "/queries", "contains a name twice"),
        ({"queries": "[" * 200 + "]" * 200}, "/queries", "more than 100 deep"),
        ({"queries": '[{"name": "people"}]'}, "/queries", "needs {date}"),
        (queries(share=2), "/queries/1/share", "Query 2, share: "),
        ({"streams": "x"}, "/streams", "in line 1, column 1"),
        ({"streams": '[{"stream": "a"}]'}, "/streams/0/query", "for example"),
        (
            {"streams": EXAMPLE_OF_STREAMS.replace("count_units", "counted")},
            "/streams/0/aggregate",
            "Stream 1, aggregate: ",
        ),
        (
            {"streams": EXAMPLE_OF_STREAMS, "disjoint_units": "1"},
            "/version/disjoint_units",
            "leave disjoint_units out",
        ),
        (queries(values=[1]), "/queries/1/values", "Query 2, values: "),
    ],
)
def test_what_is_wrong_is_said_beside_its_field(
    changes: dict[str, str], place: str, words: str
) -> None:
    told = refused(changes)
    assert list(told) == [place]
    assert words in told[place]


def test_streams_of_versions_that_are_disjoint_are_refused_beside_the_statement() -> None:
    streams = '[{"stream": "daily", "query": {"aggregate": {"type": "count_units"}}}]'
    told = refused({"streams": streams, "disjoint_units": "1"})
    assert list(told) == ["/version/disjoint_units"]


def test_queries_that_are_no_json_are_reported_with_what_else_is_wrong() -> None:
    assert sorted(refused({"queries": "[", "name": ""})) == ["/name", "/queries"]


def test_refusals_of_the_version_point_to_its_fields_and_others_stay() -> None:
    with pytest.raises(InvalidInput) as caught, placed():
        raise InvalidInput(
            "", errors=[("/source/engine", "a"), ("/disjoint_units", "b"), ("/name", "c")]
        )
    assert [place for place, _ in caught.value.errors] == [
        *("/version/source/engine", "/version/disjoint_units", "/name"),
    ]


def test_days_are_a_whole_number_in_their_range() -> None:
    assert (days_of({}), days_of({"days": " "}), days_of({"days": "31"})) == (DAYS, DAYS, 31)
    for typed in ("0", "-3", "1.5", "many", str(MOST_DAYS + 1)):
        with pytest.raises(InvalidInput) as caught:
            days_of({"days": typed})
        assert caught.value.errors[0][0] == "/days"


def test_queries_in_sql_are_checked_as_the_specs_that_they_are_read_as() -> None:
    """The schedule keeps the text until it is made; a refusal names the query and its place."""
    given = json.dumps(
        [{"name": "a-{date}", "sql": "SELECT 1", "mechanism": "gaussian", "share": 0.1}]
    )

    def read(query: dict[str, Any]) -> dict[str, Any]:
        others = {name: value for name, value in query.items() if name != "sql"}
        return {**others, "aggregate": {"type": "count_units"}}

    def refuse(query: dict[str, Any]) -> dict[str, Any]:
        raise InvalidInput("Select aggregates.", pointer="/sql")

    spec = spec_of({**FORM, "queries": given}, SOURCE, TIERS, NOW, read)
    assert spec.queries == json.loads(given)
    with pytest.raises(InvalidInput) as caught:
        spec_of({**FORM, "queries": given}, SOURCE, TIERS, NOW, refuse)
    assert caught.value.errors == (("/queries/0/sql", "Query 1, sql: Select aggregates."),)
