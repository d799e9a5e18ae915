"""Test datasets declared by form: pushed vectors, and files whose fields carry column numbers."""

import pytest

from penstock.errors import InvalidInput
from penstock.web.forms.dataset_form import (
    connected_columns,
    dated,
    next_source,
    source_of,
    spec_of,
)

TIERS = ("public", "internal")
FORM = {
    "name": " people ",
    "neighboring": "add_remove",
    "delta": "1e-6",
    "uri": "/data/a.csv",
    "column 0": "who",
    "type 0": "string",
    "column 1": "age",
    "type 1": "integer",
    "lower 1": "0",
    "upper 1": "120",
    "column 2": "town",
    "type 2": "string",
    "categories 2": "north\n south \n\n",
    "missing 2": "unknown",
    "column 3": "left out",
    "unit": "column",
    "unit column": "who",
    "epsilon internal": "2.5",
    "max_units": "1000",
}


def test_a_file_has_its_columns_unit_and_budgets() -> None:
    assert spec_of(FORM, TIERS) == {
        "name": "people",
        "source": {"engine": "duckdb", "uri": "/data/a.csv"},
        "neighboring": "add_remove",
        "delta": 1e-6,
        "columns": {
            "who": {"type": "string"},
            "age": {"type": "integer", "lower": 0, "upper": 120},
            "town": {"type": "string", "categories": ["north", "south"], "missing": "unknown"},
        },
        "budgets": {"internal": {"epsilon": 2.5}},
        "privacy_unit": {"column": "who"},
        "max_units": 1000,
    }


def test_vectors_that_are_pushed_have_neither_columns_nor_a_unit() -> None:
    spec = spec_of({**FORM, "uri": " "}, TIERS)
    assert spec["source"] == {"engine": "vector"}
    assert spec["columns"] == {}
    assert "privacy_unit" not in spec


def test_the_file_of_a_page_is_taken_before_one_that_is_typed() -> None:
    assert spec_of(FORM, TIERS, "/data/b.csv")["source"]["uri"] == "/data/b.csv"


ENGINES = {"lake": "duckdb", "house": "clickhouse"}
LAKE = {
    "source": "bucket",
    "connection": "lake",
    "uri": " s3://clinic/visits/*.parquet ",
    "names": "person string\n\n age:\tinteger\nfirst name\nthe number  Number\n",
}
HOUSE = {**LAKE, "source": "view", "connection": "house", "uri": "clinic.visits"}


@pytest.mark.parametrize(
    ("given", "source"),
    [
        ({"uri": "a.csv", "connection": "lake"}, {"engine": "duckdb", "uri": "a.csv"}),
        ({"source": "file", "uri": "a.csv"}, {"engine": "duckdb", "uri": "a.csv"}),
        ({"source": "vector"}, {"engine": "vector"}),
        (
            LAKE,
            {"engine": "duckdb", "connection": "lake", "uri": "s3://clinic/visits/*.parquet"},
        ),
        (HOUSE, {"engine": "clickhouse", "connection": "house", "table": "clinic.visits"}),
        ({**HOUSE, "connection": ""}, {"engine": "postgresql", "table": "clinic.visits"}),
    ],
)
def test_data_are_in_a_file_a_bucket_a_view_or_nowhere(
    given: dict[str, str], source: dict[str, str]
) -> None:
    assert source_of(given, ENGINES) == source


def test_data_under_a_connection_have_columns_and_a_unit_too() -> None:
    spec = spec_of({**FORM, **LAKE}, TIERS, engines=ENGINES)
    assert spec["source"]["connection"] == "lake"
    assert set(spec["columns"]) == {"who", "age", "town"}
    assert spec["privacy_unit"] == {"column": "who"}


def test_columns_are_listed_one_a_line_with_their_types() -> None:
    for given in (LAKE, HOUSE):
        assert connected_columns(given, ENGINES) == {
            "person": "string",
            "age": "integer",
            "first name": "string",
            "the number": "number",
        }


@pytest.mark.parametrize(
    ("given", "changes", "place", "words"),
    [
        (LAKE, {"names": " \n"}, "/names", "List the columns, one a line"),
        (LAKE, {"names": "a\na integer"}, "/names", "listed twice"),
        (LAKE, {"uri": ""}, "/source/uri", "Enter the address of the files"),
        (LAKE, {"uri": "visits.parquet"}, "/source/connection", "needs no connection"),
        (LAKE, {"connection": ""}, "/source/connection", "Enter the name of a connection"),
        (LAKE, {"connection": "absent"}, "/source/connection", "no connection of this name"),
        (HOUSE, {"connection": ""}, "/source/connection", "Enter the name of a connection"),
        (HOUSE, {"uri": ""}, "/source/table", "Enter the view"),
        (HOUSE, {"uri": "drop table"}, "/source/table", "Name the view as schema.view"),
    ],
)
def test_a_place_that_cannot_be_one_is_refused_beside_its_field(
    given: dict[str, str], changes: dict[str, str], place: str, words: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        connected_columns({**given, **changes}, ENGINES)
    ((pointer, detail),) = caught.value.errors
    assert (pointer, words in detail) == (place, True)


def test_all_that_is_wrong_with_a_place_is_said_at_once() -> None:
    with pytest.raises(InvalidInput) as caught:
        connected_columns({**LAKE, "connection": "", "names": ""}, ENGINES)
    assert [place for place, _ in caught.value.errors] == ["/source/connection", "/names"]


@pytest.mark.parametrize(
    ("before", "connection", "source"),
    [
        ({"engine": "duckdb", "uri": "a"}, "lake", {"engine": "duckdb", "connection": "lake"}),
        ({"engine": "duckdb", "uri": "a", "connection": "lake"}, "", {"engine": "duckdb"}),
        (
            {"engine": "spark", "table": "a", "connection": "old", "snapshot": "none"},
            "new",
            {"engine": "spark", "connection": "new"},
        ),
    ],
)
def test_new_data_may_be_under_another_connection(
    before: dict[str, str], connection: str, source: dict[str, str]
) -> None:
    place = "table" if "table" in before else "uri"
    assert next_source(before, "s3://b", connection) == {**source, place: "s3://b"}


def test_units_are_rows_or_events_as_well() -> None:
    assert spec_of({**FORM, "unit": "rows"}, TIERS)["privacy_unit"] == {"rows": 1}
    assert spec_of({**FORM, "unit": "event"}, TIERS)["privacy_unit"] == "event"


def test_same_people_and_accountant_are_there_where_they_were_given() -> None:
    spec = spec_of({**FORM, "same_people_as": " others ", "accountant": "gaussian"}, TIERS)
    assert (spec["same_people_as"], spec["accountant"]) == ("others", "gaussian")
    assert {"same_people_as", "accountant"}.isdisjoint(spec_of(FORM, TIERS))


@pytest.mark.parametrize(
    ("before", "place", "source"),
    [
        (
            {"engine": "duckdb", "uri": "/a.csv"},
            "/b.csv",
            {"engine": "duckdb", "uri": "/b.csv"},
        ),
        (
            {"engine": "duckdb", "uri": "s3://b/1.parquet", "connection": "lake"},
            "s3://b/2.parquet",
            {"engine": "duckdb", "uri": "s3://b/2.parquet", "connection": "lake"},
        ),
        (
            {"engine": "duckdb", "uri": "s3://b/1.parquet", "connection": "lake"},
            "/b.csv",
            {"engine": "duckdb", "uri": "/b.csv"},
        ),
        (
            {"engine": "spark", "table": "a.old", "connection": "cluster", "snapshot": "none"},
            "a.new",
            {"engine": "spark", "table": "a.new", "connection": "cluster"},
        ),
        ({"engine": "vector"}, "/b.csv", {"engine": "duckdb", "uri": "/b.csv"}),
    ],
)
def test_new_data_are_read_as_those_before_them(
    before: dict[str, str], place: str, source: dict[str, str]
) -> None:
    assert next_source(before, place) == source


@pytest.mark.parametrize(
    ("source", "pattern"),
    [
        ({"uri": "/data/visits.csv"}, "/data/visits-{date}.csv"),
        ({"uri": "visits.csv.gz"}, "visits-{date}.csv.gz"),
        ({"uri": "/data.d/visits"}, "/data.d/visits-{date}"),
        ({"uri": ".csv"}, ".csv-{date}"),
        ({"uri": "s3://lake/visits/*.parquet"}, "s3://lake/visits/*.parquet"),
        ({"uri": "delta+s3://lake/visits/"}, "delta+s3://lake/visits/"),
        ({"table": "public.visits"}, "public.visits_{date}"),
        ({"engine": "vector"}, ""),
    ],
)
def test_a_date_has_its_place_in_the_name_that_is_suggested(
    source: dict[str, str], pattern: str
) -> None:
    assert dated(source) == pattern
