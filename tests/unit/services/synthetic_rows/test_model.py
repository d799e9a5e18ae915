"""Test rows that are drawn from marginals: in the process that draws them for a server."""

import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from typing import Any

import numpy as np
import pytest

from penstock.computing.bounds import Bounds
from penstock.computing.process import Child
from penstock.errors import InvalidInput
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
    for fit, table in zip(answer["fits"], (OF_TOWN_AND_AGE, OF_AGE_AND_WORK), strict=True):
        counts = Counter(zip(*(codes[name] for name in fit["columns"]), strict=True))
        shares = np.array(table) / np.sum(table)
        off = [abs(counts[key] / ROWS - share) for key, share in np.ndenumerate(shares)]
        assert fit["distance"] == pytest.approx(sum(off) / 2)
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


def test_the_choice_of_tables_is_the_same_in_every_process() -> None:
    pairs = [("a", "b"), ("b", "c"), ("c", "d"), ("a", "d"), ("a", "c"), ("b", "d")]
    script = (
        "import json, sys, numpy as np\n"
        "from penstock.services.synthetic_rows import model\n"
        "model.MOST_CELLS = 13\n"
        f"pairs = {pairs}\n"
        "tables = [np.eye(2) * 10 + 1] * len(pairs)\n"
        "print(json.dumps(sorted(model.chosen(dict.fromkeys('abcd', 2), pairs, tables))))\n"
    )
    environments = [{**os.environ, "PYTHONHASHSEED": seed} for seed in ("1", "2")]
    first, second = (
        json.loads(subprocess.check_output([sys.executable, "-W", "ignore", "-c", script], env=env))
        for env in environments
    )
    assert first == second
    assert 0 < len(first) < len(pairs)


def half_squared_errors(*tables: Any) -> float:
    exact = (np.array(OF_TOWN_AND_AGE), np.array(OF_AGE_AND_WORK))
    off = [table - value for table, value in zip(tables, exact, strict=True)]
    return sum(float((each**2).sum()) for each in off) / (2 * 2.0**2)


def apart(function: Callable[[], Any]) -> Any:
    """Return what a function returns in its own process: jax lets none fork that has used it."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function).result()


def bound_of_a_flat_model() -> float:
    mbi, losses = model._library()
    domain = mbi.Domain([0, 1, 2], list(SIZES.values()))
    values = [np.ravel(OF_TOWN_AND_AGE), np.ravel(OF_AGE_AND_WORK)]
    measured = [
        mbi.LinearMeasurement(table, columns, 2.0)
        for table, columns in zip(values, [(0, 1), (1, 2)], strict=True)
    ]
    loss = losses.from_linear_measurements(measured, domain)
    flat = mbi.CliqueVector.zeros(domain, loss.cliques)
    marginals = mbi.marginal_oracles.default_oracle()(flat, float(ROWS))
    return model.excess(marginals, loss, float(ROWS))


def test_the_bound_on_what_a_model_lacks_is_that_of_the_steepest_cell() -> None:
    values = [np.ravel(OF_TOWN_AND_AGE), np.ravel(OF_AGE_AND_WORK)]
    fitted = np.full((2, 3), ROWS / 6), np.full((3, 4), ROWS / 12)
    slopes = [
        (table - value.reshape(table.shape)) / 2.0**2
        for table, value in zip(fitted, values, strict=True)
    ]
    cells = product(range(2), range(3), range(4))
    least = min(slopes[0][town, age] + slopes[1][age, work] for town, age, work in cells)
    along = sum(float((slope * table).sum()) for slope, table in zip(slopes, fitted, strict=True))
    bound = apart(bound_of_a_flat_model)
    assert bound == pytest.approx(along - ROWS * least, rel=1e-4)
    ages = np.sum(OF_TOWN_AND_AGE, axis=0)[:, None]
    work = np.array(OF_AGE_AND_WORK)
    near = np.array(OF_TOWN_AND_AGE), ages * work / work.sum(axis=1, keepdims=True)
    assert 0 < half_squared_errors(*fitted) - half_squared_errors(*near) <= bound


def refusal_after_one_iteration() -> str:
    vars(model).update(ITERATIONS=1, MOST_BLOCKS=1)
    exact = [{**marginal, "deviation": 1e-3} for marginal in DOCUMENT["marginals"]]
    with pytest.raises(InvalidInput) as refused:
        model.rows({**DOCUMENT, "marginals": exact})
    return str(refused.value)


def test_nothing_is_drawn_from_a_model_that_is_far_from_the_tables() -> None:
    assert "did not converge in 1 iterations; nothing was drawn" in apart(
        refusal_after_one_iteration
    )


def test_distance_is_that_of_the_shares() -> None:
    counted = np.array([1, 3])
    assert model.distance(np.array([10.0, 30.0]), counted) == 0
    assert model.distance(np.array([30.0, 10.0]), counted) == pytest.approx(0.5)
    assert model.distance(np.array([44.0, -4.0]), counted) == pytest.approx(0.85)
