"""Release counts of bins as sums over a tree of bins, and read running sums from them.

The nodes of a level are the sums of 1, 4, 16, ... bins that follow each other, up to the level that
has two to four of them; the sum of all bins is no node.  Every bin is in one node of each level.

Each node is released with independent noise of one variance.  The best linear unbiased estimate
(generalized least squares) of the running sum up to each bin, and of the sum of all, is computed in
one pass from the bins upwards.  Of a node let ``T`` be the sum, estimated from the nodes below it,
and ``P`` the running sum within it, with ``V = Var T``, ``A = Var P`` and ``C = Cov(P, T)``.  The
node's own release ``y``, with noise of variance 1, corrects them (Kalman 1960):

    T' = T + V (y - T) / (V + 1)        V' = V / (V + 1)
    P' = P + C (y - T) / (V + 1)        A' = A - C^2 / (V + 1)      C' = C / (V + 1)

and a parent adds what is before the child.  Four branches are nearly as good for every number of
bins as the square root of the matrix of sums, and better than it for noise that is charged by l1;
``connectors/README.md`` has the figures.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

BRANCHES = 4

Counts = NDArray[np.int64]
Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Running:
    """Hold estimated running sums.

    ``sums`` are those up to and with each bin, of the shape ``(groups, bins)``; ``totals`` the sums
    of all bins, ``(groups,)``.
    """

    sums: Numbers
    totals: Numbers


@dataclass(frozen=True)
class Spread:
    """Hold the variances of estimated running sums, in units of the variance of one node's noise.

    ``sums`` are those of the running sums and ``mixed`` their covariances with the total, both of
    the shape ``(bins,)``; ``total`` is the variance of the total.
    """

    sums: Numbers
    mixed: Numbers
    total: float

    def around(self, share: Numbers | float) -> Numbers:
        """Return the variances of the running sums less ``share`` times the total."""
        return np.maximum(self.sums - 2 * share * self.mixed + share**2 * self.total, 0)


@dataclass(frozen=True)
class BinTree:
    """Represent the tree over ``bins`` bins, at least two; it depends on nothing else."""

    bins: int

    @cached_property
    def widths(self) -> tuple[int, ...]:
        """Return the number of bins of a node at each level, from the bins upwards."""
        widths = [1]
        while -(-self.bins // widths[-1]) > BRANCHES:
            widths.append(widths[-1] * BRANCHES)
        return tuple(widths)

    @property
    def levels(self) -> int:
        """Return the number of levels, which is that of the nodes that one bin is in."""
        return len(self.widths)

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Return the number of nodes of each level."""
        return tuple(-(-self.bins // width) for width in self.widths)

    @property
    def size(self) -> int:
        """Return the number of all nodes."""
        return sum(self.sizes)

    @property
    def spans(self) -> list[tuple[int, int, int]]:
        """Return the width of each node's level, its first bin, and the one after its last."""
        return [
            (width, first, min(first + width, self.bins))
            for width in self.widths
            for first in range(0, self.bins, width)
        ]

    def nodes(self, counts: Counts) -> Counts:
        """Return the sums of all nodes, ``(groups, size)``, of counts ``(groups, bins)``."""
        levels = [
            np.add.reduceat(counts, range(0, self.bins, width), axis=1) for width in self.widths
        ]
        return np.concatenate(levels, axis=1)

    def running(self, released: Numbers) -> Running:
        """Estimate the running sums from the nodes with their noise, ``(groups, size)``."""
        levels = np.split(released, np.cumsum(self.sizes)[:-1], axis=1)
        totals = levels[0]
        sums = totals.copy()
        for level, own in enumerate(levels[1:], 1):
            sums += self._before(totals, level)
            totals = np.add.reduceat(totals, self._firsts(level), axis=1)
            mixed, variances = self._passes[level]
            rest = (own - totals) / (variances + 1)
            sums += mixed * rest[:, self._places(level)]
            totals = totals + variances * rest
        sums += self._before(totals, self.levels)
        whole = totals.sum(axis=1)
        sums[:, -1] = whole  # which it is but for rounding
        return Running(sums, whole)

    @cached_property
    def spread(self) -> Spread:
        """Return the variances of what ``running`` estimates."""
        sums, totals = np.ones(self.bins), np.ones(self.bins)
        for level in range(1, self.levels):
            mixed, variances = self._passes[level]
            sums += self._before(totals[None], level)[0]
            sums -= mixed**2 / (variances[self._places(level)] + 1)
            totals = variances / (variances + 1)
        before = self._before(totals[None], self.levels)[0]
        last, _ = self._passes[self.levels]
        return Spread(sums + before, last, float(totals.sum()))

    @cached_property
    def _passes(self) -> dict[int, tuple[Numbers, Numbers]]:
        """Return ``C`` of each bin and ``V`` of each node before the node's own release, by level.

        Beyond the last level stands the sum of all bins, which is no node.
        """
        mixed, totals = np.ones(self.bins), np.ones(self.bins)
        passes = {}
        for level in range(1, self.levels + 1):
            mixed = mixed + self._before(totals[None], level)[0]
            firsts = self._firsts(level) if level < self.levels else [0]
            variances = np.add.reduceat(totals, firsts)
            passes[level] = (mixed, variances)
            if level < self.levels:
                mixed = mixed / (variances[self._places(level)] + 1)
                totals = variances / (variances + 1)
        return passes

    def _firsts(self, level: int) -> range:
        """Return the place of the first child of each node of a level."""
        return range(0, self.sizes[level - 1], BRANCHES)

    def _places(self, level: int) -> NDArray[np.int64]:
        """Return the node of a level that each bin is in."""
        return np.arange(self.bins) // self.widths[level]

    def _before(self, totals: Numbers, level: int) -> Numbers:
        """Return, for each bin, the sum of its node's children before its own."""
        children = self._places(level - 1)
        sums = np.concatenate([np.zeros((len(totals), 1)), np.cumsum(totals, axis=1)], axis=1)
        before: Numbers = sums[:, children]
        if level < self.levels:
            before = before - sums[:, self._places(level) * BRANCHES]
        return before
