"""Provide Honaker's estimator from below: a baseline that the other trees are measured against.

Honaker 2015 (*Efficient Use of Differentially Private Binary Trees*): a node of a binary tree
is told by its own noisy sum and by those of its children together; averaging them by their
precision takes up to half of the variance off.  All nodes stay in the state.
"""

import math
from fractions import Fraction

import numpy as np

from penstock.structures.factorization.matrices import (
    Factorization,
    FloatMatrix,
    IntMatrix,
    column_sensitivity,
)
from penstock.structures.streams.forest import check_length


def height_of(length: int) -> int:
    """Return the levels of the tree, without its root, over ``length`` steps."""
    check_length(length)
    return math.ceil(math.log2(length + 1))


def node_variance(level: int) -> Fraction:
    """Return the variance of a node's estimate over that of its noise; leaves are level 0."""
    return Fraction(1 << level, (1 << (level + 1)) - 1)


def variance_weight(step: int) -> Fraction:
    """Return the variance of output ``step`` over that of one node: a node for each of its ones."""
    levels = (level for level in range(step.bit_length()) if step >> level & 1)
    return sum((node_variance(level) for level in levels), Fraction(0))


def mean_weight(length: int) -> float:
    """Return the mean of ``variance_weight`` over all steps: bit by bit, so for any length."""
    check_length(length)
    total = 0.0
    for level in range(length.bit_length()):
        block = 1 << level
        periods, rest = divmod(length + 1, 2 * block)
        total += float(node_variance(level)) * (periods * block + max(rest - block, 0))
    return total / length


def largest_weight(length: int) -> float:
    """Return the largest of ``variance_weight`` over all steps."""
    check_length(length)
    best, above = 0.0, 0.0
    for level in range(length.bit_length() - 1, -1, -1):
        if length >> level & 1:
            # Any step that is smaller from this bit on may have all ones below.
            below = sum(float(node_variance(each)) for each in range(level))
            best = max(best, above + below)
            above += float(node_variance(level))
    return max(best, above)


def honaker(length: int) -> Factorization:
    """Return the baseline as a factorization, over the tree's full ``2^h - 1`` steps or fewer.

    Needs memory for the square of ``length``.  Raises ``InvalidInput`` for a length below 1.
    """
    height = height_of(length)
    rows: list[tuple[int, int]] = [
        (start, 1 << level)
        for level in range(height)
        for start in range(0, 1 << height, 1 << level)
    ]
    place = {row: number for number, row in enumerate(rows)}
    strategy: IntMatrix = np.zeros((len(rows), length), dtype=np.int64)
    for number, (start, size) in enumerate(rows):
        strategy[number, start : start + size] = 1
    decoder: FloatMatrix = np.zeros((length, len(rows)))
    for step in range(1, length + 1):
        start = 0
        for level in range(height - 1, -1, -1):
            if step >> level & 1:
                _estimate(decoder[step - 1], place, start, level, 1.0)
                start += 1 << level
    return Factorization(strategy, 0, decoder, column_sensitivity(strategy, 0))


def _estimate(
    row: FloatMatrix, place: dict[tuple[int, int], int], start: int, level: int, share: float
) -> None:
    """Add ``share`` of the best estimate from below of the node at ``start`` to ``row``."""
    own = float(node_variance(level))
    row[place[start, 1 << level]] += share * own
    if level > 0:
        for child in (start, start + (1 << (level - 1))):
            _estimate(row, place, child, level - 1, share * (1 - own))
