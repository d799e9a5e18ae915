"""Test that strategies are compared at one loss, with the errors that each would have."""

from fractions import Fraction
from types import SimpleNamespace
from typing import Any, cast

import pytest
from tests.unit.connectors.cases import dataset_of, prepared, query_of

from penstock.mechanisms import Gaussian
from penstock.persistence.tables.datasets import Dataset
from penstock.services.noise.process import Process
from penstock.services.previews import strategies as module
from penstock.services.previews.strategies import strategies

EDGES = list(range(0, 82, 5))
LEVELS = SimpleNamespace(value=lambda rung: Fraction(100 * (rung + 1)))


@pytest.fixture(autouse=True)
def _dataset(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "spec_of", lambda _: dataset_of())


def compared(**changes: Any) -> Any:
    aggregate = {
        "type": "workload",
        "columns": [{"column": "age", "bins": EDGES}],
        "queries": "all_ranges",
        **changes,
    }
    limits = {"max_groups": 1, "max_rows_per_group": 2}
    query = prepared(dataset_of(), query_of(aggregate, contribution=limits))
    process = Process(Gaussian(Fraction(1, 16)), cast("Any", LEVELS), query.sensitivity)
    statement = query.statement
    return query, strategies(cast("Dataset", None), statement, process, [("public", 3)])


def test_each_strategy_has_the_error_of_its_own_sensitivity() -> None:
    query, views = compared(strategy="tree")
    assert [(view.strategy, view.requested) for view in views] == [
        ("tree", True),
        ("identity", False),
        ("marginals", False),
    ]
    deviations = [view.tiers[0].largest.standard_deviation for view in views]
    own = (400 * query.workload.largest_variance) ** 0.5
    assert deviations[0] == pytest.approx(own)
    # Two levels of a tree take twice the variance of one level.
    identity, _ = compared(strategy="identity")
    assert query.sensitivity.l2_squared == 2 * identity.sensitivity.l2_squared
    assert deviations[1] == pytest.approx((400 / 2 * 16) ** 0.5)
    assert deviations[0] < deviations[1]
    mean = sum(k * (17 - k) for k in range(1, 17)) / (16 * 17 / 2)
    assert views[1].tiers[0].mean_deviation == pytest.approx((400 / 2 * mean) ** 0.5)


def test_a_strategy_that_is_named_by_no_word_comes_first() -> None:
    _, views = compared(strategy=[[[1] * 4 + [0] * 12, *_identity(16)]])
    assert [(view.strategy, view.requested) for view in views] == [
        (None, True),
        ("identity", False),
        ("tree", False),
        ("marginals", False),
    ]
    assert views[0].dimension == 17


def test_a_tree_over_more_keys_than_it_may_have_is_left_out(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "MOST_TREE_KEYS", 15)
    _, views = compared()
    assert [view.strategy for view in views] == ["identity", "marginals"]
    monkeypatch.setattr(module, "MOST_CELLS", 16)
    _, views = compared()
    assert [view.strategy for view in views] == ["identity"]


def test_what_is_no_workload_has_no_strategies() -> None:
    query = prepared(dataset_of(), query_of())
    process = Process(Gaussian(Fraction(1)), cast("Any", LEVELS), query.sensitivity)
    assert strategies(cast("Dataset", None), query.statement, process, []) is None
    assert strategies(cast("Dataset", None), None, process, []) is None


def _identity(size: int) -> list[list[int]]:
    return [[int(i == j) for j in range(size)] for i in range(size)]
