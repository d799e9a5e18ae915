"""Decide exactly whether the rows of one matrix are combinations of those of another.

``W = L A`` has a solution if and only if every ``x`` with ``A x = 0`` has ``W x = 0``.  So whole
numbers that span the kernel of ``A`` are computed without division that leaves a rest (Bareiss
1968, as Gauss and Jordan eliminate), and ``W`` is applied to them.  That the kernel is nothing but
0 is seen sooner: the rank over a prime is never above the rank.
"""

from functools import lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from penstock.structures.factorization.rows import Given, Rows, Spans

_PRIME: Final = 2**31 - 1
"""Products of two residues have 62 bits."""

Exact = NDArray[Any]


def kernel(matrix: NDArray[np.int64]) -> Exact:
    """Return whole numbers that span all ``x`` with ``matrix x = 0``: shape ``(size, nullity)``."""
    independent = _independent(matrix)
    if len(independent) == matrix.shape[1]:
        return np.zeros((matrix.shape[1], 0), dtype=object)
    whole = matrix.astype(object)
    basis = _kernel(whole[independent])
    # Rows that are combinations of others over the prime alone are in no basis of this one.
    return basis if not (whole @ basis).any() else _kernel(whole)


def rank(matrix: NDArray[np.int64]) -> int:
    """Return the rank over the rational numbers."""
    return int(matrix.shape[1] - kernel(matrix).shape[1])


@lru_cache(maxsize=256)
def outside(queries: Rows, strategy: Rows) -> int | None:
    """Return the first row of ``queries`` that is no combination of ``strategy``'s; or None."""
    if isinstance(strategy, Spans):
        if strategy.name != "total":
            # Each key is a row, or a combination of rows.
            return None
        width = np.eye(strategy.size, dtype=np.int64)[:, 1:]
        width[0] = -1
        missed = queries.times(width, 0) if strategy.size > 1 else np.zeros((queries.count, 1))
    elif isinstance(strategy, Given):
        missed = queries.times(kernel(strategy.matrix), 0)
    else:
        raise TypeError(f"{type(strategy).__name__} are no rows of a strategy")
    rows = np.flatnonzero(missed.astype(bool).any(axis=1))
    return int(rows[0]) if len(rows) else None


def _independent(matrix: NDArray[np.int64]) -> list[int]:
    """Return rows that are independent over the prime, as many as there are."""
    left = matrix % _PRIME
    places = np.arange(len(left))
    rows: list[int] = []
    for column in range(left.shape[1]):
        done = len(rows)
        candidates = np.flatnonzero(left[done:, column])
        if not len(candidates):
            continue
        chosen = done + int(candidates[0])
        left[[done, chosen]], places[[done, chosen]] = left[[chosen, done]], places[[chosen, done]]
        inverse = pow(int(left[done, column]), -1, _PRIME)
        left[done] = left[done] * inverse % _PRIME
        multiples = left[done + 1 :, column, None] * left[done] % _PRIME
        left[done + 1 :] = (left[done + 1 :] - multiples) % _PRIME
        rows.append(int(places[done]))
        if len(rows) == len(left):
            break
    return rows


def _kernel(rows: Exact) -> Exact:
    """Return the kernel of exact rows by fraction-free elimination."""
    left, size = rows.copy(), rows.shape[1]
    pivots: list[int] = []
    divisor = 1
    for column in range(size):
        done = len(pivots)
        chosen = next((row for row in range(done, len(left)) if left[row, column]), None)
        if chosen is None:
            continue
        left[[done, chosen]] = left[[chosen, done]]
        pivot = left[done, column]
        others = np.arange(len(left)) != done
        multiples = left[others, column, None] * left[done]
        # Every quotient is a determinant of whole numbers.
        left[others] = (left[others] * pivot - multiples) // divisor
        divisor = pivot
        pivots.append(column)
    free = [column for column in range(size) if column not in pivots]
    basis = np.zeros((size, len(free)), dtype=object)
    for place, column in enumerate(free):
        basis[column, place] = divisor
        for row, pivot in enumerate(pivots):
            basis[pivot, place] = -left[row, column]
    return basis
