"""Test a dataset behind Spark Connect over HTTP: the bits of DuckDB, and a server that is lost.

It stands beside the tests that share one server of Spark Connect, which takes seconds to start.
"""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pydantic import SecretStr
from tests.api.world import World, furnish, open_world, parsed
from tests.databases import spark_connect
from tests.databases.homes import Home, Homes
from tests.databases.spark_connect import Server
from werkzeug.test import TestResponse

from penstock.connectors.spark import conformance
from penstock.connectors.spark.session import reading
from penstock.errors import Unavailable

TOWNS = ["north", "south", "west"]
ROWS = pa.table(
    {
        "person": [f"person {number % 70}" for number in range(400)],
        "town": [TOWNS[number * number % 3] for number in range(400)],
        "cost": [number % 37 + 0.25 for number in range(400)],
    }
)
FILE = {"engine": "duckdb", "uri": "visits.parquet"}
VIEW = {"engine": "spark", "connection": "lake", "table": "global_temp.people"}
VISITS: dict[str, Any] = {
    "name": "clinic",
    "privacy_unit": {"column": "person"},
    "neighboring": "add_remove",
    "delta": 1e-6,
    "max_units": 1000,
    "columns": {
        "person": {"type": "string"},
        "town": {"type": "string", "categories": TOWNS},
        "cost": {"type": "number", "lower": 0, "upper": 40, "step": 0.25},
    },
    "budgets": {"public": {"epsilon": 2.0}, "internal": {"epsilon": 8.0}},
}
COSTS: dict[str, Any] = {
    "name": "costs",
    "dataset": "clinic",
    "mechanism": "gaussian",
    "group_by": ["town"],
    "aggregate": {"type": "sum", "column": "cost"},
    "contribution": {"max_groups": 3, "max_rows_per_group": 10},
    "levels": {"public": {"epsilon": 0.5}, "internal": {"epsilon": 1.0}},
}
Opening = Callable[[str], World]


@pytest.fixture
def opening(homes: Homes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opening]:
    """Provide a function that opens a copy of one home, with a connection to an address."""
    monkeypatch.setattr(conformance, "PASSED", set())
    monkeypatch.setattr(conformance, "differences", lambda _: [])  # test_conformance asks
    furnished = homes.empty(tmp_path / "furnished")
    tokens = furnish(furnished)
    pq.write_table(ROWS, tmp_path / "visits.parquet")
    opened: list[World] = []

    def open_at(address: str) -> World:
        copy: Home = homes.copy(furnished, tmp_path / f"home-{len(opened)}")
        given: dict[str, Any] = {
            "connections": {"lake": SecretStr(address)},
            "data_folder": tmp_path,
        }
        opened.append(open_world(copy, dict(tokens), **given))
        return opened[-1]

    yield open_at
    for world in opened:
        world.server.database.close()


def register(world: World, source: dict[str, str]) -> None:
    """Register the dataset of a source, and a query of it."""
    world.answer("POST", "/api/v1/datasets", {**VISITS, "source": source}, by="root")
    world.answer("POST", "/api/v1/queries", COSTS, by="root")


def released(world: World, query: str = "costs") -> list[Any]:
    """Return what the two tiers are given of a query."""
    path = f"/api/v1/queries/{query}/releases"
    return [world.answer("POST", path, {}, by=name)["values"] for name in ("ian", "ann")]


def spent(world: World) -> Any:
    return world.answer("GET", "/api/v1/datasets/clinic/budget", by="root")


def test_a_view_behind_spark_connect_is_released_with_the_bits_of_a_file(
    server: Server, opening: Opening
) -> None:
    server.fill("people", ROWS)
    lake, folder = opening(server.address), opening("sc://localhost:1")
    register(lake, VIEW)
    register(folder, FILE)
    values = released(lake)
    assert values == released(folder)
    assert len(values[0]) == len(TOWNS)
    assert spark_connect.TOKEN not in str(lake.answer("GET", "/api/v1/datasets/clinic", by="root"))


def kill_while_reading(server: Server, ask: Callable[[], TestResponse]) -> TestResponse:
    """Kill the server once it has begun to read rows for a request; return the answer."""
    before = server.log.read_text().count("Starting task")
    answers: list[TestResponse] = []
    asking = threading.Thread(target=lambda: answers.append(ask()))
    asking.start()
    while server.log.read_text().count("Starting task") == before:
        assert asking.is_alive(), answers
        asking.join(0.1)
    server.kill()
    asking.join()
    return answers[0]


@pytest.mark.nightly
def test_a_lost_server_loses_nothing_that_was_charged(
    opening: Opening, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    counts = {**COSTS, "name": "counts", "aggregate": {"type": "count"}}
    endless = "SELECT person, town, cost FROM global_temp.rows CROSS JOIN range(1000000000000)"
    (tmp_path / "first").mkdir()
    (tmp_path / "second").mkdir()
    with spark_connect.started(tmp_path / "first") as first:
        first.fill("people", ROWS)
        world = opening(first.address)
        register(world, VIEW)
        before = spent(world)
        first.fill("rows", ROWS)
        first.define("people", endless)
        with reading(first.address) as old:
            old.define("mine", "SELECT 1 AS x", once=False)
            lost = kill_while_reading(
                first, lambda: world.call("POST", "/api/v1/queries", counts, by="root")
            )
            assert (lost.status_code, parsed(lost)["code"]) == (503, "UNAVAILABLE")
            assert "did not read the view to its end" in parsed(lost)["detail"]
            away = world.call("POST", "/api/v1/queries", counts, by="root")
            assert (away.status_code, "cannot be reached" in away.text) == (503, True)
            charged = spent(world)
            assert charged != before  # it is charged before its data are read, and waits for them
            assert len(released(world)) == 2
            with spark_connect.started(tmp_path / "second", port=first.port) as second:
                for asked in (old.types, old.schema, old.table):
                    with pytest.raises(Unavailable):
                        asked("mine" if asked == old.types else "SELECT 1 AS x")
                second.fill("people", ROWS)
                world.answer("POST", "/api/v1/queries", counts, by="root")
                assert spent(world) == charged
                assert len(released(world, "counts")) == 2
    for shown in (lost.text, away.text, *capfd.readouterr()):
        assert "person 6" not in shown
        assert spark_connect.TOKEN not in shown
