"""Values as CSV, Arrow and Parquet: the same numbers in every form."""

import csv
import io
import json
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.api.world import QUERY, World, parsed

from penstock.api.formats import FORMS


@pytest.fixture
def release(world: World) -> dict[str, Any]:
    answer: dict[str, Any] = world.answer("POST", "/api/v1/queries/visits/releases", {}, by="ann")
    return answer


def rows(form: str, content: bytes) -> list[dict[str, Any]]:
    if form == "csv":
        return [
            {name: cell if name.startswith("key") else float(cell) for name, cell in row.items()}
            for row in csv.DictReader(io.StringIO(content.decode()))
        ]
    if form == "arrow":
        table = pa.ipc.open_stream(content).read_all()
    else:
        table = pq.read_table(io.BytesIO(content))
    found: list[dict[str, Any]] = table.to_pylist()
    return found


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet"])
@pytest.mark.parametrize("way", ["accept", "argument"])
def test_every_form_holds_the_same_numbers(
    world: World, release: dict[str, Any], form: str, way: str
) -> None:
    path = f"/api/v1/releases/{release['id']}/values"
    if way == "accept":
        response = world.call("GET", path, by="ann", headers={"Accept": FORMS[form]})
    else:
        response = world.call("GET", f"{path}?format={form}", by="ann")
    assert response.status_code == 200
    assert response.mimetype == FORMS[form]
    half_width = release["error"]["half_width"]
    assert rows(form, response.data) == [
        {"key": key, "value": value, "lower": value - half_width, "upper": value + half_width}
        for key, value in zip(release["keys"], release["values"], strict=True)
    ]


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_everything_else_of_the_release_goes_along_as_metadata(
    world: World, release: dict[str, Any], form: str
) -> None:
    content = world.call("GET", f"/api/v1/releases/{release['id']}/values?format={form}", by="ann")
    if form == "arrow":
        schema = pa.ipc.open_stream(content.data).schema
    else:
        schema = pq.read_schema(io.BytesIO(content.data))
    rest = json.loads(schema.metadata[b"penstock"])
    assert rest == {
        name: part for name, part in release.items() if name not in {"keys", "values", "mean"}
    }


@pytest.mark.parametrize(
    ("accept", "status", "media_type"),
    [
        ("*/*", 200, "application/json"),
        ("text/html, */*;q=0.1", 200, "application/json"),
        ("text/csv;q=0.5, application/vnd.apache.parquet", 200, FORMS["parquet"]),
        ("image/png", 406, "application/problem+json"),
        ("text/csv;q=0", 406, "application/problem+json"),
    ],
)
def test_accept_decides_and_what_nobody_serves_is_refused(
    world: World, release: dict[str, Any], accept: str, status: int, media_type: str
) -> None:
    path = f"/api/v1/releases/{release['id']}/values"
    response = world.call("GET", path, by="ann", headers={"Accept": accept})
    assert (response.status_code, response.mimetype) == (status, media_type)
    if status == 406:
        assert parsed(response)["code"] == "NOT_ACCEPTABLE"


def test_a_form_that_does_not_exist_is_named(world: World, release: dict[str, Any]) -> None:
    response = world.call("GET", f"/api/v1/releases/{release['id']}/values?format=xml", by="ann")
    assert response.status_code == 422
    assert parsed(response)["errors"][0]["pointer"] == "/format"


def test_keys_that_spreadsheets_would_run_are_made_harmless_in_csv(world: World) -> None:
    keys = ["=1+1", "@x", "plain"]
    world.answer(
        "POST",
        "/api/v1/queries",
        {**QUERY, "name": "odd", "keys": keys, "values": [1, 2, 3]},
        by="root",
    )
    made = world.answer("POST", "/api/v1/queries/odd/releases", {}, by="ann")
    path = f"/api/v1/releases/{made['id']}/values?format="
    assert [row["key"] for row in rows("csv", world.call("GET", path + "csv", by="ann").data)] == [
        "'=1+1",
        "'@x",
        "plain",
    ]
    arrow = rows("arrow", world.call("GET", path + "arrow", by="ann").data)
    assert [row["key"] for row in arrow] == keys
