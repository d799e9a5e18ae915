"""Test ranges of a release's values, in every format, of vectors in rows and in chunks."""

import csv
import io
import json
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.altered_bytes import altered
from tests.api.world import QUERY, World, parsed

from penstock.http import tabular_formats
from penstock.services.noise.long_vectors import parts, sizes
from penstock_client import Client, InvalidArgument

SIZE = 20
LONG: dict[str, Any] = {
    **{name: value for name, value in QUERY.items() if name not in ("keys", "values")},
    "name": "long",
    "values": list(range(SIZE)),
}


@pytest.fixture(params=[8, 100], ids=["chunks", "row"])
def long(world: World, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> World:
    """Provide a query of twenty values, in chunks of eight or in a row."""
    monkeypatch.setattr(sizes, "CHUNK", request.param)
    world.answer("POST", "/api/v1/queries", LONG, by="root")
    return world


@pytest.fixture
def release(long: World) -> dict[str, Any]:
    found: dict[str, Any] = long.answer("POST", "/api/v1/queries/long/releases", {}, by="ann")
    assert len(found["values"]) == SIZE
    assert found["part"] is None
    return found


def path_of(release: dict[str, Any], question: str = "") -> str:
    return f"/api/v1/releases/{release['id']}/values{question}"


@pytest.mark.parametrize(
    ("question", "first", "last"),
    [
        ("?from=0&to=0", 0, 0),
        ("?from=6&to=16", 6, 16),
        ("?from=15", 15, 19),
        ("?to=3", 0, 3),
        ("?from=0&to=19", 0, 19),
    ],
)
def test_a_range_has_both_of_its_ends(
    long: World, release: dict[str, Any], question: str, first: int, last: int
) -> None:
    shown = long.answer("GET", path_of(release, question), by="ann")
    places = slice(first, last + 1)
    assert shown["values"] == release["values"][places]
    assert shown["keys"] == release["keys"][places] == list(range(first, last + 1))
    assert shown["part"] == {"first": first, "last": last, "count": SIZE}
    rest = ("keys", "values", "part")
    assert {name: shown[name] for name in shown if name not in rest} == {
        name: release[name] for name in release if name not in rest
    }


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet"])
@pytest.mark.parametrize("question", ["", "&from=6&to=16"])
def test_a_table_has_the_same_numbers(
    long: World, release: dict[str, Any], form: str, question: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tabular_formats, "PART", 3)
    content = long.call("GET", path_of(release, f"?format={form}{question}"), by="ann").data
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        found = [(int(row["key"]), float(row["value"])) for row in rows]
    else:
        opened = pa.ipc.open_stream(content).read_all() if form == "arrow" else None
        table = opened if opened is not None else pq.read_table(io.BytesIO(content))
        found = list(zip(table["key"].to_pylist(), table["value"].to_pylist(), strict=True))
        rest = json.loads(table.schema.metadata[b"penstock"])
        assert (rest["part"] is None) == (not question)
    whole = list(enumerate(release["values"]))
    assert found == (whole[6:17] if question else whole)


@pytest.mark.parametrize(
    ("question", "pointer"),
    [
        ("?from=20", "/from"),
        ("?from=5&to=4", "/to"),
        ("?from=5&to=20", "/to"),
        ("?to=20", "/to"),
    ],
)
def test_positions_that_there_are_not_are_refused(
    long: World, release: dict[str, Any], question: str, pointer: str
) -> None:
    refusal = long.call("GET", path_of(release, question), by="ann")
    assert refusal.status_code == 422
    assert parsed(refusal)["errors"][0]["pointer"] == pointer
    assert "20 values" in parsed(refusal)["detail"]


@pytest.mark.parametrize("question", ["?from=-1", "?to=x", "?from=1.5"])
def test_what_is_no_position_is_refused(
    long: World, release: dict[str, Any], question: str
) -> None:
    assert long.call("GET", path_of(release, question), by="ann").status_code == 422


def test_too_many_values_for_json_are_read_by_ranges_or_as_a_table(
    long: World, release: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (parts, tabular_formats):
        monkeypatch.setattr(module, "MOST_AT_ONCE", 10)
    handed = long.answer("POST", "/api/v1/queries/long/releases", {}, by="ann")
    assert (handed["id"], handed["values"]) == (release["id"], [])
    assert handed["part"] == {"first": None, "last": None, "count": SIZE}
    refusal = long.call("GET", path_of(release), by="ann")
    assert refusal.status_code == 422
    assert "Request a range" in parsed(refusal)["detail"]
    assert len(long.answer("GET", path_of(release, "?to=9"), by="ann")["values"]) == 10
    table = long.call("GET", path_of(release, "?format=csv"), by="ann").data
    assert len(table.splitlines()) == SIZE + 1


@pytest.mark.parametrize("form", ["json", "csv", "arrow", "parquet"])
def test_a_damaged_chunk_is_a_problem_in_every_format_and_hides_no_other_range(
    world: World, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    monkeypatch.setattr(sizes, "CHUNK", 8)
    world.answer("POST", "/api/v1/queries", LONG, by="root")
    release = world.answer("POST", "/api/v1/queries/long/releases", {}, by="ann")
    for chunk in world.server.settings.home.glob("chunks/*/00000002"):
        chunk.write_bytes(altered(chunk.read_bytes()))
    answer = world.call("GET", path_of(release, f"?format={form}"), by="ann")
    assert answer.status_code == 503
    assert "Chunk 2 of 3" in parsed(answer)["detail"]
    shown = world.answer("GET", path_of(release, "?from=3&to=15"), by="ann")
    assert shown["values"] == release["values"][3:16]
    refusal = world.call("GET", path_of(release, "?from=3&to=16"), by="ann")
    assert (refusal.status_code, parsed(refusal)["code"]) == (503, "INTEGRITY_VIOLATION")


def test_a_stranger_learns_nothing_from_ranges(long: World, release: dict[str, Any]) -> None:
    hidden, missing = (
        long.call("GET", f"/api/v1/releases/{name}/values?from=90", by="ian")
        for name in (release["id"], "none")
    )
    assert hidden.status_code == missing.status_code == 404


def test_the_client_reads_piece_by_piece(long: World, release: dict[str, Any]) -> None:
    transport = httpx.WSGITransport(long.client.application)
    with Client("http://127.0.0.1", long.tokens["ann"], transport=transport) as client:
        for named in (release["id"], client.release("long")):
            pieces = list(client.pieces(named, 7))
            assert [len(piece) for piece in pieces] == [7, 7, 6]
            values = [value for piece in pieces for value in piece.values]
            assert values == release["values"]
        assert pieces[1].part is not None
        assert (pieces[1].part.first, pieces[1].part.last, pieces[1].part.count) == (7, 13, SIZE)
        assert client.values(release["id"], 3, 4).to_arrow()["key"].to_pylist() == [3, 4]
        with pytest.raises(InvalidArgument):
            next(client.pieces(release["id"], 0))
