"""Compute the protected tables of marginals from rows, and marginals from noisy tables.

Nothing here has more numbers than a table has cells: sums and means are taken along one column
after the other.

Marginals are read as multiples of one power of two, so small that it does not show and so large
that all sums of cells are exact in doubles.  Cells with no column at its first key are rounded to
it; each other cell is what the sum over that column leaves of the smaller marginal, exactly.  So a
marginal that is added up over a column is the smaller marginal, to the last digit, and any two
marginals agree in the columns that they share.
"""

import math
from collections.abc import Collection, Sequence

import numpy as np
from numpy.typing import NDArray

from penstock.structures.marginals.lattice import Marginals, Set, subsets_of

_INT64 = 2**62
_JOINT_CELLS = 2**17
_EXACT_BITS = 50
"""Sums of cells are below 2^50 of their step; doubles leave room for the rounding of cells."""

_FINEST = 30

Places = Sequence[NDArray[np.int64]]
Tables = dict[Set, NDArray[np.float64]]


def counted(marginals: Marginals, places: Places, counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the exact integers that are protected: shape ``(dimension,)``.

    ``counts`` are the rows of cells of all columns together, whose keys have ``places`` in each
    column; other cells have none.  Integers beyond 2^62 saturate.
    """
    tables: dict[Set, NDArray[np.int64]] = {}
    for columns in reversed(marginals.protected):
        if columns not in tables:
            joint = _joint(marginals, columns, tables)
            table = _grouped(marginals, joint, places, counts)
            tables |= {
                each: np.asarray(table.sum(axis=_left_out(joint, each)))
                for each in marginals.protected
                if each not in tables and set(each) <= set(joint)
            }
    total = int(tables[()])
    parts = []
    for columns, weight in zip(marginals.protected, marginals.weights, strict=True):
        table = tables[columns]
        if total * weight * 2 ** len(columns) * marginals.cells(columns) > _INT64:
            table = np.clip(_centered(table.astype(object)) * weight, -_INT64, _INT64)
            table = np.asarray(table, dtype=np.int64)
        else:
            table = _centered(table) * np.int64(weight)
        parts.append(table.ravel())
    return np.concatenate(parts)


def _joint(marginals: Marginals, columns: Set, known: Collection[Set]) -> Set:
    """Return columns whose small joint table has many tables within it: rows are read once."""
    missing = [set(each) for each in marginals.protected if each not in known]
    joint = set(columns)
    while True:
        room = _JOINT_CELLS // marginals.cells(tuple(joint))
        fitting = [
            column
            for column, size in enumerate(marginals.sizes)
            if column not in joint and size <= room
        ]
        if not fitting:
            return tuple(sorted(joint))
        joint.add(max(fitting, key=lambda each: sum(table <= joint | {each} for table in missing)))


def _left_out(joint: Set, columns: Set) -> Set:
    return tuple(at for at, column in enumerate(joint) if column not in columns)


def _grouped(
    marginals: Marginals, columns: Set, places: Places, counts: NDArray[np.int64]
) -> NDArray[np.int64]:
    cell = np.zeros(len(counts), dtype=np.int64)
    for column in columns:
        cell *= marginals.sizes[column]
        cell += places[column]
    # Doubles are exact: a table has at most as many rows as the data, which are below 2^53.
    table = np.bincount(cell, weights=counts, minlength=marginals.cells(columns))
    return table.astype(np.int64).reshape(marginals.shape(columns))


def _centered(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return ``n_A`` times the residual, in integers."""
    for axis, size in enumerate(table.shape):
        table = table * size - table.sum(axis=axis, keepdims=True)
    return table


def reconstructed(marginals: Marginals, noisy: NDArray[np.float64]) -> Tables:
    """Return the marginal of each protected set, unbiased, from the noisy integers.

    All agree with each other to the last digit.
    """
    residuals = _residuals(marginals, noisy)
    means = {each: _mean(marginals, residuals, each) for each in marginals.protected}
    largest = max(float(np.abs(each).sum()) for each in means.values())
    bits = min(_FINEST, _EXACT_BITS - max(math.frexp(largest)[1], 0))
    rounded: dict[Set, NDArray[np.int64]] = {}
    for columns, table in means.items():
        whole = np.rint(np.ldexp(table, bits)).astype(np.int64)
        for axis in range(len(columns)):
            smaller = rounded[columns[:axis] + columns[axis + 1 :]]
            # A view of the same numbers, with this column in front.
            turned = np.moveaxis(whole, axis, 0)
            turned[0] = smaller - turned[1:].sum(axis=0)
        rounded[columns] = whole
    step = math.ldexp(1.0, -bits)
    return {columns: table.astype(np.float64) * step for columns, table in rounded.items()}


def _residuals(marginals: Marginals, noisy: NDArray[np.float64]) -> Tables:
    residuals: Tables = {}
    start = 0
    for columns, weight in zip(marginals.protected, marginals.weights, strict=True):
        cells = marginals.cells(columns)
        table = noisy[start : start + cells].reshape(marginals.shape(columns)) / (weight * cells)
        for axis in range(len(columns)):
            table = table - table.mean(axis=axis, keepdims=True)
        residuals[columns] = table
        start += cells
    return residuals


def _mean(marginals: Marginals, residuals: Tables, columns: Set) -> NDArray[np.float64]:
    """Return the sum of ``R_A / n_(B - A)``, before it is rounded."""
    table = np.zeros(marginals.shape(columns))
    for each in subsets_of(columns):
        shape = [marginals.sizes[column] if column in each else 1 for column in columns]
        share = marginals.cells(columns) // marginals.cells(each)
        table += residuals[each].reshape(shape) / share
    return table
