"""Test how far two records of a group can be apart, against all pairs of small records."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations_with_replacement, product

import numpy as np
import pytest

from penstock.connectors.planning.sensitivity import Norms, Record
from penstock.structures.counts import Lift, weight_of


def records(columns: int, most: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Yield counts of the columns, and rows: as many as are true in a column, or more."""
    for rows in range(1, most + 1):
        for counts in product(range(rows + 1), repeat=columns):
            yield counts, rows


@pytest.mark.parametrize("trade_off", [0.5, 1.4, 4, 20])
@pytest.mark.parametrize(("columns", "most"), [(1, 3), (2, 1), (2, 3), (3, 2)])
def test_two_records_differ_by_no_more_than_is_stated_and_some_do(
    columns: int, most: int, trade_off: float
) -> None:
    """A trade-off far above the best makes different numbers of rows the worst."""
    lift = Lift(columns, 1, weight_of(trade_off))
    nodes = [
        lift.nodes(2 * np.array([counts], dtype=np.int64) - rows, np.array([rows], dtype=np.int64))
        for counts, rows in records(columns, most)
    ]
    moved = [
        np.abs(one - other).astype(object) for one, other in combinations_with_replacement(nodes, 2)
    ]
    assert Record(columns, most, lift).exchanged == Norms(
        l1=max(move.sum() for move in moved),
        l2_squared=max((move * move).sum() for move in moved),
        linf=max(move.max() for move in moved),
    )
    assert Record(columns, most, lift).given == Norms(
        l1=max(np.abs(one).sum() for one in nodes),
        l2_squared=max((one * one).sum() for one in nodes),
        linf=max(np.abs(one).max() for one in nodes),
    )


def test_no_number_is_taken_to_move_further_than_all_together() -> None:
    """Bounds of their own may cross, as those of marginals in several cells do under replace."""
    moved = Norms(l1=40, l2_squared=99, linf=12).in_units(Fraction(1, 2))
    assert (moved.l1, moved.l2_squared, moved.linf) == tuple(map(Fraction, ("20", "99/4", "9/2")))
    assert Norms(l1=4, l2_squared=4, linf=2).in_units(Fraction(1)).linf == 2
