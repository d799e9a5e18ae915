"""Test which fields a source has under each engine, and what is said of one that is missing."""

import json
from typing import Any

import pytest
from tests.unit.connectors.cases import dataset_of

from penstock.connectors.planning.prepare import check_source
from penstock.connectors.specs import sources
from penstock.connectors.specs.models import DatasetSpec, SourceSpec
from penstock.connectors.specs.schema import check_schema
from penstock.errors import InvalidInput

VIEW = {"connection": "warehouse", "table": "public.visits"}


def _of(source: dict[str, Any]) -> DatasetSpec:
    return dataset_of().model_copy(update={"source": SourceSpec.model_validate(source)})


@pytest.mark.parametrize(
    "source",
    [
        {"engine": "duckdb", "uri": "visits.csv"},
        *(
            {"engine": "duckdb", "uri": f"{scheme}bucket/path/*.parquet", "connection": "lake"}
            for scheme in sources.BUCKETS
        ),
        *({"engine": engine, **VIEW} for engine in sources.EXTRAS),
        {"engine": "trino", "connection": "hive-2", "table": "lake.public.visits"},
        {"engine": "bigquery", "connection": "b_q", "table": "my-project.data.visits"},
    ],
)
def test_a_source_has_the_fields_of_its_engine(source: dict[str, Any]) -> None:
    check_schema(_of(source))


@pytest.mark.parametrize(
    ("source", "places"),
    [
        ({"engine": "duckdb"}, ["/source/uri"]),
        ({"engine": "duckdb", "uri": "s3://b/x.parquet"}, ["/source/uri"]),
        ({"engine": "duckdb", "uri": "x.csv", "connection": "lake"}, ["/source/connection"]),
        ({"engine": "duckdb", "uri": "x.csv", "table": "a.b"}, ["/source/table"]),
        ({"engine": "duckdb", "uri": "s3://b/x", "connection": "la ke"}, ["/source/connection"]),
        ({"engine": "spark"}, ["/source/connection", "/source/table"]),
        ({"engine": "spark", **VIEW, "uri": "x.csv"}, ["/source/uri"]),
        ({"engine": "spark", **VIEW, "connection": "d\u00e9p\u00f4t"}, ["/source/connection"]),
        *(
            ({"engine": "postgresql", **VIEW, "table": table}, ["/source/table"])
            for table in ("visits", "a.b.c.d", "a..b", "a.b;", 'a."b"', "a.b c", "a.`b`", "a.1b")
        ),
    ],
)
def test_other_fields_are_refused_at_their_places(
    source: dict[str, Any], places: list[str]
) -> None:
    with pytest.raises(InvalidInput) as refused:
        check_schema(_of(source))
    assert [place for place, _ in refused.value.errors] == places


def test_pushed_vectors_have_neither_file_nor_connection() -> None:
    with pytest.raises(InvalidInput) as refused:
        check_schema(_of({"engine": "vector", "uri": "x.csv", **VIEW}))
    places = [place for place, _ in refused.value.errors]
    assert places[:3] == ["/source/uri", "/source/connection", "/source/table"]


@pytest.mark.parametrize("engine", sources.EXTRAS)
def test_an_engine_that_is_not_installed_is_refused_with_what_to_install(
    engine: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sources.EXTRAS, engine, ("spark", ("no_such_module.inner",)))
    with pytest.raises(InvalidInput, match=r"pip install 'penstock\[spark\]'") as refused:
        check_source(_of({"engine": engine, **VIEW}))
    assert refused.value.errors[0][0] == "/source/engine"


def test_an_engine_without_a_connector_is_refused_as_such(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sources.EXTRAS, "trino", ("trino", ()))
    monkeypatch.setattr(sources, "CONNECTED", frozenset({"duckdb", "vector"}))
    with pytest.raises(InvalidInput, match="no connector for trino yet") as refused:
        check_source(_of({"engine": "trino", **VIEW}))
    assert refused.value.errors[0][0] == "/source/engine"


@pytest.mark.parametrize(
    "source", [{"engine": "duckdb", "uri": "visits.csv"}, {"engine": "vector", "uri": None}]
)
def test_specs_of_earlier_versions_are_written_as_they_were(source: dict[str, Any]) -> None:
    written = json.dumps(SourceSpec.model_validate(source).model_dump(mode="json"))
    assert written == json.dumps(source)


def test_a_view_is_written_with_its_connection() -> None:
    source = SourceSpec.model_validate({"engine": "spark", **VIEW})
    assert SourceSpec.model_validate(source.model_dump(mode="json")) == source
    assert source.model_dump(mode="json", exclude_none=True) == {"engine": "spark", **VIEW}
