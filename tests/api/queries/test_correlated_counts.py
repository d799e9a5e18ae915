"""Test counts that are protected together, over HTTP.

Asked for, refused, released, in every form.
"""

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from tests.api.queries.people import ASKED, HABITS, PEOPLE, ROWS
from tests.api.world import World, parsed

from penstock_client import Client, InvalidArgument
from penstock_client.derived import total


@pytest.fixture
def people(grow: Callable[..., World]) -> World:
    def fill(world: World, folder: Path) -> None:
        path = folder / "people.csv"
        path.write_text(ROWS)
        body = {**PEOPLE, "source": {"engine": "duckdb", "uri": str(path)}}
        world.answer("POST", "/api/v1/datasets", body, by="root")

    return grow("people", fill)


def released(people: World) -> dict[str, Any]:
    people.answer("POST", "/api/v1/queries", ASKED, by="root")
    found: dict[str, Any] = people.answer("POST", "/api/v1/queries/habits/releases", {}, by="ann")
    return found


def test_a_release_has_error_bars_for_each_value(people: World) -> None:
    release = released(people)
    assert release["keys"] == [*HABITS, "all"]
    assert release["mean"] is None
    widths = release["errors"]["half_widths"]
    assert widths[0] == widths[1] == release["error"]["half_width"] < widths[2]
    assert len(release["errors"]["standard_deviations"]) == 3
    again = people.answer("POST", "/api/v1/queries/habits/releases", {}, by="ann")
    kept = people.answer("GET", f"/api/v1/releases/{release['id']}/values", by="ann")
    assert again == kept == release


@pytest.mark.parametrize("form", ["csv", "arrow", "parquet"])
def test_every_form_has_the_interval_of_each_value(people: World, form: str) -> None:
    release = released(people)
    path = f"/api/v1/releases/{release['id']}/values?format={form}"
    content = people.call("GET", path, by="ann").data
    if form == "csv":
        rows: list[dict[str, Any]] = [
            {name: cell if name == "key" else float(cell) for name, cell in row.items()}
            for row in csv.DictReader(io.StringIO(content.decode()))
        ]
    elif form == "arrow":
        rows = pa.ipc.open_stream(content).read_all().to_pylist()
    else:
        rows = pq.read_table(io.BytesIO(content)).to_pylist()
    assert rows == [
        {"key": key, "value": value, "lower": value - half, "upper": value + half}
        for key, value, half in zip(
            release["keys"], release["values"], release["errors"]["half_widths"], strict=True
        )
    ]


def test_a_preview_tells_which_way_has_the_least_error(people: World) -> None:
    found = people.answer("POST", "/api/v1/queries/preview", ASKED, by="root")
    ways = {
        (one["structure"], one["trade_off"] is not None, one["known_size"]): one["tiers"][0][
            "error"
        ]["standard_deviation"]
        for one in found["structures"]
    }
    together = ways["correlated", False, True], ways["correlated", False, False]
    assert [*together, ways["correlated", True, False], ways[None, False, False]] == sorted(
        ways.values()
    )
    assert [one["asked"] for one in found["structures"]].count(True) == 1
    assert found["tiers"][0]["error"]["standard_deviation"] == pytest.approx(
        found["structures"][1]["tiers"][0]["error"]["standard_deviation"], rel=1e-9
    )


@pytest.mark.parametrize(
    ("changes", "pointer"),
    [
        ({"mechanism": "laplace"}, "/mechanism"),
        ({"trade_off": 0}, "/trade_off"),
        ({"known_size": -1}, "/known_size"),
        ({"release_size": "no"}, "/release_size"),
        ({"release_size": False, "trade_off": 2}, ""),
        ({"known_size": 3, "group_by": [{"column": "town"}]}, "/known_size"),
        ({"aggregate": {"type": "count", "columns": ["town"]}}, "/aggregate/columns/0"),
        ({"aggregate": {"type": "count", "columns": []}}, "/aggregate/columns"),
        ({"aggregate": {"type": "count"}}, "/structure"),
        ({"structure": "other"}, "/structure"),
        ({"structure": None}, ""),
    ],
)
def test_what_cannot_be_protected_together_is_refused_by_its_place(
    people: World, changes: dict[str, Any], pointer: str
) -> None:
    limits = {"max_groups": 1, "max_rows_per_group": 1}
    response = people.call(
        "POST", "/api/v1/queries", {**ASKED, "contribution": limits, **changes}, by="root"
    )
    problem = parsed(response)
    assert response.status_code == 422
    assert problem["code"] == "INVALID_INPUT"
    assert any(each["pointer"].startswith(pointer) for each in problem["errors"])


CENTERED: dict[str, Any] = {**ASKED, "known_size": 300}
SIZES: dict[str, Any] = {
    "name": "sizes",
    "dataset": "people",
    "aggregate": {"type": "count_units"},
    "mechanism": "gaussian",
    "levels": {"public": {"rho": 0.002}, "internal": {"rho": 0.05}},
}


def sized(people: World, **changes: object) -> tuple[dict[str, Any], ...]:
    """Register counts and their size, and release both to one reader."""
    people.answer("POST", "/api/v1/queries", CENTERED, by="root")
    people.answer("POST", "/api/v1/queries", {**SIZES, **changes}, by="root")
    return tuple(
        people.answer("POST", f"/api/v1/queries/{name}/releases", {}, by="ann")
        for name in ("habits", "sizes")
    )


@pytest.mark.parametrize("mechanism", ["gaussian", "laplace"])
def test_counts_are_read_with_a_released_size_and_its_error(people: World, mechanism: str) -> None:
    levels = {"public": {"epsilon": 0.1}, "internal": {"epsilon": 0.5}}
    counts, size = sized(people, mechanism=mechanism, levels=levels)
    path = f"/api/v1/releases/{counts['id']}/values"
    read = people.answer("GET", f"{path}?size_release={size['id']}", by="ann")
    moved = (size["values"][0] - 300) / 2
    assert read["values"] == pytest.approx([value + moved for value in counts["values"]])
    both = [shown["error"]["standard_deviation"] for shown in (counts, size)]
    variance = both[0] ** 2 + both[1] ** 2 / 4
    assert read["error"]["standard_deviation"] ** 2 == pytest.approx(variance)
    widths = [shown["error"]["half_width"] for shown in (counts, size)]
    combined = (widths[0] ** 2 + widths[1] ** 2 / 4) ** 0.5
    if mechanism == "gaussian":
        assert read["error"]["half_width"] == pytest.approx(combined)
    else:
        assert combined < read["error"]["half_width"] < 1.8 * combined
    grouped = read["covariance"]["grouped_counts"]
    assert grouped["values_per_group"] == len(HABITS)
    assert grouped["variance"] == pytest.approx(variance)
    assert grouped["covariance"] == pytest.approx(both[1] ** 2 / 4)
    assert people.answer("GET", path, by="ann") == counts
    transport = httpx.WSGITransport(people.client.application)
    client = Client("http://127.0.0.1", people.tokens["ann"], transport=transport)
    theirs = client.values(counts["id"], size=client.values(size["id"]))
    assert list(theirs.values) == read["values"]
    # Another confidence is known where all noise is Gaussian, and else that of the server.
    assert read["size"] == {"release": size["id"], "query": "sizes", "mechanism": mechanism}
    if mechanism == "gaussian":
        assert theirs.noise == "gaussian"
        assert theirs.interval(0.99).half_width == pytest.approx(variance**0.5 * 2.5758293)
    else:
        assert theirs.noise == "gaussian and laplace"
        with pytest.raises(InvalidArgument, match="law of gaussian and laplace noise"):
            theirs.interval(0.99)
    found = total(theirs)
    assert found.upper - found.value > found.standard_deviation * (
        1.9599 if mechanism == "gaussian" else 2.24
    )
    assert people.call("GET", f"{path}?size_release=", by="ann").status_code == 422


def test_only_releases_that_the_reader_holds_are_read_with_each_other(people: World) -> None:
    counts, _ = sized(people)
    theirs = people.answer("POST", "/api/v1/queries/sizes/releases", {}, by="ian")
    path = f"/api/v1/releases/{counts['id']}/values?size_release={theirs['id']}"
    assert people.call("GET", path, by="ann").status_code == 404


@pytest.mark.parametrize(
    "changes",
    [
        {"aggregate": {"type": "count"}, "contribution": {"max_rows_per_group": 1}},
        {"where": [{"column": "town", "op": "=", "value": "north"}]},
        {"group_by": [{"column": "town"}], "contribution": {"max_groups": 1}},
    ],
    ids=["rows", "where", "groups"],
)
def test_a_release_of_another_number_is_no_size(people: World, changes: dict[str, Any]) -> None:
    counts, size = sized(people, **changes)
    path = f"/api/v1/releases/{counts['id']}/values?size_release={size['id']}"
    response = people.call("GET", path, by="ann")
    assert response.status_code == 422
    assert "is not the number of the rows or units" in parsed(response)["detail"]
    other = f"/api/v1/releases/{size['id']}/values?size_release={counts['id']}"
    assert "has no known_size" in parsed(people.call("GET", other, by="ann"))["detail"]
