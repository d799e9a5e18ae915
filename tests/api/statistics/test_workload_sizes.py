"""Test workloads over few rows and many cells: none, one person, and a million cells."""

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.api.world import World

COLUMNS: dict[str, Any] = {
    "person": {"type": "string"},
    "x": {"type": "number"},
    "y": {"type": "number"},
}
BINS = list(range(1001))
WIDE: dict[str, Any] = {
    "type": "workload",
    "columns": [{"column": "x", "bins": BINS}, {"column": "y", "bins": BINS}],
    "queries": ["prefix", "total"],
    "strategy": "marginals",
}
NARROW: dict[str, Any] = {
    "type": "workload",
    "columns": [{"column": "x", "bins": [0, 1, 2, 4]}, {"column": "y", "bins": [0, 2, 9]}],
    "queries": ["all_ranges", [[1, 1], [1, -1]]],
    "strategy": ["tree", [[1, 2], [0, 1]]],
}
FILES = {"nobody": "", "somebody": "ann,1.5,3\n" * 9 + "ann,0.5,3\n"}


@pytest.fixture
def few(grow: Callable[..., World]) -> World:
    def fill(world: World, folder: Path) -> None:
        for name, rows in FILES.items():
            path = folder / f"{name}.csv"
            path.write_text("person,x,y\n" + rows)
            body = {
                "name": name,
                "source": {"engine": "duckdb", "uri": str(path)},
                "privacy_unit": {"column": "person"},
                "neighboring": "add_remove",
                "delta": 1e-6,
                "max_units": 1000,
                "columns": COLUMNS,
                "budgets": {"public": {"epsilon": 40}},
            }
            world.answer("POST", "/api/v1/datasets", body, by="root")

    return grow("few rows", fill)


def released(world: World, dataset: str, aggregate: dict[str, Any]) -> dict[str, Any]:
    body = {
        "name": f"answers_of_{dataset}",
        "dataset": dataset,
        "aggregate": aggregate,
        "contribution": {"max_groups": 1, "max_rows_per_group": 2},
        "mechanism": "gaussian",
        "levels": {"public": {"rho": 10}},
    }
    world.answer("POST", "/api/v1/queries", body, by="root")
    path = f"/api/v1/queries/answers_of_{dataset}/releases"
    release: dict[str, Any] = world.answer("POST", path, {}, by="ann")
    return release


def test_no_rows_have_answers_around_nothing(few: World) -> None:
    release = released(few, "nobody", NARROW)
    deviation = release["error"]["standard_deviation"]
    assert len(release["values"]) == 6
    assert all(abs(value) < 6 * deviation for value in release["values"])
    for each in release["estimates"]:
        assert abs(each["value"]) < 6 * each["standard_deviation"]


def test_one_person_counts_in_one_cell_with_two_rows_at_most(few: World) -> None:
    release = released(few, "somebody", NARROW)
    deviation = release["error"]["standard_deviation"]
    # The cell that is chosen has one row, or those two of nine that count.
    chosen = ([4, 2, 0, 0, 0, 0], [0, 0, 4, 2, 0, 0])
    near = [
        max(abs(np.array(release["values"]) - np.array(values) * share)) < 6 * deviation
        for values in chosen
        for share in (0.5, 1)
    ]
    assert any(near)
    assert deviation < 1.1


def test_a_million_cells_are_answered_within_bounded_memory(few: World) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    release = released(few, "somebody", WIDE)
    assert len(release["values"]) == 1001 * 1001
    assert release["keys"][1000] == ["[0, 1)", "all"]
    assert len(release["estimates"]) == 1000
    last = release["estimates"][-1]
    assert last["key"] == ["all", "all"]
    assert abs(last["value"] - 2) < 6 * last["standard_deviation"]
    # In kilobytes; a dense matrix over a million cells has eight billions of these.
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 1_500_000
