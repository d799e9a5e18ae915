"""Provide correct and faulty sparse histograms, and the exact law of the keys they report."""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray
from tests.oracles.dense_histogram import DenseHistogram

from penstock.mechanisms import Gaussian, IntVector
from penstock.privacy import Ladder
from penstock.randomness import Stream
from penstock.randomness.choice import distinct_below
from penstock.structures.sparse_histogram import SparseHistogram, Thresholds, Uint64
from penstock.structures.sparse_histogram.plan import FEWEST_STEPS

MECHANISM = Gaussian(Fraction(1, 1 << 20))
COARSE = Gaussian(Fraction(1, 1 << FEWEST_STEPS))
"""On the coarsest lattice that is planned."""

CEILING = 0


def ladder_of(mechanism: Gaussian) -> Ladder:
    """Return a ladder from variance 1 on, doubled every 8 rungs.

    It is in squared steps of the mechanism's lattice.
    """
    lattice = mechanism.granularity**2
    return Ladder(int(1 / lattice), lattice, 40, 8)


LADDER = ladder_of(MECHANISM)
"""On steps of a millionth: the lattice does not show."""


@dataclass(frozen=True)
class Course:
    """Hold a domain, its counts by rank, and the rungs in the order of their release."""

    size: int
    counts: dict[int, int]
    chance: float
    rungs: tuple[int, ...]
    mechanism: Gaussian = MECHANISM

    @property
    def ladder(self) -> Ladder:
        return ladder_of(self.mechanism)

    @property
    def thresholds(self) -> Thresholds:
        granularity = self.mechanism.granularity
        return Thresholds(self.ladder, granularity, self.size, {0: self.chance * self.size})

    def make(
        self, kind: "type[SparseHistogram | DenseHistogram]", streams: Callable[[], Stream]
    ) -> "SparseHistogram | DenseHistogram":
        ranks = np.array(list(self.counts), dtype=np.uint64)
        counts = np.array(list(self.counts.values()), dtype=np.int64)
        return kind(
            self.mechanism,
            self.thresholds,
            Uint64(self.size),
            ranks,
            counts,
            CEILING,
            streams=streams,
        )

    def seen(self, held: SparseHistogram | DenseHistogram) -> NDArray[np.int64]:
        """Return by key the rungs that reported it, as bits in increasing order: shape (size,)."""
        place = {rung: bit for bit, rung in enumerate(sorted(self.rungs))}
        patterns = np.zeros(self.size, dtype=np.int64)
        for rung in self.rungs:
            # Twice the same key in a report is twice its bit, and shows as another pattern.
            np.add.at(patterns, held.at(rung).ranks.astype(np.int64), 1 << place[rung])
        return patterns

    def law(self, count: int) -> NDArray[np.float64]:
        """Return the probability of each pattern of a key with this count: shape (2^rungs,)."""
        rungs = sorted(self.rungs)
        cuts = tuple(float(self.thresholds.at(rung)) - count for rung in rungs)
        variances = tuple(float(self.ladder.value(rung)) for rung in rungs)
        return orthants(variances, cuts)


@cache
def orthants(variances: tuple[float, ...], cuts: tuple[float, ...]) -> NDArray[np.float64]:
    """Return the law of which cuts a Brownian motion is above at these variances.

    It is computed by Riemann sums.
    """
    grids = [np.linspace(-9, 9, 1201) * math.sqrt(v) for v in variances]
    found = np.zeros(1 << len(cuts))
    for above in itertools.product((0, 1), repeat=len(cuts)):
        mass = np.ones(1)
        at, before = np.zeros(1), 0.0
        for grid, variance, cut, up in zip(grids, variances, cuts, above, strict=True):
            step = grid[1] - grid[0]
            kernel = np.exp((grid[:, None] - at) ** 2 / (-2 * (variance - before)))
            mass = kernel @ mass * step / math.sqrt(2 * math.pi * (variance - before))
            share = np.clip((grid - cut) / step + 0.5, 0, 1)
            mass = mass * (share if up else 1 - share)
            at, before = grid, variance
        bits = sum(up << bit for bit, up in enumerate(above))
        found[bits] = mass.sum()
    found /= found.sum()
    return found


class Redrawing(SparseHistogram):
    """Ask at a new level which noise is above, not which silent noise is: broken."""

    def _draw(self, rung: int) -> None:
        released, self._limits = self._limits, {}
        super()._draw(rung)
        self._limits = released | self._limits

    def _join(
        self, path: dict[int, IntVector], joined: dict[int, IntVector], stream: Stream
    ) -> None:
        new = max(joined)
        for rung in sorted(set(path) - set(joined)):
            level, at_new = self._level(rung), self._level(new)
            if rung > new:
                size = len(joined[new])
                joined[rung] = joined[new] + self.mechanism.increment(at_new, level, size, stream)
            else:
                noise = joined[new]
                joined[rung] = self.mechanism.bridge(Fraction(0), at_new, noise, level, stream)
        super()._join(path, joined, stream)


class Repeating(SparseHistogram):
    """Leave keys in that noise is kept for already: broken."""

    def _join(
        self, path: dict[int, IntVector], joined: dict[int, IntVector], stream: Stream
    ) -> None:
        size = len(next(iter(joined.values())))
        ranks = distinct_below(self.domain.size, size, stream)
        merged = np.concatenate([self._ranks, ranks])
        sorting = np.argsort(merged, kind="stable")
        self._ranks = merged[sorting]
        for rung in path:
            path[rung] = np.concatenate([path[rung], joined[rung]])[sorting]


class Forgetting(SparseHistogram):
    """Forget the noise at the levels before of a key that joins: broken."""

    def _join(
        self, path: dict[int, IntVector], joined: dict[int, IntVector], stream: Stream
    ) -> None:
        (new,) = set(path) - set(self._path) or {self.ceiling}
        for rung in joined:
            if rung != new:
                joined[rung] = np.minimum(joined[rung], 0)
        super()._join(path, joined, stream)
