"""Test draws from many tables: each word decides what it would in the table of its row."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.randomness import Stream
from penstock.randomness.inversion import Table
from penstock.randomness.inversion.rows import _UNDECIDED, Room, Rows
from penstock.randomness.inversion.weights import binomial_table, poisson_table

CHANCE = Fraction(1, 3)
SIZE = 20_000


class _Words(Stream):
    """Give these words first, then a word over and over."""

    __slots__ = ("_rest", "_words")

    def __init__(self, words: NDArray[np.uint32], rest: int) -> None:
        super().__init__(bytes(32))
        self._words: list[NDArray[np.uint32]] = [words]
        self._rest = rest

    def raw_into(self, out: np.ndarray) -> None:
        out[:] = self._words.pop() if self._words else self._rest


def _tables() -> list[Table]:
    return [binomial_table(trials, CHANCE) for trials in (0, 1, 17, 400, 2_000)]


def _drawn(
    rows: Rows, which: NDArray[np.int64] | None, words: NDArray[np.uint32], rest: int = 0
) -> NDArray[np.int64]:
    out = np.zeros(len(words), dtype=np.int64)
    rows.add(out, _Words(words, rest), Room(len(words)), which)
    return out


def _expected(
    tables: list[Table], which: NDArray[np.int64], words: NDArray[np.uint32]
) -> list[int]:
    return [
        tables[row].least + int(np.searchsorted(tables[row].first, word, side="right"))
        for row, word in zip(which, words, strict=True)
    ]


def _both(stream: Stream) -> tuple[NDArray[np.int64], NDArray[np.uint32]]:
    return np.arange(SIZE) % len(_tables()), stream.raw_uint32(SIZE)


def test_words_decide_what_they_do_in_the_tables(stream: Stream) -> None:
    which, words = _both(stream)
    tables = _tables()
    assert _drawn(Rows(tables), which, words).tolist() == _expected(tables, which, words)


def test_cells_with_a_threshold_that_are_looked_up_are_found_out(stream: Stream) -> None:
    which, words = _both(stream)
    tables = _tables()
    rows = Rows(tables)
    undecided = rows._cells == _UNDECIDED
    rows._cells[undecided] = rows._cells[np.flatnonzero(undecided) - 1]
    assert _drawn(rows, which, words).tolist() != _expected(tables, which, words)


def test_most_words_are_decided_by_their_cell() -> None:
    for tables, most in (([poisson_table(Fraction(300))], 0.01), (_tables(), 0.05)):
        assert (Rows(tables)._cells == _UNDECIDED).mean() < most


@pytest.mark.parametrize(("rest", "more"), [(0, 0), ((1 << 32) - 1, 1)])
def test_a_word_equal_to_a_threshold_is_decided_by_the_bits_that_follow(
    rest: int, more: int
) -> None:
    tables = _tables()
    for row in (2, 3, 4):
        middle = len(tables[row].first) // 2
        word = tables[row].first[middle : middle + 1]
        value = tables[row].least + middle + more
        assert _drawn(Rows(tables), np.array([row]), word, rest).tolist() == [value]
        assert _drawn(Rows.alone(tables[row]), None, word, rest).tolist() == [value]


def test_one_table_draws_the_same_as_by_itself() -> None:
    table = poisson_table(Fraction(7, 3))
    out = np.empty(SIZE, dtype=np.int64)
    Rows.alone(table).fill(out[: 1 << 14], Stream.from_key(bytes(32)))
    assert (out[: 1 << 14] == table.draw(1 << 14, Stream.from_key(bytes(32)))).all()


def test_draws_are_added_to_what_there_is(stream: Stream) -> None:
    out = np.full(1_000, 10**12, dtype=np.int64)
    Rows.alone(poisson_table(Fraction(400))).add(out, stream, Room(1_000), None)
    assert abs(out.mean() - 10**12 - 400) < 6
