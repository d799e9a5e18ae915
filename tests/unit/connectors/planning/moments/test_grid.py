"""Test how columns are placed on a grid, and that what is planned plans the same again."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.moments.grid import largest_grid, on_grid, planned
from penstock.connectors.planning.plan import LARGEST_STEPS, Plan, labels_of, pairs
from penstock.connectors.planning.prepare import prepare
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.specs.moments import MOST_NUMBERS, Moments, Order, Regression
from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.laplace.process import Laplace

COLUMNS: dict[str, Any] = {
    "person": {"type": "string"},
    "cost": {"type": "number", "lower": -1, "upper": 2},
    "age": {"type": "integer", "lower": 0, "upper": 100},
    "dose": {"type": "number"},
    "a,b": {"type": "number", "lower": 0, "upper": 1},
    "place": {"type": "integer", "categories": list(range(20_000))},
}
BOTH = {"type": "moments", "columns": ["age", "cost"]}


def dataset(**more: Any) -> DatasetSpec:
    return dataset_of(columns=COLUMNS, **more)


def asked(aggregate: dict[str, Any], **more: Any) -> ComputedQuery:
    return query_of(aggregate, **{"contribution": {"max_rows_per_group": 2}, **more})


def plan_of(aggregate: dict[str, Any], **more: Any) -> Plan:
    return interpret(dataset(), asked(aggregate, **more))


@given(
    ends=st.tuples(st.floats(-1e9, 1e9), st.floats(-1e9, 1e9)).filter(
        lambda ends: abs(ends[0] - ends[1]) > 1e-6
    ),
    bits=st.integers(4, 15),
)
def test_a_grid_has_both_bounds_in_it_and_little_else(ends: tuple[float, float], bits: int) -> None:
    lower, upper = sorted(map(Fraction, ends))
    grid = 2**bits
    step, lowest = on_grid((float(lower), float(upper)), grid)
    assert lowest * step <= lower
    assert (lowest + grid) * step >= upper
    assert grid * step <= (upper - lower) * Fraction(grid, grid - 1) * (1 + Fraction(1, 2**18))
    assert Fraction(float(step)) == step


def test_what_is_planned_plans_the_same_again() -> None:
    for aggregate in (BOTH, {"type": "regression", "outcome": "age", "predictors": ["cost"]}):
        first = plan_of(aggregate)
        query = asked(aggregate)
        assert isinstance(query.aggregate, Moments | Regression)
        settled = planned(dataset(), query.aggregate, 2)
        assert settled.grid == first.grid
        assert plan_of(settled.model_dump(mode="json")) == first


def test_the_largest_grid_keeps_all_totals_on_half_of_a_lattice() -> None:
    for max_rows, max_units in ((1, 1), (1, 2**32), (5, 10**6), (7, 2**32), (100, 2**48)):
        grid = largest_grid(max_rows * max_units)
        assert grid == 2**15 or max_rows * max_units * (2 * grid) ** 2 > LARGEST_STEPS // 2
        assert grid == 16 or max_rows * max_units * grid**2 <= LARGEST_STEPS // 2


@pytest.mark.parametrize(("max_rows", "max_units"), [(5, 10**6), (600, 10**4), (1, 2**32)])
@pytest.mark.parametrize("order", [1, 2])
def test_noise_fits_beside_the_totals_on_the_largest_grid(
    max_rows: int, max_units: int, order: Order
) -> None:
    step = Fraction(1, largest_grid(max_rows * max_units, order) ** order)
    total = Fraction(max_rows * max_units)
    for mechanism in (Gaussian, Laplace):
        mechanism.plan(Fraction(1000), step, total)


def test_totals_that_leave_the_exact_integers_on_the_smallest_grid_are_refused() -> None:
    with pytest.raises(InvalidInput, match="exact integers"):
        interpret(dataset(max_units=2**48), asked(BOTH, contribution={"max_rows_per_group": 2**20}))


def test_each_number_is_named_by_its_factors() -> None:
    assert pairs(2) == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]
    assert labels_of(["x", "y"]) == (*("n", "sum:x", "sum:y", "sum:x,x", "sum:x,y", "sum:y,y"),)
    outcome_last = plan_of({"type": "regression", "outcome": "age", "predictors": ["cost"]})
    assert [factor.column.name for factor in outcome_last.factors] == ["cost", "age"]


def _too_many() -> Plan:
    query = asked(BOTH, group_by=["place"], contribution={"max_groups": 1, "max_rows_per_group": 1})
    return interpret(dataset(), query)


@pytest.mark.parametrize(
    ("refused", "message"),
    [
        (
            lambda: plan_of({"type": "moments", "columns": ["dose"]}),
            "needed for moments",
        ),
        (lambda: plan_of({"type": "moments", "columns": ["a,b"]}), "comma"),
        (lambda: plan_of({**BOTH, "bounds": {"age": [2, 1]}}), "is a constant"),
        (lambda: plan_of({**BOTH, "bounds": {"dose": [0, 1]}}), "none of the query's columns"),
        (lambda: plan_of({**BOTH, "bounds": {"age": [1e18, 1e18 + 256]}}), "too near"),
        (lambda: plan_of({**BOTH, "bounds": {"cost": [0, 5e-324]}}), "has no steps"),
        (_too_many, f"at most {MOST_NUMBERS} of them"),
    ],
)
def test_what_cannot_be_placed_is_refused(refused: Callable[[], Plan], message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        refused()


def test_sums_without_products_are_on_a_finer_grid_and_another_statistic() -> None:
    first, second = plan_of({**BOTH, "order": 1}), plan_of(BOTH)
    assert (first.grid, second.grid) == (2**18, 2**9)
    assert (first.dimension, second.dimension) == (3, 6)
    assert first.step == Fraction(1, first.grid)
    assert list(first.domain) == ["n", "sum:age", "sum:cost"]
    assert largest_grid(2**58, 1) == 16
    settled = planned(dataset(), Moments(type="moments", columns=("age", "cost"), order=1), 2)
    assert plan_of(settled.model_dump(mode="json")) == first
    assert "order" not in Moments(type="moments", columns=("age",)).model_dump()
    hashes = {
        prepare(dataset(), asked({**BOTH, **more}), version=1, mechanism="gaussian").canonical_hash
        for more in ({"order": 1, "grid": 1024}, {"grid": 1024}, {"order": 2, "grid": 1024})
    }
    assert len(hashes) == 2
    with pytest.raises(ValidationError, match="at most 32768 steps"):
        asked({**BOTH, "grid": 2**16})
