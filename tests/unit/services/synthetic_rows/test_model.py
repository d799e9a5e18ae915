"""Test rows that are drawn from marginals: in the process that draws them for a server."""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from penstock.computing.bounds import Bounds
from penstock.computing.process import Child
from penstock.services.synthetic_rows import model

SIZES = {"town": 2, "age": 3, "work": 4}
ROWS = 600
OF_TOWN_AND_AGE = [[250.0, 40.0, 10.0], [5.0, 95.0, 200.0]]
OF_AGE_AND_WORK = [[97.5, 94.0, 60.0, 5.0], [40.0, 42.5, 38.0, 15.0], [70.0, 80.0, 40.0, 20.0]]
DOCUMENT: dict[str, Any] = {
    "sizes": SIZES,
    "marginals": [
        {"columns": columns, "values": np.ravel(table).tolist(), "deviation": 2.0}
        for columns, table in (
            (["town", "age"], OF_TOWN_AND_AGE),
            (["age", "work"], OF_AGE_AND_WORK),
        )
    ],
    "total": float(ROWS),
    "rows": ROWS,
    "seed": 1,
}


@pytest.fixture(scope="module")
def child() -> Iterator[Child]:
    """Yield a process that draws rows."""
    child = Child(model.__name__, Bounds(120.0, 8 << 30))
    yield child
    child.kill()


def drawn(child: Child, **other: Any) -> dict[str, Any]:
    """Return what the process answers, whatever that is."""
    answer: dict[str, Any] = child.ask("ann", "rows", {**DOCUMENT, **other})
    return answer


def test_rows_have_the_marginals_and_are_the_same_again(child: Child) -> None:
    answer = drawn(child)["answer"]
    codes = answer["codes"]
    assert {name: len(column) for name, column in codes.items()} == dict.fromkeys(SIZES, ROWS)
    cells = Counter(zip(codes["town"], codes["age"], strict=True))
    for (town, age), expected in np.ndenumerate(np.array(OF_TOWN_AND_AGE)):
        assert abs(cells[town, age] - expected) < 10
    fits = [(fit["columns"], fit["fitted"]) for fit in answer["fits"]]
    assert fits == [(["town", "age"], True), (["age", "work"], True)]
    assert [0 < fit["distance"] < 0.01 for fit in answer["fits"]] == [False, True]
    other = Child(model.__name__, Bounds(120.0, 8 << 30))
    try:
        assert drawn(other)["answer"] == answer
    finally:
        other.kill()
    assert drawn(child, seed=2)["answer"]["codes"] != codes


def test_nothing_is_drawn_from_no_rows(child: Child) -> None:
    assert drawn(child, total=-3.0)["problem"]["code"] == "INVALID_INPUT"


def test_tables_whose_tree_is_too_large_are_left_out_the_least_dependent_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(model, "MOST_CELLS", 18)
    tables = [np.array(OF_TOWN_AND_AGE), np.array(OF_AGE_AND_WORK), np.full((2, 4), 75.0)]
    columns = [["town", "age"], ["age", "work"], ["town", "work"]]
    assert model.chosen(SIZES, columns, tables) == {0, 1}
    monkeypatch.setattr(model, "MOST_CELLS", 24)
    assert model.chosen(SIZES, columns, tables) == {0, 1, 2}


def test_distance_is_that_of_the_shares() -> None:
    counted = np.array([1, 3])
    assert model.distance(np.array([10.0, 30.0]), counted) == 0
    assert model.distance(np.array([30.0, 10.0]), counted) == pytest.approx(0.5)
    assert model.distance(np.array([44.0, -4.0]), counted) == pytest.approx(0.85)
