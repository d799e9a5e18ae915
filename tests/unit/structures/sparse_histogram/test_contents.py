"""Test a histogram's keys and what it reports of them.

In the domain's order, above the threshold.
"""

from fractions import Fraction

import numpy as np
import pytest
from tests.unit.structures.small_histogram import LADDER

from penstock.errors import InvalidInput
from penstock.structures.sparse_histogram.contents import check_rung, report_of, support_of
from penstock.structures.sparse_histogram.domain import Uint64

HALF = Fraction(1, 2)


def ranks(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.uint64]]:
    return np.array(numbers, dtype=np.uint64)


def test_a_value_at_the_threshold_is_not_reported() -> None:
    report = report_of(3, ranks(1, 5, 9), np.array([4, 5, 6]), 5, HALF)
    assert (report.rung, report.ranks.tolist(), report.steps.tolist()) == (3, [9], [6])
    assert report.values.tolist() == [3.0]


def test_keys_without_a_count_are_dropped_and_others_sorted() -> None:
    keys, steps = support_of(Uint64(10), ranks(7, 2, 5), np.array([3.5, 0, 1]), HALF)
    assert (keys.tolist(), steps.tolist()) == ([5, 7], [2, 7])
    keys, steps = support_of(Uint64(10), ranks(), np.array([]), HALF)
    assert (len(keys), len(steps)) == (0, 0)


@pytest.mark.parametrize(
    ("keys", "counts", "reason"),
    [
        ((3, 3), (1, 2), "given twice"),
        ((10,), (1,), "outside the domain"),
        ((1, 2), (1,), "2 keys and 1 counts"),
        ((1,), (0.25,), "lattice|multiple"),
    ],
)
def test_keys_that_cannot_be_held_are_refused_and_not_named(
    keys: tuple[int, ...], counts: tuple[float, ...], reason: str
) -> None:
    with pytest.raises(InvalidInput, match=reason) as refused:
        support_of(Uint64(10), ranks(*keys), np.array(counts), HALF)
    if keys in ((3, 3), (10,)):
        assert not any(character.isdigit() for character in refused.value.detail)


def test_a_rung_is_between_the_ceiling_and_the_end_of_the_ladder() -> None:
    for rung in (5, LADDER.last):
        check_rung(rung, 5, LADDER)
    with pytest.raises(InvalidInput, match="more accurate than the ceiling, rung 5"):
        check_rung(4, 5, LADDER)
    for rung in (-1, LADDER.last + 1):
        with pytest.raises(InvalidInput, match="outside of the ladder"):
            check_rung(rung, 5, LADDER)
