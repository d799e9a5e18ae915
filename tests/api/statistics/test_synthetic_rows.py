"""Test synthetic rows over HTTP: from a table of counts, for those who hold it, in every form."""

import csv
import io
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyarrow import ipc, parquet
from tests.api.world import World, parsed

from penstock.services.synthetic_rows import apart

PEOPLE = 3000
ROWS = "person,ward,age,smoker\n" + "".join(
    f"p{number},{'ab'[number % 2]},{(number % 2) * 40 + number % 40},{number % 3 == 0}\n"
    for number in range(PEOPLE)
)
DATASET: dict[str, Any] = {
    "name": "patients",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "columns": {
        "person": {"type": "string"},
        "ward": {"type": "string", "categories": ["a", "b", "=c"]},
        "age": {"type": "integer", "lower": 0, "upper": 100},
        "smoker": {"type": "boolean"},
    },
    "budgets": {"public": {"epsilon": 4}, "internal": {"epsilon": 40}},
}
TABLE: dict[str, Any] = {
    "name": "table",
    "dataset": "patients",
    "aggregate": {"type": "count"},
    "group_by": [{"column": "ward"}, {"column": "age", "bins": [0, 40, 80]}],
    "contribution": {"max_groups": 1, "max_rows_per_group": 1},
    "mechanism": "gaussian",
    "levels": {"public": {"epsilon": 1}, "internal": {"epsilon": 2}},
}
AGES = {
    **TABLE,
    "name": "ages",
    "aggregate": {"type": "sum", "column": "age"},
    "group_by": [{"column": "ward"}],
}


@pytest.fixture
def patients(grow: Callable[..., World]) -> World:
    def fill(world: World, folder: Path) -> None:
        path = folder / "patients.csv"
        path.write_text(ROWS)
        body = {**DATASET, "source": {"engine": "duckdb", "uri": str(path)}}
        world.answer("POST", "/api/v1/datasets", body, by="root")
        world.answer("POST", "/api/v1/queries", TABLE, by="root")

    return grow("patients for rows", fill)


def released(patients: World, query: str, by: str) -> str:
    return str(
        patients.answer("POST", f"/api/v1/queries/{query}/releases", {"tier": "public"}, by=by)[
            "id"
        ]
    )


def cells(columns: Mapping[str, list[str]]) -> Counter[tuple[str, str]]:
    return Counter(zip(columns["ward"], columns["age"], strict=True))


def test_rows_have_the_counts_and_are_the_same_for_all_readers_in_every_form(
    patients: World,
) -> None:
    release = released(patients, "table", "ann")
    path = f"/api/v1/releases/{release}/synthetic"
    assert patients.call("GET", path, by="ian").status_code == 404
    assert released(patients, "table", "ian") == release
    answer = patients.answer("GET", path, by="ann")
    counts = cells(answer["columns"])
    held = patients.answer("GET", f"/api/v1/releases/{release}/values", by="ann")
    for key, value in zip(held["keys"], held["values"], strict=True):
        assert abs(counts[tuple(key)] - max(value, 0)) < 15
    assert abs(answer["rows"] - PEOPLE) < 30
    assert (answer["release"], answer["tier"], answer["query"]) == (release, "public", "table")
    (fit,) = answer["fits"]
    assert (fit["columns"], fit["fitted"]) == (["ward", "age"], True)
    assert 0 < fit["distance"] < 0.01
    other = patients.call("GET", f"{path}?format=csv", by="ian")
    rows = list(csv.DictReader(io.StringIO(other.text)))
    plain = [(row["ward"].removeprefix("'"), row["age"].removeprefix("'")) for row in rows]
    assert plain == list(zip(*answer["columns"].values(), strict=True))


def test_few_rows_come_as_arrow_and_parquet(
    patients: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    codes = {"ward": [0, 2], "age": [1, 0]}
    fits = [{"columns": ["ward", "age"], "distance": 0.5, "fitted": True}]
    asked: list[Any] = []

    def drawn(document: Any) -> Any:
        asked.append(document)
        return {"codes": codes, "fits": fits}

    monkeypatch.setattr(apart, "drawn", drawn)
    path = f"/api/v1/releases/{released(patients, 'table', 'ann')}/synthetic?rows=2"
    table = ipc.open_stream(patients.call("GET", f"{path}&format=arrow", by="ann").data).read_all()
    assert table["ward"].to_pylist() == ["a", "=c"]
    assert table.column_names == ["ward", "age"]
    assert b"distance" in table.schema.metadata[b"penstock"]
    again = patients.call("GET", f"{path}&format=parquet", by="ann")
    assert parquet.read_table(pa.BufferReader(again.data)).to_pydict() == table.to_pydict()
    assert b"'=c" in patients.call("GET", f"{path}&format=csv", by="ann").data
    assert {document["rows"] for document in asked} == {2}
    assert asked[0]["sizes"] == {"ward": 3, "age": 2}


@pytest.mark.parametrize("rows", [0, -1, 100_001, "many"])
def test_a_number_of_rows_is_refused_before_anything_is_drawn(patients: World, rows: Any) -> None:
    path = f"/api/v1/releases/{released(patients, 'table', 'ann')}/synthetic?rows={rows}"
    assert patients.call("GET", path, by="ann").status_code == 422


def test_sums_are_no_table_of_counts(patients: World) -> None:
    patients.answer("POST", "/api/v1/queries", AGES, by="root")
    path = f"/api/v1/releases/{released(patients, 'ages', 'ann')}/synthetic"
    refused = parsed(patients.call("GET", path, by="ann"))
    assert "no table of counts" in refused["detail"]
