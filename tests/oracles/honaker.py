"""Provide Honaker's estimator from below as a factorization, to hold its closed forms against."""

from fractions import Fraction

import numpy as np

from penstock.experiments.honaker import height_of, node_variance
from penstock.structures.factorization.matrices import (
    Factorization,
    FloatMatrix,
    IntMatrix,
    column_sensitivity,
)


def variance_weight(step: int) -> Fraction:
    """Return the variance of output ``step`` over that of one node: a node for each of its ones."""
    levels = (level for level in range(step.bit_length()) if step >> level & 1)
    return sum((node_variance(level) for level in levels), Fraction(0))


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
