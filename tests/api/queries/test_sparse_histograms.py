"""Test sparse histograms over HTTP.

Keys of 64 bits in every form, previews, refusals, the client.
"""

import csv
import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.api.queries.loans import BOOKS, LARGEST, LOANS, ROWS
from tests.api.world import World, parsed

from penstock_client import Client


def lend(world: World, folder: Path) -> None:
    """Register the dataset."""
    file = folder / "loans.csv"
    file.write_text(ROWS, encoding="utf-8")
    spec = {**LOANS, "source": {"engine": "duckdb", "uri": str(file)}}
    world.answer("POST", "/api/v1/datasets", spec, by="root")


def lend_books(world: World, folder: Path) -> None:
    """Register the dataset and the histogram."""
    lend(world, folder)
    world.answer("POST", "/api/v1/queries", BOOKS, by="root")


@pytest.fixture
def loans(grow: Callable[..., World]) -> World:
    return grow("loans", lend)


@pytest.fixture
def books(grow: Callable[..., World]) -> World:
    return grow("books", lend_books)


def released(world: World, by: str = "ian", **wanted: object) -> dict[str, Any]:
    found: dict[str, Any] = world.answer("POST", "/api/v1/queries/books/releases", wanted, by=by)
    return found


def test_keys_of_64_bits_come_as_integers_with_their_counts(books: World) -> None:
    found = released(books)
    assert found["keys"] == [7, LARGEST]
    assert all(abs(value - 1500) < 150 for value in found["values"])
    told = found["histogram"]
    assert told["domain"] == {"type": "uint64"}
    assert told["size"] == 2.0**64
    assert told["false_keys"] == 0.01
    assert 0 < told["threshold"] < 1500
    assert [each["count"] for each in told["appears"]][:3] == [1, 2, 5]
    assert released(books) == found


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet"])
def test_every_form_holds_the_same_keys(books: World, form: str) -> None:
    found = released(books)
    path = f"/api/v1/releases/{found['id']}/values?format={form}"
    content = books.call("GET", path, by="ian").data
    if form == "csv":
        rows = list(csv.DictReader(io.StringIO(content.decode())))
        keys, values = [int(row["key"]) for row in rows], [float(row["value"]) for row in rows]
    else:
        table = (
            pa.ipc.open_stream(content).read_all()
            if form == "arrow"
            else pq.read_table(io.BytesIO(content))
        )
        assert table.schema.field("key").type == pa.uint64()
        keys, values = table["key"].to_pylist(), table["value"].to_pylist()
        rest = json.loads(table.schema.metadata[b"penstock"])
        assert rest["histogram"] == found["histogram"]
    assert keys == found["keys"]
    assert values == found["values"]


def test_the_client_has_the_same_keys_in_every_frame(books: World) -> None:
    transport = httpx.WSGITransport(books.client.application)
    client = Client("http://127.0.0.1", books.tokens["ian"], transport=transport)
    release = client.release("books")
    assert release.keys == (7, LARGEST)
    assert release.histogram is not None
    assert release.histogram.appears[1] < 1e-6
    assert release.histogram.false_keys == 0.01
    assert release.to_pandas().index.tolist() == [7, LARGEST]
    assert release.to_polars()["key"].to_list() == [7, LARGEST]
    path = f"/api/v1/releases/{release.id}/values?format=arrow"
    theirs = pa.ipc.open_stream(books.call("GET", path, by="ian").data).read_all()
    assert release.to_arrow().equals(theirs)
    (query,) = [query for query in client.queries() if query.name == "books"]
    assert [tier.histogram is not None for tier in query.tiers] == [True, True]
    assert client.preview("books").tiers[0].histogram == query.tiers[0].histogram


def test_a_report_without_any_key_is_an_empty_table(loans: World) -> None:
    spec = {**BOOKS, "domain": {"type": "uint64", "size": 6}, "false_keys": 1e-9}
    loans.answer("POST", "/api/v1/queries", spec, by="root")
    found = released(loans)
    assert found["keys"] == found["values"] == []
    for form in ("csv", "arrow", "parquet"):
        path = f"/api/v1/releases/{found['id']}/values?format={form}"
        assert loans.call("GET", path, by="ian").status_code == 200


def test_a_preview_tells_each_tier_what_it_would_see_and_pay(loans: World) -> None:
    view = loans.answer("POST", "/api/v1/queries/preview", BOOKS, by="root")
    assert [tier["tier"] for tier in view["tiers"]] == ["public", "internal"]
    public, internal = (tier["histogram"] for tier in view["tiers"])
    assert public["threshold"] > internal["threshold"]
    assert (public["false_keys"], internal["false_keys"]) == (0.001, 0.01)
    assert view["dimension"] == 2
    assert view["sensitivity"]["l1"] == 4
    assert all(tier["charge"]["failure"] > 0 for tier in view["tiers"])
    own = loans.answer("POST", "/api/v1/queries/preview", BOOKS, by="ann")
    assert [tier["tier"] for tier in own["tiers"]] == ["public"]
    assert own["tiers"][0]["histogram"]["false_keys"] == 0.001


def test_an_analyst_is_not_told_what_tiers_above_expect(books: World) -> None:
    shown = books.answer("GET", "/api/v1/queries/books", by="ann")
    assert "false_keys" not in shown["spec"]
    assert "levels" not in shown["spec"]
    assert [tier["tier"] for tier in shown["tiers"]] == ["public"]
    assert "0.01" not in json.dumps(shown["tiers"])


def test_a_level_above_the_ceiling_is_refused_with_both(books: World) -> None:
    change = {"levels": {"internal": {"epsilon": 3}}}
    response = books.call("PATCH", "/api/v1/queries/books", change, by="root")
    assert response.status_code == 422
    assert "would need the data to be read again" in parsed(response)["detail"]
    lower = {"levels": {"internal": {"epsilon": 1}}}
    assert books.call("PATCH", "/api/v1/queries/books", lower, by="root").status_code == 200


PURE: dict[str, Any] = {
    **{name: part for name, part in BOOKS.items() if name != "false_keys"},
    "mechanism": "laplace",
    "levels": {"public": {"epsilon": 0.25}, "internal": {"epsilon": 1}},
}


def lend_purely(world: World, folder: Path) -> None:
    """Register the dataset with a delta of 0."""
    file = folder / "loans.csv"
    file.write_text(ROWS, encoding="utf-8")
    source = {"engine": "duckdb", "uri": str(file)}
    world.answer("POST", "/api/v1/datasets", {**LOANS, "source": source, "delta": 0}, by="root")


@pytest.fixture
def pure_loans(grow: Callable[..., World]) -> World:
    return grow("pure loans", lend_purely)


def test_laplace_noise_is_charged_its_pure_epsilon_at_delta_0(pure_loans: World) -> None:
    """All that one false key costs is none: that number is solved for."""
    foreseen = pure_loans.answer("POST", "/api/v1/queries/preview", PURE, by="root")
    assert foreseen["refusal"] is None
    charges = [tier["charge"] for tier in foreseen["tiers"]]
    assert [charge["failure"] for charge in charges] == [0, 0]
    assert [charge["loss"] for charge in charges] == pytest.approx([0.25, 1], rel=2e-3)
    assert [tier["histogram"]["false_keys"] for tier in foreseen["tiers"]] == [1, 1]
    pure_loans.answer("POST", "/api/v1/queries", PURE, by="root")
    shown = pure_loans.answer("POST", "/api/v1/queries/preview", {"query": "books"}, by="root")
    assert [tier["charge"] for tier in shown["tiers"]] == charges
    assert [tier["histogram"] for tier in shown["tiers"]] == [
        tier["histogram"] for tier in foreseen["tiers"]
    ]


def test_laplace_reports_of_several_tiers_tell_what_the_best_does(pure_loans: World) -> None:
    pure_loans.answer("POST", "/api/v1/queries", PURE, by="root")
    first, second = released(pure_loans, by="ann"), released(pure_loans)
    for found in (first, second):
        own = dict(zip(found["keys"], found["values"], strict=True))
        margin = 10 * found["error"]["standard_deviation"]
        assert abs(own[7] - 1500) < margin
        assert abs(own[LARGEST] - 1500) < margin
        assert len(found["keys"]) < 12, "one false key is expected"
        assert min(found["values"]) > found["histogram"]["threshold"]
        chances = [each["probability"] for each in found["histogram"]["appears"]]
        assert chances == sorted(chances)
        assert 0 < chances[0] < 1e-15 < 0.9999 <= chances[-1] <= 1
    assert released(pure_loans, by="ann") == first
    assert released(pure_loans) == second
    together = pure_loans.answer(
        "GET", "/api/v1/audit/exposure?users=ann,ian&dataset=loans", by="olga"
    )
    assert together["released"]["delta"] == 0
    assert together["released"]["epsilon"] == pytest.approx(1, rel=2e-3)


def test_gaussian_noise_at_delta_0_is_refused_with_what_to_choose(pure_loans: World) -> None:
    spec = {**PURE, "mechanism": "gaussian"}
    response = pure_loans.call("POST", "/api/v1/queries", spec, by="root")
    assert response.status_code == 422
    assert "Choose laplace" in parsed(response)["detail"]


WRONG: list[tuple[dict[str, Any], str, str]] = [
    ({"domain": {"type": "uint32"}}, "/domain", "uint64, string or sha256_64"),
    ({"domain": {"type": "uint64", "size": 3}}, "/domain/size", "at least 4"),
    ({"domain": {"type": "uint64", "size": 2.5}}, "/domain/size", "must be an integer"),
    (
        {"domain": {"type": "string", "alphabet": "ab"}},
        "/domain/length",
        "Enter how many characters each text has",
    ),
    ({"false_keys": 0}, "/false_keys", "above 0"),
    ({"false_keys": 1e7}, "/false_keys", "at most 1e+06"),
    ({"false_keys": {"public": -1}}, "/false_keys/public", "above 0"),
    ({"false_keys": {"public": 1, "PUBLIC": 2}}, "/false_keys", "listed twice"),
    ({"false_keys": {}}, "/false_keys", "Enter how many keys"),
    ({"false_keys": "few"}, "/false_keys", "must be a number"),
    ({"false_keys": None}, "/false_keys", "Enter how many keys"),
    ({"max_levels": 65}, "/max_levels", "at most 64"),
    ({"mechanism": "poisson"}, "/mechanism", "has gaussian or laplace noise"),
    ({"mechanism": "laplace", "granularity": 1}, "/granularity", "leave the granularity out"),
    ({"domain": {"type": "sha256_64"}}, "/group_by/0/column", "type string; book"),
]


@pytest.mark.parametrize(("changes", "pointer", "words"), WRONG, ids=[str(one[0]) for one in WRONG])
@pytest.mark.parametrize("path", ["/api/v1/queries", "/api/v1/queries/preview"])
def test_what_cannot_be_meant_is_422_with_its_place(
    loans: World, path: str, changes: dict[str, Any], pointer: str, words: str
) -> None:
    response = loans.call("POST", path, {**BOOKS, **changes}, by="root")
    assert response.status_code == 422, response.text
    (problem,) = parsed(response)["errors"]
    assert problem["pointer"] == pointer
    assert words in problem["detail"]
