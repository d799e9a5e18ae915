"""Represent whole-number matrices over the keys of one column: sums of keys, or given rows.

Named matrices are sums of keys that follow each other, so that no number of them needs a table:
they are applied by running sums, exactly.

==============  ========================================================================
``identity``    each key
``total``       all keys
``prefix``      the first keys up to each one
``all_ranges``  all keys that follow each other, from each one to each later one
``tree``        the nodes of ``bin_tree``: sums of 1, 4, 16, ... keys
``marginals``   each key, and all keys
==============  ========================================================================
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from penstock.structures.bin_tree import BinTree

IDENTITY: Final = "identity"
TOTAL: Final = "total"
PREFIX: Final = "prefix"
ALL_RANGES: Final = "all_ranges"
TREE: Final = "tree"
MARGINALS: Final = "marginals"

ALL: Final = "all"
"""The label of the sum of all keys."""

Table = NDArray[Any]
Places = NDArray[np.int64]
IntMatrix = NDArray[np.int64]


class Rows(ABC):
    """Represent a matrix of whole numbers with a row for each sum and a column for each key."""

    @property
    @abstractmethod
    def size(self) -> int:
        """Return the number of keys."""

    @property
    @abstractmethod
    def count(self) -> int:
        """Return the number of rows."""

    @abstractmethod
    def times(self, table: Table, axis: int) -> Table:
        """Return the matrix applied along an axis of ``size`` numbers, which then has ``count``.

        Whole numbers stay exact: no sum on the way is larger than one of absolute values.
        """

    @abstractmethod
    def transposed(self, table: Table, axis: int) -> Table:
        """Return the transposed matrix applied along an axis of ``count`` numbers."""

    @abstractmethod
    def squares(self, inner: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``w inner w`` for each row ``w``: shape ``(count,)``; ``inner`` is square."""

    @abstractmethod
    def lengths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the square of each row's Euclidean norm, and its sum."""

    @abstractmethod
    def gram(self) -> IntMatrix:
        """Return the inner products of the columns: shape ``(size, size)``."""

    @abstractmethod
    def labels(self, keys: Sequence[str]) -> tuple[str, ...]:
        """Return a label for each row, given those of the keys."""

    @property
    @abstractmethod
    def column_sums(self) -> IntMatrix:
        """Return the sum of absolute values of each column."""

    @property
    @abstractmethod
    def row_sum(self) -> int:
        """Return the largest sum of absolute values of a row."""

    @property
    @abstractmethod
    def largest(self) -> int:
        """Return the largest absolute value."""

    @property
    def is_signed(self) -> bool:
        """Return True if a number is negative."""
        return False


@dataclass(frozen=True)
class Spans(Rows):
    """Represent the sums of keys that follow each other, by the ``name`` of all of them."""

    name: str
    keys: int

    @property
    def size(self) -> int:
        """Return the number of keys."""
        return self.keys

    @cached_property
    def ends(self) -> tuple[Places, Places]:
        """Return the first key of each sum, and the one after its last."""
        each = np.arange(self.keys)
        match self.name:
            case "identity":
                return each, each + 1
            case "total":
                return each[:1], np.array([self.keys])
            case "prefix":
                return np.zeros_like(each), each + 1
            case "all_ranges":
                first, last = np.triu_indices(self.keys)
                return first, last + 1
            case "tree":
                spans = np.array(BinTree(self.keys).spans)
                return spans[:, 1], spans[:, 2]
            case "marginals":
                return np.append(each, 0), np.append(each + 1, self.keys)
        raise ValueError(f"no matrix is named {self.name!r}")

    @property
    def count(self) -> int:
        """Return the number of rows; that of all ranges without listing them."""
        if self.name == ALL_RANGES:
            return self.keys * (self.keys + 1) // 2
        return len(self.ends[0])

    def times(self, table: Table, axis: int) -> Table:
        """Return differences of running sums along an axis."""
        if self.name == IDENTITY:
            return table
        if self.name == TOTAL:
            return np.asarray(table.sum(axis=axis, keepdims=True))
        if self.name == PREFIX:
            return np.asarray(np.cumsum(table, axis=axis))
        turned = np.moveaxis(table, axis, 0)
        sums = np.zeros((self.keys + 1, *turned.shape[1:]), dtype=table.dtype)
        np.cumsum(turned, axis=0, out=sums[1:])
        first, end = self.ends
        return np.moveaxis(sums[end] - sums[first], 0, axis)

    def transposed(self, table: Table, axis: int) -> Table:
        """Return, for each key, the sum over the rows that it is in."""
        if self.name == IDENTITY:
            return table
        turned = np.moveaxis(table, axis, 0)
        steps = np.zeros((self.keys + 1, *turned.shape[1:]), dtype=table.dtype)
        first, end = self.ends
        np.add.at(steps, first, turned)
        np.subtract.at(steps, end, turned)
        return np.moveaxis(np.cumsum(steps, axis=0)[:-1], 0, axis)

    def squares(self, inner: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the sum of ``inner`` over the square of each span."""
        sums = np.zeros((self.keys + 1, self.keys + 1))
        sums[1:, 1:] = inner.cumsum(axis=0).cumsum(axis=1)
        first, end = self.ends
        return np.asarray(sums[end, end] - sums[first, end] - sums[end, first] + sums[first, first])

    def lengths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the number of keys of each row, twice."""
        first, end = self.ends
        width = (end - first).astype(np.float64)
        return width, width

    def gram(self) -> IntMatrix:
        """Return in how many rows two keys are together."""
        first, end = self.ends
        begun = np.zeros((self.keys, self.keys), dtype=np.int64)
        np.add.at(begun, (first, end - 1), 1)
        # Rows that begin at the earlier key or before, and end at the later one or after.
        together = begun.cumsum(axis=0)[:, ::-1].cumsum(axis=1)[:, ::-1]
        return np.asarray(np.triu(together) + np.triu(together, 1).T)

    def labels(self, keys: Sequence[str]) -> tuple[str, ...]:
        """Return the keys' labels, and of several the first and the last."""
        return _distinct([_span(keys, *each) for each in np.transpose(self.ends).tolist()])

    @property
    def column_sums(self) -> IntMatrix:
        """Return in how many rows each key is."""
        return np.asarray(self.transposed(np.ones(self.count, dtype=np.int64), 0))

    @property
    def row_sum(self) -> int:
        """Return the number of keys of the longest row."""
        first, end = self.ends
        return int((end - first).max())

    @property
    def largest(self) -> int:
        """Return 1: keys are only added."""
        return 1


@dataclass(frozen=True)
class Given(Rows):
    """Represent rows that were given, each with a number for each key."""

    rows: tuple[tuple[int, ...], ...]

    @cached_property
    def matrix(self) -> IntMatrix:
        """Return the rows as a matrix."""
        return np.array(self.rows, dtype=np.int64)

    @property
    def size(self) -> int:
        """Return the number of keys."""
        return len(self.rows[0])

    @property
    def count(self) -> int:
        """Return the number of rows."""
        return len(self.rows)

    def times(self, table: Table, axis: int) -> Table:
        """Return the product along an axis."""
        return _product(self.matrix, table, axis)

    def transposed(self, table: Table, axis: int) -> Table:
        """Return the product of the transposed matrix along an axis."""
        return _product(self.matrix.T, table, axis)

    def squares(self, inner: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return ``w inner w`` for each row ``w``."""
        return np.asarray(((self.matrix @ inner) * self.matrix).sum(axis=1))

    def lengths(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the square of each row's Euclidean norm, and its sum."""
        numbers = self.matrix.astype(np.float64)
        return np.asarray((numbers**2).sum(axis=1)), np.asarray(numbers.sum(axis=1))

    def gram(self) -> IntMatrix:
        """Return the inner products of the columns."""
        return self.matrix.T @ self.matrix

    def labels(self, keys: Sequence[str]) -> tuple[str, ...]:
        """Return the label of a sum of keys that follow each other, and else the row's number."""
        return _distinct([_label(row, number + 1, keys) for number, row in enumerate(self.rows)])

    @property
    def column_sums(self) -> IntMatrix:
        """Return the sum of absolute values of each column."""
        return np.asarray(np.abs(self.matrix).sum(axis=0))

    @property
    def row_sum(self) -> int:
        """Return the largest sum of absolute values of a row."""
        return int(np.abs(self.matrix).sum(axis=1).max())

    @property
    def largest(self) -> int:
        """Return the largest absolute value."""
        return int(np.abs(self.matrix).max())

    @property
    def is_signed(self) -> bool:
        """Return True if a number is negative."""
        return bool((self.matrix < 0).any())


def _product(matrix: IntMatrix, table: Table, axis: int) -> Table:
    own = matrix.astype(object) if table.dtype == object else matrix
    turned = np.moveaxis(table, axis, 0)
    flat = own @ turned.reshape(turned.shape[0], -1)
    return np.moveaxis(flat.reshape(matrix.shape[0], *turned.shape[1:]), 0, axis)


def _distinct(labels: Sequence[str]) -> tuple[str, ...]:
    """Return labels with the number of their row where several rows would have the same.

    A row may be given twice, and a key may be called like a row.
    """
    times, used = Counter(labels), set[str]()
    named = []
    for number, label in enumerate(labels, 1):
        text = label if times[label] == 1 else f"{label} (row {number})"
        while text in used or (text != label and text in times):
            text += "'"
        used.add(text)
        named.append(text)
    return tuple(named)


def _span(keys: Sequence[str], first: int, end: int) -> str:
    if end - first == 1:
        return keys[first]
    return ALL if end - first == len(keys) else f"{keys[first]} to {keys[end - 1]}"


def _label(row: tuple[int, ...], number: int, keys: Sequence[str]) -> str:
    first = next((place for place, entry in enumerate(row) if entry), 0)
    end = len(row) - next((place for place, entry in enumerate(reversed(row)) if entry), 0)
    return _span(keys, first, end) if set(row[first:end]) == {1} else f"row {number}"
