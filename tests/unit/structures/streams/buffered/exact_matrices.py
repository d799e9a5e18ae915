"""Provide the matrices of a buffered stream in exact fractions, entry by entry."""

from fractions import Fraction
from itertools import pairwise

import numpy as np

from penstock.structures.streams.buffered.encoder import Encoder


def strategy(matrix: Encoder, steps: int) -> list[Fraction]:
    """Return the first column of ``R``: 1, then the weighted sum of the buffers' powers."""
    terms = list(zip(matrix.weights, matrix.kept, strict=True))
    later = [
        sum((weight * kept**power for weight, kept in terms), Fraction(0))
        for power in range(steps - 1)
    ]
    return [Fraction(1), *later]


def decoder(matrix: Encoder, steps: int) -> list[Fraction]:
    """Return the first column of ``L``, with which ``L R`` is the running sums."""
    entries = strategy(matrix, steps)
    found: list[Fraction] = []
    for place in range(steps):
        known = (entries[i] * found[place - i] for i in range(1, place + 1))
        found.append(1 - sum(known, Fraction(0)))
    return found


def of_noise(matrix: Encoder, steps: int) -> np.ndarray:
    """Return ``M`` in fractions: buffers and total after ``steps``, for each step's noise."""
    totals = decoder(matrix, steps)
    drawn = [totals[0], *(b - a for a, b in pairwise(totals))]
    rows = []
    for kept in matrix.kept:
        buffer, row = Fraction(0), []
        for entry in drawn:
            buffer = buffer * kept + entry
            row.append(buffer)
        rows.append(row[::-1])
    return np.array([*rows, totals[::-1]], dtype=object)
