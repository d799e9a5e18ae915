"""Sums of independent privacy losses on one grid.

The rule this module keeps: what is cut off above becomes an infinite loss, and what is
cut off below is raised to the least loss that is kept.
"""

import heapq
import importlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import count
from typing import Final, Self

import numpy as np

from penstock.mechanisms.loss_table import FloatVector, LossTable

LATE: Final = ("scipy.special", "scipy.signal", "dp_accounting.pld.common")
"""What takes a second to import, and what a command that composes nothing can do without."""


@dataclass(frozen=True)
class LossSum:
    """A privacy-loss distribution: ``masses[i]`` at ``(first + i) * width``."""

    width: float
    first: int
    masses: FloatVector
    infinite: float

    @classmethod
    def of(cls, table: LossTable) -> Self:
        """The distribution of one coordinate."""
        return cls(table.width, *table.dense(), table.infinite)

    def plus(self, other: "LossSum", tail: float) -> "LossSum":
        """Both losses together, with up to ``tail`` mass moved up."""
        from scipy.signal import fftconvolve  # imported late: slow to import

        return LossSum(
            self.width,
            self.first + other.first,
            fftconvolve(self.masses, other.masses),
            self.infinite + other.infinite - self.infinite * other.infinite,
        ).trimmed(tail)

    def times(self, copies: int, tail: float) -> "LossSum":
        """``copies`` such losses together, with up to ``tail`` mass moved up."""
        if copies == 1:
            return self
        from dp_accounting.pld.common import self_convolve  # imported late: takes a second

        start, masses = self_convolve(self.masses, copies, tail / 2)
        infinite = -math.expm1(copies * math.log1p(-self.infinite)) + tail / 2
        return LossSum(
            self.width, self.first * copies + start, np.asarray(masses), infinite
        ).trimmed(tail / 2)

    def trimmed(self, tail: float) -> "LossSum":
        """Without the outermost losses that together have up to ``tail`` mass."""
        below = int(np.searchsorted(np.cumsum(self.masses), tail / 2))
        above = int(np.searchsorted(np.cumsum(self.masses[::-1]), tail / 2))
        end = max(len(self.masses) - above, below + 1)
        kept = self.masses[below:end].copy()
        kept[0] += self.masses[:below].sum()
        infinite = self.infinite + float(self.masses[end:].sum())
        return LossSum(self.width, self.first + below, kept, infinite)

    def table(self) -> LossTable:
        """The upper half, of a sum that is symmetric."""
        start = 1 - self.first
        upper = self.masses[start:] if start >= 0 else np.append(np.zeros(-start), self.masses)
        return LossTable(self.width, upper, self.infinite)


def import_late() -> None:
    """Import what the first composition would, for whoever has the time before that."""
    for name in LATE:
        importlib.import_module(name)


def total_of(sums: Iterable[LossSum], tail: float) -> LossSum:
    """All of ``sums`` together, the shortest first; each step moves up to ``tail`` mass."""
    order = count()
    heap = [(len(loss_sum.masses), next(order), loss_sum) for loss_sum in sums]
    heapq.heapify(heap)
    while len(heap) > 1:
        joined = heapq.heappop(heap)[2].plus(heapq.heappop(heap)[2], tail)
        heapq.heappush(heap, (len(joined.masses), next(order), joined))
    return heap[0][2]
