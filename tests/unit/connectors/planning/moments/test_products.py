"""Test by enumeration how far the weighted sums and products of columns move."""

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import pytest

from penstock.connectors.planning.moments.products import Products, Sums
from penstock.connectors.planning.moments.weights import weighted, weights_of
from penstock.connectors.planning.sensitivity import Norms, derived
from penstock.connectors.specs.moments import Moments, Regression
from penstock.privacy.neighboring import NeighboringRelation

Vector = tuple[int, ...]


def given_by(products: Products, rows: Sequence[Sequence[int]]) -> Vector:
    """Return what a unit with these rows gives, by the words of ``Products``."""
    points = [(products.grid, *row) for row in rows]
    counted = min(len(rows), products.max_rows)
    pairs = itertools.combinations_with_replacement(range(products.factors + 1), 2)
    sums = [sum(point[i] * point[j] for point in points) for i, j in pairs]
    scaled = (math.floor(Fraction(total * counted, len(rows)) + Fraction(1, 2)) for total in sums)
    weights = products.weights or (1,) * products.count
    return tuple(weight * total for weight, total in zip(weights, scaled, strict=True))


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


Case = tuple[int, int, int, int, tuple[int, ...]]
CASES: list[Case] = [
    *[(1, 1, 4, 1, ()), (1, 2, 4, 2, ()), (1, 3, 2, 3, ()), (2, 1, 4, 1, ()), (2, 2, 2, 2, ())],
    *[(3, 1, 2, 1, ()), (1, 1, 4, 1, (5, 8, 8)), (1, 1, 8, 1, (1, 1, 1)), (1, 2, 4, 2, (1, 3, 2))],
    *[(2, 1, 4, 1, (6, 8, 8, 7, 8, 7)), (2, 1, 4, 1, (3, 4, 3, 3, 4, 1))],
    *[(2, 2, 2, 2, (6, 8, 8, 7, 8, 7)), (2, 1, 4, 1, (1, 2, 7, 2, 9, 5))],
    (3, 1, 2, 1, (6, 8, 8, 8, 6, 7, 7, 6, 7, 6)),
]
"""Columns, rows that count, grid, the most rows that are tried, and weights; without a weight of a
square above that of its sum."""

ROUNDED: list[Case] = [
    *[(1, 1, 4, 3, ()), (1, 2, 2, 5, ()), (2, 1, 2, 3, ()), (1, 1, 4, 3, (5, 8, 7))],
    (2, 1, 2, 3, (1, 2, 3, 1, 4, 3)),
]
"""More rows are tried than count."""

LOOSE: list[Case] = [
    *[(1, 1, 8, 1, (1, 1, 3)), (1, 3, 4, 3, (9, 1, 1)), (1, 2, 4, 2, (1, 1, 6))],
    *[(2, 1, 4, 1, (1, 1, 1, 5, 1, 2)), (2, 2, 2, 2, (9, 2, 2, 2, 1, 2))],
]
"""Weights of squares above those of sums, or of the count above all: bounded, and not reached."""


def _of(case: Case) -> Products:
    factors, max_rows, grid, most, weights = case
    return Products(factors, max_rows, grid, most > max_rows, weights)


@pytest.mark.parametrize("case", [*CASES, *ROUNDED, *LOOSE])
def test_no_unit_gives_more_than_is_derived_and_one_gives_all_of_it(case: Case) -> None:
    products = _of(case)
    assert Norms.of(*units(products, case[3])) == products.given


@pytest.mark.parametrize("case", [*CASES, *ROUNDED, *LOOSE])
def test_no_two_units_are_further_apart_than_is_derived(case: Case) -> None:
    products = _of(case)
    reached, bound = apart(set(units(products, case[3]))), products.exchanged
    assert reached.l1 <= bound.l1
    assert reached.l2_squared <= bound.l2_squared
    assert reached.linf == bound.linf
    if case in CASES:
        assert reached.l2_squared == bound.l2_squared


@pytest.mark.parametrize("factors", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("max_rows", [1, 2, 7])
@pytest.mark.parametrize("kind", ["equal", "moments", "regression"])
def test_the_bound_of_two_units_is_reached_where_some_columns_have_opposite_ends(
    factors: int, max_rows: int, kind: str
) -> None:
    """It is with the weights that are chosen as with equal ones."""
    products = Products(factors, max_rows, 16, scaled=False, weights=chosen(kind, factors))
    first = given_by(products, [(16,) * factors] * max_rows)
    vectors = []
    for ends in itertools.product((-16, 16), repeat=factors):
        second = given_by(products, [ends] * max_rows)
        vectors.append(tuple(a - b for a, b in zip(first, second, strict=True)))
    assert Norms.of(*vectors).l2_squared == products.exchanged.l2_squared


def chosen(kind: str, factors: int) -> tuple[int, ...]:
    """Return the weights that are chosen for so many columns; none of a regression of one."""
    names = tuple(f"x{place}" for place in range(factors))
    if kind == "equal" or (kind == "regression" and factors == 1):
        return ()
    if kind == "moments":
        return weights_of(weighted(Moments(type="moments", columns=names), "gaussian"))
    own = Regression(type="regression", outcome=names[-1], predictors=names[:-1])
    return weights_of(weighted(own, "gaussian"))


def test_a_bound_that_takes_all_numbers_as_moving_by_as_much_as_one_is_found_out() -> None:
    """A sum moves by 2 c between two units: what a unit gives is no bound for them."""
    products = Products(2, 1, 2, scaled=False)
    assert apart(set(units(products, 1))).l2_squared > products.given.l2_squared


@pytest.mark.parametrize(
    ("factors", "max_rows", "grid", "most"),
    [(1, 1, 4, 2), (1, 2, 4, 4), (1, 3, 2, 5), (2, 1, 4, 2), (2, 2, 2, 3), (3, 1, 2, 2)],
)
@pytest.mark.parametrize("weights", [(), (1, 2, 3, 5), (9, 1, 2, 1)])
def test_the_norms_of_sums_are_exact(
    factors: int, max_rows: int, grid: int, most: int, weights: tuple[int, ...]
) -> None:
    """Units with more rows than count are among those that are tried, with their rounding."""
    points = list(itertools.product(range(-grid, grid + 1, 2), repeat=factors))
    vectors = set()
    for count in range(1, most + 1):
        for rows in itertools.combinations_with_replacement(points, count):
            part = Fraction(min(count, max_rows), count)
            totals = [sum(column) * part for column in zip(*rows, strict=True)]
            rounded = (math.floor(total + Fraction(1, 2)) for total in totals)
            numbers = (grid * min(count, max_rows), *rounded)
            each = weights or (1,) * len(numbers)
            vectors.add(tuple(a * b for a, b in zip(each, numbers, strict=False)))
    own = Sums(factors, max_rows, grid, weights[: factors + 1])
    assert Norms.of(*vectors) == own.given
    assert apart(vectors) == own.exchanged
    assert {own.count, *map(len, vectors)} == {factors + 1}


def test_units_that_are_exchanged_move_no_less_than_one_that_is_added() -> None:
    products = Products(3, 2, 1024, scaled=True)
    added = derived(NeighboringRelation.ADD_REMOVE, products, 2, 5)
    replaced = derived(NeighboringRelation.REPLACE, products, 2, 5)
    assert added == Norms(20 * products.largest, 20 * products.largest**2, products.largest)
    assert replaced.l2_squared >= 2 * added.l2_squared
