"""Test values as CSV, Arrow and Parquet: the same numbers in every form."""

import base64
import csv
import io
import json
import struct
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.api.world import QUERY, World, parsed
from tests.support.notes import by_the_letter

from penstock.connectors.planning.domain import Domain
from penstock.http import answers, tabular_formats
from penstock.http.tabular_formats import FORMS
from penstock.randomness import Stream
from penstock.services.access.principals import authenticate
from penstock.services.noise.long_vectors import parts
from penstock.services.releases import history
from penstock.services.schemas.views import ErrorsView, MeanPartsView, ReleaseView


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
    found: list[dict[str, Any]] = as_table(form, content).to_pylist()
    return found


def as_table(form: str, content: bytes) -> pa.Table:
    if form == "arrow":
        return pa.ipc.open_stream(content).read_all()
    return pq.read_table(io.BytesIO(content))


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
        name: part
        for name, part in release.items()
        if name not in {"keys", "values", "mean", "errors", "marginals"}
    }


@pytest.mark.parametrize(
    ("accept", "status", "media_type"),
    [
        ("*/*", 200, "application/json"),
        ("text/html, */*;q=0.1", 200, "application/json"),
        ("text/csv;q=0.5, application/vnd.apache.parquet", 200, FORMS["parquet"]),
        ("text/csv;q=0.3, application/json;q=0.2", 200, "text/csv"),
        ("text/csv, */*", 200, "text/csv"),
        ("text/*", 200, "text/csv"),
        ("TEXT/CSV", 200, "text/csv"),
        ("text/csv;header=present", 200, "text/csv"),
        ("application/json; charset=utf-8", 200, "application/json"),
        ("application/*;q=0.5, text/csv;q=0.4", 200, "application/json"),
        # The most specific range decides, whatever a wider one says.
        ("*/*, application/json;q=0", 200, "text/csv"),
        ("application/*, application/json;q=0.1", 200, FORMS["arrow"]),
        ("", 200, "application/json"),
        # What cannot be read is ignored.
        ("text/\x7f;q=9e99", 200, "application/json"),
        ("image/png", 406, "application/problem+json"),
        ("text/csv;q=0", 406, "application/problem+json"),
        ("text/*;q=0, image/*", 406, "application/problem+json"),
        ("nonsense", 406, "application/problem+json"),
    ],
)
def test_accept_decides_and_what_nobody_serves_is_refused(
    world: World, release: dict[str, Any], accept: str, status: int, media_type: str
) -> None:
    path = f"/api/v1/releases/{release['id']}/values"
    response = world.call("GET", path, by="ann", headers={"Accept": accept})
    assert (response.status_code, response.mimetype) == (status, media_type)
    if status == 200:
        assert response.headers["Vary"] == "Accept"
    if status == 406:
        assert parsed(response)["code"] == "NOT_ACCEPTABLE"


def test_a_form_that_does_not_exist_is_named(world: World, release: dict[str, Any]) -> None:
    response = world.call("GET", f"/api/v1/releases/{release['id']}/values?format=xml", by="ann")
    assert response.status_code == 422
    assert parsed(response)["errors"][0]["pointer"] == "/format"


def test_the_argument_goes_before_what_is_accepted(world: World, release: dict[str, Any]) -> None:
    path = f"/api/v1/releases/{release['id']}/values?format=csv"
    for accept in ("application/json", "image/png"):
        response = world.call("GET", path, by="ann", headers={"Accept": accept})
        assert (response.status_code, response.mimetype) == (200, "text/csv")


def test_keys_that_spreadsheets_would_run_are_made_harmless_in_csv(world: World) -> None:
    keys = ["=1+1", "@x", "-5", "+5", "\uff1d1", "'=1+1", "'", "plain", 'a "b", c', "5"]
    query = {**QUERY, "name": "odd", "keys": keys, "values": [1] * len(keys)}
    world.answer("POST", "/api/v1/queries", query, by="root")
    made = world.answer("POST", "/api/v1/queries/odd/releases", {}, by="ann")
    path = f"/api/v1/releases/{made['id']}/values?format="
    shown = [row["key"] for row in rows("csv", world.call("GET", path + "csv", by="ann").data)]
    assert shown == [
        *("'=1+1", "'@x", "'-5", "'+5", "'\uff1d1", "''=1+1", "''", "plain", 'a "b", c', "5")
    ]
    # No two become the same, and taking one apostrophe away is the way back.
    assert [key.removeprefix("'") for key in shown] == keys
    for form in ("arrow", "parquet"):
        found = rows(form, world.call("GET", path + form, by="ann").data)
        assert [row["key"] for row in found] == keys


def hard_floats() -> list[float]:
    """Return numbers that are lost by writing too few digits, and bits as they come."""
    named = [0.1, 1 / 3, 5e-324, 2.2250738585072014e-308, 1.7976931348623157e308, -0.0, 1e23]
    named += [2.0**53, 9007199254740993.0, 123456.78900000001, -1e-7, 100.0, 1e16, 1e22]
    drawn = Stream.from_key(b"every bit of a float is written.").raw_uint64(4000).view(np.float64)
    return named + [float(value) for value in drawn if np.isfinite(value) and abs(value) < 1e300]


@pytest.mark.parametrize("form", sorted(FORMS))
def test_every_form_reads_back_to_the_bit(world: World, release: dict[str, Any], form: str) -> None:
    values = hard_floats()
    held = history.values(
        world.server, authenticate(world.server, world.tokens["ann"]), release["id"]
    )
    view = replace(
        held, keys=[f"k{place}" for place in range(len(values))], values=np.asarray(values)
    )
    content = tabular_formats.answer(view, form).data
    if form == "json":
        found = json.loads(content)["values"]
    else:
        found = [row["value"] for row in rows(form, content)]
    assert len(values) > 3000
    assert struct.pack(f"{len(values)}d", *found) == struct.pack(f"{len(values)}d", *values)


def test_a_checkpoint_is_a_note_for_tools_of_others(world: World) -> None:
    """What is served as text is verified by the specification's letter and the key beside it."""
    path = "/api/v1/audit/checkpoint"
    told = world.answer("GET", path, by="ann")
    served = world.call("GET", path, by="ann", headers={"Accept": "text/plain"})
    assert served.mimetype == "text/plain"
    assert served.headers["Vary"] == "Accept"
    assert served.text == told["note"] == world.call("GET", f"{path}?format=note", by="ann").text
    assert by_the_letter(told["vkey"], served.text) is None
    origin, size, root = served.text.split("\n")[:3]
    assert (origin, int(size)) == (told["vkey"].partition("+")[0], told["size"])
    assert base64.b64decode(root).hex() == told["root_hash"]
    assert world.call("GET", path, by="ann", headers={"Accept": "text/csv"}).status_code == 406
    assert world.call("GET", f"{path}?cosigned=1", by="ann").status_code == 404


def long_release(world: World, release: dict[str, Any], size: int) -> ReleaseView:
    """Return a release with so many values of all magnitudes, some beside keys like formulas."""
    caller = authenticate(world.server, world.tokens["ann"])
    short = history.values(world.server, caller, release["id"])
    values = Stream.from_key(bytes(32)).generator.standard_normal(size) * np.logspace(-9, 9, size)
    return replace(short, keys=[f"={place}" for place in range(size)], values=values)


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet"])
@pytest.mark.parametrize("kind", ["keys", "positions", "pairs", "mean", "errors"])
def test_a_long_table_is_written_in_parts_that_are_one_table(
    world: World,
    release: dict[str, Any],
    form: str,
    kind: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    view = long_release(world, release, 1000)
    numbers = view.values
    if kind == "positions":
        view = replace(view, keys=np.arange(1000))
    elif kind == "pairs":
        view = replace(view, keys=[["a", str(place)] for place in range(1000)])
    elif kind == "mean":
        mean = MeanPartsView(
            numbers - 1, numbers + 1, 2.0, numbers * 3, view.error, numbers * 5, view.error
        )
        view = replace(view, mean=mean)
    elif kind == "errors":
        view = replace(view, errors=ErrorsView(np.abs(numbers), np.abs(numbers) * 2))
    whole = tabular_formats.answer(view, form)
    assert not whole.is_streamed
    monkeypatch.setattr(tabular_formats, "PART", 300)
    monkeypatch.setattr(answers, "STREAMED", 1)
    streamed = tabular_formats.answer(view, form)
    assert streamed.is_streamed
    blocks = list(streamed.iter_encoded())
    assert sum(map(bool, blocks)) >= 4
    content = b"".join(blocks)
    if form == "csv":
        assert content == whole.data
        return
    one, other = (as_table(form, data) for data in (whole.data, content))
    assert other.equals(one, check_metadata=True)
    if form == "arrow":
        batches = pa.ipc.open_stream(content).read_all().to_batches()
        assert [batch.num_rows for batch in batches] == [300, 300, 300, 100]
    else:
        assert pq.ParquetFile(io.BytesIO(content)).num_row_groups == 4


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet"])
def test_a_table_without_rows_has_its_columns(
    world: World, release: dict[str, Any], form: str
) -> None:
    view = replace(long_release(world, release, 1), keys=np.arange(0), values=np.empty(0))
    content = tabular_formats.answer(view, form).data
    if form == "csv":
        assert content.decode().strip() == '"key","value","lower","upper"'
    else:
        assert as_table(form, content).column_names == ["key", "value", "lower", "upper"]


def test_a_long_table_is_never_in_memory_as_a_whole(world: World, release: dict[str, Any]) -> None:
    view = replace(
        long_release(world, release, 1), keys=np.arange(400_000), values=np.ones(400_000)
    )
    sizes = [len(block) for block in tabular_formats.answer(view, "csv").iter_encoded()]
    assert len(sizes) > 6
    assert max(sizes) < sum(sizes) / 4


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet"])
@pytest.mark.parametrize("labels", [(), (("=a", "b"),), (("=a", "b"), ("x",), ("1", "2", "3"))])
def test_declared_keys_are_written_as_if_they_were_listed(
    world: World,
    release: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
    labels: tuple[tuple[str, ...], ...],
    form: str,
) -> None:
    """Also in parts, and of a range: the keys of a domain are never made there."""
    monkeypatch.setattr(tabular_formats, "PART", 2)
    domain: Any = Domain(labels)
    view = replace(long_release(world, release, len(domain)), keys=domain)
    for first in (0, len(domain) // 2):
        part = parts.ranged(view, first, None)
        keys: Any = list(domain)[first:]
        listed = replace(part, keys=keys)
        written = tabular_formats.answer(part, form).data
        assert written == tabular_formats.answer(listed, form).data


@pytest.mark.parametrize("form", ["arrow", "parquet"])
def test_labels_are_columns_after_all_others(
    world: World, release: dict[str, Any], form: str
) -> None:
    principal = authenticate(world.server, world.tokens["ann"])
    view = history.values(world.server, principal, release["id"])
    plain = as_table(form, tabular_formats.answer(view, form).data)
    first, *rest = release["keys"]
    labeled = as_table(form, tabular_formats.answer(view, form, {first: "North"}).data)
    assert labeled.column_names == [*plain.column_names, "label"]
    assert labeled.column("label").to_pylist() == ["North", *rest]
    assert labeled.drop_columns("label").equals(plain)
    assert labeled.schema.metadata.keys() == plain.schema.metadata.keys()
