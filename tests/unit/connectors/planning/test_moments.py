"""Test how columns are placed on a grid, and by enumeration how far their products move.

What is planned plans the same again.
"""

import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError
from tests.unit.connectors.cases import dataset_of, query_of

from penstock.connectors.planning.interpret import interpret
from penstock.connectors.planning.moments import largest_grid, on_grid, planned
from penstock.connectors.planning.plan import LARGEST_STEPS, Plan, labels_of, pairs
from penstock.connectors.planning.prepare import prepare
from penstock.connectors.planning.sensitivity import Norms, Products, Sums, derived
from penstock.connectors.specs.models import ComputedQuery, DatasetSpec
from penstock.connectors.specs.moments import MOST_NUMBERS, Moments, Order, Regression
from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.laplace.process import Laplace
from penstock.privacy.neighboring import NeighboringRelation

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
        grid = largest_grid(max_rows, max_units)
        assert grid == 2**15 or max_rows * max_units * (2 * grid) ** 2 > LARGEST_STEPS // 2
        assert grid == 16 or max_rows * max_units * grid**2 <= LARGEST_STEPS // 2


@pytest.mark.parametrize(("max_rows", "max_units"), [(5, 10**6), (600, 10**4), (1, 2**32)])
@pytest.mark.parametrize("order", [1, 2])
def test_noise_fits_beside_the_totals_on_the_largest_grid(
    max_rows: int, max_units: int, order: Order
) -> None:
    step = Fraction(1, largest_grid(max_rows, max_units, order) ** order)
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


Vector = tuple[int, ...]


def given_by(products: Products, rows: Sequence[Sequence[int]]) -> Vector:
    """Return what a unit with these rows gives, by the words of ``Products``."""
    points = [(products.grid, *row) for row in rows]
    counted = min(len(rows), products.max_rows)
    pairs = itertools.combinations_with_replacement(range(products.factors + 1), 2)
    sums = [sum(point[i] * point[j] for point in points) for i, j in pairs]
    return tuple(
        math.floor(Fraction(total * counted, len(rows)) + Fraction(1, 2)) for total in sums
    )


def units(products: Products, most: int) -> Iterable[Vector]:
    """Yield what every unit with up to ``most`` rows gives."""
    grid = products.grid
    points = list(itertools.product(range(-grid, grid + 1, 2), repeat=products.factors))
    for count in range(1, most + 1):
        for rows in itertools.combinations_with_replacement(points, count):
            yield given_by(products, rows)


def apart(vectors: set[Vector]) -> Norms:
    """Return the largest norms of the differences of any two."""
    differences = {
        tuple(a - b for a, b in zip(one, other, strict=True))
        for one, other in itertools.combinations(vectors, 2)
    }
    return Norms.of(*differences)


CASES = [
    *[(1, 1, 4, 1), (1, 2, 4, 2), (1, 3, 2, 3), (2, 1, 4, 1), (2, 2, 2, 2), (3, 1, 2, 1)],
    *[(1, 1, 4, 3), (1, 2, 2, 5), (2, 1, 2, 3)],
]
"""Columns, rows that count, grid, and the most rows that are tried: more than count at the end."""


@pytest.mark.parametrize(("factors", "max_rows", "grid", "most"), CASES)
def test_no_unit_gives_more_than_is_derived_and_one_gives_all_of_it(
    factors: int, max_rows: int, grid: int, most: int
) -> None:
    products = Products(factors, max_rows, grid, scaled=most > max_rows)
    assert Norms.of(*units(products, most)) == products.given


@pytest.mark.parametrize(("factors", "max_rows", "grid", "most"), CASES)
def test_no_two_units_are_further_apart_than_is_derived(
    factors: int, max_rows: int, grid: int, most: int
) -> None:
    products = Products(factors, max_rows, grid, scaled=most > max_rows)
    reached, bound = apart(set(units(products, most))), products.exchanged
    assert reached.l1 <= bound.l1
    assert reached.l2_squared <= bound.l2_squared
    assert reached.linf == bound.linf
    if not products.scaled:
        assert reached.l2_squared == bound.l2_squared


@pytest.mark.parametrize("factors", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("max_rows", [1, 2, 7])
def test_the_bound_of_two_units_is_reached_where_half_of_the_columns_have_opposite_ends(
    factors: int, max_rows: int
) -> None:
    products = Products(factors, max_rows, 16, scaled=False)
    ends = (16,) * factors
    vectors = [
        tuple(
            a - b
            for a, b in zip(
                given_by(products, [ends] * max_rows),
                given_by(products, [(*(-16,) * opposite, *ends[opposite:])] * max_rows),
                strict=True,
            )
        )
        for opposite in range(factors + 1)
    ]
    assert Norms.of(*vectors).l2_squared == products.exchanged.l2_squared


def test_a_bound_that_takes_all_numbers_as_moving_by_as_much_as_one_is_found_out() -> None:
    """A sum moves by 2 c between two units: what a unit gives is no bound for them."""
    products = Products(2, 1, 2, scaled=False)
    assert apart(set(units(products, 1))).l2_squared > products.given.l2_squared


@pytest.mark.parametrize(
    ("factors", "max_rows", "grid", "most"),
    [(1, 1, 4, 2), (1, 2, 4, 4), (1, 3, 2, 5), (2, 1, 4, 2), (2, 2, 2, 3), (3, 1, 2, 2)],
)
def test_the_norms_of_sums_are_exact(factors: int, max_rows: int, grid: int, most: int) -> None:
    """Units with more rows than count are among those that are tried, with their rounding."""
    points = list(itertools.product(range(-grid, grid + 1, 2), repeat=factors))
    vectors = set()
    for count in range(1, most + 1):
        for rows in itertools.combinations_with_replacement(points, count):
            part = Fraction(min(count, max_rows), count)
            totals = [sum(column) * part for column in zip(*rows, strict=True)]
            rounded = (math.floor(total + Fraction(1, 2)) for total in totals)
            vectors.add((grid * min(count, max_rows), *rounded))
    own = Sums(factors, max_rows, grid)
    assert Norms.of(*vectors) == own.given
    assert apart(vectors) == own.exchanged
    assert {own.count, *map(len, vectors)} == {factors + 1}


def test_sums_without_products_are_on_a_finer_grid_and_another_statistic() -> None:
    first, second = plan_of({**BOTH, "order": 1}), plan_of(BOTH)
    assert (first.grid, second.grid) == (2**18, 2**9)
    assert (first.dimension, second.dimension) == (3, 6)
    assert first.step == Fraction(1, first.grid)
    assert list(first.domain) == ["n", "sum:age", "sum:cost"]
    assert largest_grid(2**10, 2**48, 1) == 16
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


def test_units_that_are_exchanged_move_no_less_than_one_that_is_added() -> None:
    products = Products(3, 2, 1024, scaled=True)
    added = derived(NeighboringRelation.ADD_REMOVE, products, 2, 5)
    replaced = derived(NeighboringRelation.REPLACE, products, 2, 5)
    assert added == Norms(20 * products.largest, 20 * products.largest**2, products.largest)
    assert replaced.l2_squared >= 2 * added.l2_squared
