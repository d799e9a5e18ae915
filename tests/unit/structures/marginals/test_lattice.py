"""Test by enumeration what marginals protect, how far a unit moves it, and how it is weighed."""

import itertools
import math
from collections.abc import Iterable
from fractions import Fraction

import numpy as np
import pytest

from penstock.privacy.neighboring import NeighboringRelation
from penstock.structures.marginals.lattice import Marginals, subsets_of, up_to
from penstock.structures.marginals.tables import counted

ADDED, REPLACED = NeighboringRelation.ADD_REMOVE, NeighboringRelation.REPLACE

CASES = [
    Marginals((2,), ((0,),)),
    Marginals((2, 2), up_to(2, 2)),
    Marginals((3, 2), up_to(2, 2)),
    Marginals((4, 3), ((0, 1),)),
    Marginals((2, 3, 2), ((0, 1), (2,))),
    Marginals((2, 2, 2), up_to(3, 3)),
]


def given(marginals: Marginals, cell: tuple[int, ...]) -> tuple[int, ...]:
    """Return what a row in a cell gives, by the words of ``lattice``."""
    return tuple(
        weight
        * math.prod(
            marginals.sizes[column] * (cell[column] == key) - 1
            for column, key in zip(each, keys, strict=True)
        )
        for each, weight in zip(marginals.protected, marginals.weights, strict=True)
        for keys in itertools.product(*(range(marginals.sizes[column]) for column in each))
    )


def cells_of(marginals: Marginals) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, marginals.sizes)))


def units(marginals: Marginals, max_cells: int, max_rows: int) -> Iterable[np.ndarray]:
    """Yield what every unit gives, also one without a row that counts."""
    rows = {cell: np.array(given(marginals, cell)) for cell in cells_of(marginals)}
    for number in range(max_cells + 1):
        for chosen in itertools.combinations(rows, number):
            for counts in itertools.product(range(1, max_rows + 1), repeat=number):
                parts = [rows[cell] * count for cell, count in zip(chosen, counts, strict=True)]
                yield sum(parts, np.zeros(marginals.dimension, dtype=np.int64))


def largest(vectors: np.ndarray) -> tuple[int, int, int]:
    sizes = abs(vectors)
    return int(sizes.sum(axis=1).max()), int((sizes**2).sum(axis=1).max()), int(sizes.max())


@pytest.mark.parametrize("marginals", CASES, ids=str)
@pytest.mark.parametrize(("max_cells", "max_rows"), [(1, 1), (1, 3), (2, 2)])
def test_no_unit_moves_more_than_is_derived_and_the_worst_reaches_it(
    marginals: Marginals, max_cells: int, max_rows: int
) -> None:
    given_by = np.array(list(units(marginals, max_cells, max_rows)))
    reached = largest(given_by)
    derived = marginals.moved(ADDED, max_cells, max_rows)
    assert all(one <= bound for one, bound in zip(reached, derived, strict=True))
    assert max_cells > 1 or reached == derived
    apart = largest((given_by[:, None] - given_by[None]).reshape(-1, marginals.dimension))
    bounds = marginals.moved(REPLACED, max_cells, max_rows)
    assert all(one <= bound for one, bound in zip(apart, bounds, strict=True))
    assert max_cells > 1 or apart[1] == bounds[1]


def test_several_cells_reach_the_bound_where_they_differ_in_one_column_alone() -> None:
    marginals = Marginals((4, 5, 5), up_to(3, 2))
    parts = [np.array(given(marginals, (key, 0, 0))) * 2 for key in range(3)]
    l2_squared = int((sum(parts, np.zeros(1)) ** 2).sum())
    assert l2_squared == marginals.moved(ADDED, 3, 2)[1]


@pytest.mark.parametrize("sizes", [(4,), (4, 5), (4, 4, 4), (4, 5, 5)])
def test_two_units_in_several_cells_reach_the_bound_where_they_agree_in_no_column(
    sizes: tuple[int, ...],
) -> None:
    marginals, rest = Marginals(sizes, up_to(len(sizes), min(len(sizes), 2))), len(sizes) - 1
    one = [np.array(given(marginals, (key, *[0] * rest))) * 3 for key in (0, 1)]
    other = [np.array(given(marginals, (key, *[1] * rest))) * 3 for key in (2, 3)]
    both = sum(one, np.zeros(1)) - sum(other, np.zeros(1))
    alone = sum(one, np.zeros(1))
    reached = max(int((each**2).sum()) for each in (both, alone))
    assert reached == marginals.moved(REPLACED, 2, 3)[1]


def test_a_bound_that_takes_cells_as_moving_tables_apart_is_found_out() -> None:
    """Cells of one unit share most tables: they do not add up as groups do."""
    marginals = Marginals((4, 5, 5), up_to(3, 2))
    parts = [np.array(given(marginals, (key, 0, 0))) for key in range(3)]
    as_groups = 3 * marginals.moved(ADDED, 1, 1)[1]
    assert largest(sum(parts, np.zeros(1))[None])[1] > as_groups


@pytest.mark.parametrize("marginals", CASES, ids=str)
def test_a_row_moves_each_table_by_what_the_residual_planner_charges(marginals: Marginals) -> None:
    """Noise of variance 1 on the integers costs the product of (1 - 1 / n) over s^2 for each."""
    cost = sum(
        math.prod((1 - Fraction(1, marginals.sizes[column]) for column in each), start=Fraction(1))
        * (weight * marginals.cells(each)) ** 2
        for each, weight in zip(marginals.protected, marginals.weights, strict=True)
    )
    assert marginals.moved(ADDED, 1, 1)[1] == cost


@pytest.mark.parametrize("marginals", CASES, ids=str)
def test_the_tables_of_rows_are_the_sums_of_what_each_row_gives(marginals: Marginals) -> None:
    cells = cells_of(marginals)[::2]
    counts = np.arange(1, len(cells) + 1)
    exact = counted(marginals, list(np.array(cells).T), counts)
    summed = sum(
        np.array(given(marginals, cell)) * n for cell, n in zip(cells, counts, strict=True)
    )
    assert exact.tolist() == np.asarray(summed).tolist()


@pytest.mark.parametrize("marginals", [*CASES[1:], Marginals((10, 2, 100), up_to(3, 2))], ids=str)
def test_no_other_weight_of_one_table_gives_a_smaller_sum_of_variances(
    marginals: Marginals,
) -> None:
    def summed(weights: dict[tuple[int, ...], Fraction]) -> Fraction:
        """Return the sum of the variances of all cells, at a cost of 1."""
        parts = {
            each: math.prod(
                (1 - Fraction(1, marginals.sizes[column]) for column in each), start=Fraction(1)
            )
            for each in weights
        }
        cost = sum(
            part * (weights[each] * marginals.cells(each)) ** 2 for each, part in parts.items()
        )
        return Fraction(cost) * sum(
            parts[each] / weights[each] ** 2 / marginals.cells(larger)
            for larger in marginals.sets
            for each in subsets_of(larger)
        )

    own = {
        each: Fraction(weight)
        for each, weight in zip(marginals.protected, marginals.weights, strict=True)
    }
    chosen = summed(own)
    assert chosen / marginals.moved(ADDED, 1, 1)[1] == sum(
        marginals.variance(each) * marginals.cells(each) for each in marginals.sets
    )
    for each in own:
        for factor in (Fraction(3, 4), Fraction(4, 3)):
            assert chosen < summed({**own, each: own[each] * factor})
    # No whole numbers are needed for the best weights, whose sum is nearly the same.
    gains = {
        each: sum(1 / marginals.cells(larger) for larger in marginals.sets if {*each} <= {*larger})
        for each in own
    }
    best = {
        each: Fraction((gain / marginals.cells(each) ** 2) ** 0.25) for each, gain in gains.items()
    }
    assert chosen < summed(best) * Fraction(1001, 1000)
