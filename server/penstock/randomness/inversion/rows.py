"""Draw from many tables side by side, each draw from the table of its row.

The first bits of a word pick one of a row's cells.  A cell in which no threshold lies has one
value, which is looked up; that decides all but a few draws in a hundred.  For the others the
whole word is compared with the row's thresholds, and further bits where it equals one, as
``Table`` does: the word decides the same value, and nothing is added to the tables' error.
"""

from collections.abc import Sequence
from typing import Self

import numpy as np
from numpy.typing import NDArray

from penstock.randomness.inversion.table import Table
from penstock.randomness.stream import Stream

_WORD_BITS = 32
_CELL_BITS = 12
_CELL_BITS_ALONE = 16
"""Of one row; several of them share the cache."""

_UNDECIDED = (1 << 16) - 1
CHUNK = 1 << 14
"""Values at a time: larger temporaries leave the cache."""

MOST_VALUES = _UNDECIDED
"""All values of all rows are less than that apart."""


class Room:
    """Hold the memory that draws of up to ``size`` values reuse."""

    def __init__(self, size: int) -> None:
        self.words = np.empty(size, dtype=np.uint32)
        self.places = np.empty(size, dtype=np.int64)
        self.values = np.empty(size, dtype=np.uint16)


class Rows:
    """Draw from tables by their number; it is never changed, so that threads may share it."""

    def __init__(self, tables: Sequence[Table]) -> None:
        self._tables = tables
        self._bits = _CELL_BITS_ALONE if len(tables) == 1 else _CELL_BITS
        self._least = min(table.least for table in tables)
        starts = np.cumsum([0, *(len(table.first) for table in tables)])[:-1]
        offsets = np.array([table.least - self._least for table in tables], dtype=np.int64)
        self._before = starts - offsets
        self._first = np.concatenate(
            [
                table.first.astype(np.uint64) + np.uint64(row << _WORD_BITS)
                for row, table in enumerate(tables)
            ]
        )
        self._cells = self._looked_up(offsets)

    @classmethod
    def alone(cls, table: Table) -> Self:
        """Return the rows that are one table: draws do not name it."""
        return cls((table,))

    def fill(self, out: NDArray[np.int64], stream: Stream) -> None:
        """Fill ``out`` with draws from the one table there is."""
        room = Room(min(len(out), CHUNK))
        out.fill(0)
        for start in range(0, len(out), CHUNK):
            self.add(out[start : start + CHUNK], stream, room, None)

    def add(
        self, out: NDArray[np.int64], stream: Stream, room: Room, rows: NDArray[np.int64] | None
    ) -> None:
        """Add a draw to each of ``out``, the ``i``-th from the table ``rows[i]``.

        ``rows`` may be left out where there is one table.
        """
        words, values = room.words[: len(out)], room.values[: len(out)]
        places = room.places[: len(out)]
        stream.raw_into(words)
        np.right_shift(words, np.uint32(_WORD_BITS - self._bits), out=places)
        if rows is not None:
            # Cells of a row follow those of the row before.
            places += rows << self._bits
        np.take(self._cells, places, out=values, mode="clip")
        doubtful = np.flatnonzero(values == _UNDECIDED)
        if len(doubtful):
            row = np.zeros(len(doubtful), dtype=np.int64) if rows is None else rows[doubtful]
            values[doubtful] = self._compared(words[doubtful], row, stream)
        out += values
        if self._least:
            out += self._least

    def _compared(
        self, words: NDArray[np.uint32], rows: NDArray[np.int64], stream: Stream
    ) -> NDArray[np.int64]:
        """Return the values less the smallest that the whole words decide, or bits after them."""
        keys = (rows << _WORD_BITS).astype(np.uint64) + words
        reached = np.searchsorted(self._first, keys, side="right")
        out = reached - self._before[rows]
        for i in np.flatnonzero(self._first[np.maximum(reached, 1) - 1] == keys):
            table = self._tables[rows[i]]
            out[i] = table.decide(int(words[i]), stream) + table.least - self._least
        return out

    def _looked_up(self, offsets: NDArray[np.int64]) -> NDArray[np.uint16]:
        """Return each cell's value less the smallest of all, ``_UNDECIDED`` if it has several."""
        count = 1 << self._bits
        cells = np.empty((len(self._tables), count), dtype=np.uint16)
        for row, table in enumerate(self._tables):
            within = np.bincount(table.first >> (_WORD_BITS - self._bits), minlength=count)
            cells[row] = np.where(within, _UNDECIDED, np.cumsum(within) + offsets[row])
        return cells.reshape(-1)
