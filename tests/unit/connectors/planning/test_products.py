"""Test by enumeration how far the products of one unit, and of two units, can be apart."""

import itertools
import math
from collections.abc import Iterable, Sequence
from fractions import Fraction

import pytest

from penstock.connectors.planning.sensitivity import Norms, Products, derived
from penstock.privacy.neighboring import NeighboringRelation

Vector = tuple[int, ...]


def given(products: Products, rows: Sequence[Sequence[int]]) -> Vector:
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
            yield given(products, rows)


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
                given(products, [ends] * max_rows),
                given(products, [(*(-16,) * opposite, *ends[opposite:])] * max_rows),
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


def test_units_that_are_exchanged_move_no_less_than_one_that_is_added() -> None:
    products = Products(3, 2, 1024, scaled=True)
    added = derived(NeighboringRelation.ADD_REMOVE, products, 2, 5)
    replaced = derived(NeighboringRelation.REPLACE, products, 2, 5)
    assert added == Norms(20 * products.largest, 20 * products.largest**2, products.largest)
    assert replaced.l2_squared >= 2 * added.l2_squared
