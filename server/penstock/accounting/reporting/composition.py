"""Add up independent privacy losses on one grid.

The rule this module keeps: what is cut off above becomes an infinite loss, and what is
cut off below is raised to the least loss that is kept; masses are upper bounds of the exact
ones (``convolution``).  So no divergence of a sum falls below the exact one, and the masses may
come to a little more than 1.
"""

import heapq
import importlib
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Final, Self

import numpy as np

from penstock.accounting.reporting.convolution import convolved, rounded_up
from penstock.mechanisms.loss_table import FloatVector, LossTable

LATE: Final = ("scipy.special", "scipy.signal")
"""Modules that are slow to import, and that only commands that compose losses need."""


@dataclass(frozen=True)
class LossSum:
    """Hold a privacy-loss distribution: ``masses[i]`` at ``(first + i) * width``."""

    width: float
    first: int
    masses: FloatVector
    infinite: float

    @classmethod
    def of(cls, table: LossTable) -> Self:
        """Return the distribution of one coordinate."""
        return cls(table.width, *table.dense(), table.infinite)

    def plus(self, other: "LossSum", tail: float) -> "LossSum":
        """Return the sum of both losses, with up to ``tail`` mass moved up."""
        infinite = self.infinite + other.infinite - self.infinite * other.infinite
        masses = convolved(self.masses, other.masses, tail)
        first = self.first + other.first
        return LossSum(self.width, first, masses, min(rounded_up(infinite, 4), 1.0)).trimmed(tail)

    def times(self, copies: int, tail: float) -> "LossSum":
        """Return the sum of ``copies`` such losses, with up to ``tail`` mass moved up.

        It is computed by doubling. What is cut off a power counts as often as the power is used, so
        each power is cut by as large a part of ``tail`` as the power is of ``copies``.
        """
        each = tail / (2 * copies.bit_length())
        power, together = self, None
        for bit in range(copies.bit_length()):
            if copies >> bit & 1:
                together = power if together is None else together.plus(power, each)
            if copies >> (bit + 1):
                power = power.plus(power, each * 2.0 ** (bit + 1) / copies)
        return together or self

    def trimmed(self, tail: float) -> "LossSum":
        """Return these losses without the outermost, of up to ``tail`` mass together."""
        below = int(np.searchsorted(np.cumsum(self.masses), tail / 2))
        below = min(below, len(self.masses) - 1)  # hardly any loss is finite
        above = int(np.searchsorted(np.cumsum(self.masses[::-1]), tail / 2))
        end = max(len(self.masses) - above, below + 1)
        kept = self.masses[below:end].copy()
        kept[0] = rounded_up(float(self.masses[: below + 1].sum()), below + 1)
        cut = float(self.masses[end:].sum())
        infinite = rounded_up(self.infinite + cut, len(self.masses) - end + 1)
        return LossSum(self.width, self.first + below, kept, min(infinite, 1.0))

    def table(self) -> LossTable:
        """Return the upper half of the sum, which is symmetric."""
        start = 1 - self.first
        upper = self.masses[start:] if start >= 0 else np.append(np.zeros(-start), self.masses)
        return LossTable(self.width, upper, self.infinite)


def import_late() -> None:
    """Import what the first composition would import, ahead of it."""
    for name in LATE:
        importlib.import_module(name)


def total_of(sums: Iterable[LossSum], tail: float) -> LossSum:
    """Add up all ``sums``, the shortest first; each step moves up to ``tail`` mass."""
    order = count()
    heap = [(len(loss_sum.masses), next(order), loss_sum) for loss_sum in sums]
    heapq.heapify(heap)
    while len(heap) > 1:
        joined = heapq.heappop(heap)[2].plus(heapq.heappop(heap)[2], tail)
        heapq.heappush(heap, (len(joined.masses), next(order), joined))
    return heap[0][2]
