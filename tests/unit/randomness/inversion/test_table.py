"""Test draws from tables: what thresholds stand for, and what decides where words are equal."""

from decimal import Decimal

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.randomness import Stream
from penstock.randomness.bernoulli import CERTAIN
from penstock.randomness.inversion import Table


class _Fixed(Stream):
    """Give the words of ``first``, then as many equal ones as are asked for."""

    def __init__(self, first: list[int], rest: int) -> None:
        super().__init__(bytes(32))
        self._answers: list[list[int]] = [first]
        self._rest = rest

    __slots__ = ("_answers", "_rest")

    def raw_uint32(self, count: int) -> NDArray[np.uint32]:
        words = self._answers.pop() if self._answers else [self._rest] * count
        return np.array(words, dtype=np.uint32)


def _table() -> Table:
    return Table.of([Decimal("0.25"), Decimal("0.75"), Decimal(1), Decimal(1)])


def test_thresholds_end_where_the_law_does() -> None:
    assert _table().thresholds == [CERTAIN // 4, CERTAIN * 3 // 4]


@pytest.mark.parametrize(
    ("word", "value"),
    [(0, 0), ((1 << 30) - 1, 0), ((1 << 30) + 1, 1), ((3 << 30) + 1, 2), ((1 << 32) - 1, 2)],
)
def test_a_word_is_the_number_of_thresholds_up_to_it(word: int, value: int) -> None:
    assert _table().draw(1, _Fixed([word], 0)).tolist() == [value]


@pytest.mark.parametrize(("rest", "value"), [(0, 0), ((1 << 32) - 1, 1)])
def test_a_word_equal_to_a_threshold_is_decided_by_the_bits_that_follow(
    rest: int, value: int
) -> None:
    # A third: its first word is 0x55555555, and so are all others.
    table = Table.of([Decimal(1) / Decimal(3), Decimal(1)])
    assert table.draw(1, _Fixed([0x55555555], rest)).tolist() == [value]


def test_draws_follow_the_law(stream: Stream) -> None:
    counts = np.bincount(_table().draw(40_000, stream), minlength=3)
    assert counts / 40_000 == pytest.approx([0.25, 0.5, 0.25], abs=0.015)
