"""Release a thresholded histogram over a huge domain, at any levels in any order.

It has the law of the dense one (Andersson, Retschmeier, Nelson, Pagh 2025, Algorithm 3), as
their Algorithm 6 has for levels of increasing accuracy, and never looks at a key that is
neither in the support nor reported.  The number of keys of count 0 that a level adds is
binomial, which keys they are is uniform, and their noise at every level follows from the
messages of ``crossing``, or from ``exact_crossing`` if it is Laplace noise.  From then on they are
treated like the support's.
"""

from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Self

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.multiple_release import draw_anchor, place
from penstock.mechanisms.process import IntVector
from penstock.randomness.binomial import binomial
from penstock.randomness.choice import distinct_below
from penstock.randomness.poisson import poisson
from penstock.randomness.stream import Stream
from penstock.structures.sparse_histogram.contents import (
    KeyNoise,
    Ranks,
    Report,
    check_rung,
    report_of,
    support_of,
)
from penstock.structures.sparse_histogram.crossing import Crossing, crossing_of
from penstock.structures.sparse_histogram.domain import Domain
from penstock.structures.sparse_histogram.exact_crossing import Bar, ExactCrossing
from penstock.structures.sparse_histogram.messages import Limit
from penstock.structures.sparse_histogram.threshold import LaplaceThresholds, Thresholds

POISSON_FROM = 1 << 40
"""The number of keys from which on a Poisson law replaces the binomial one."""


class SparseHistogram:
    """Hold one histogram on one path of Gaussian or Laplace noise, in memory.

    The exact counts are dropped at construction; the exact set of keys that are not 0 is kept.
    Only one process at a time may hold a histogram: two would draw the same level twice.
    """

    def __init__(
        self,
        mechanism: KeyNoise,
        thresholds: Thresholds,
        domain: Domain,
        ranks: Ranks,
        counts: NDArray[np.generic],
        ceiling: int,
        *,
        streams: Callable[[], Stream] = Stream.fresh,
    ) -> None:
        """Draw the support's noise at the rung ``ceiling``, the most accurate to be released.

        ``mechanism`` and the ladder of ``thresholds``, which are ``LaplaceThresholds`` for Laplace
        noise, come from ``plan``, or from that of ``Laplace``; ``ranks`` and
        ``counts``, of one shape ``(keys,)``, are the keys that are not 0, in any order.
        Raises ``InvalidInput`` for keys given twice or out of the domain, for counts off the
        lattice, and for thresholds of another domain or lattice.
        """
        known, exact = support_of(domain, ranks, counts, mechanism.granularity)
        level = thresholds.ladder.value(ceiling)
        anchor = draw_anchor(mechanism, exact, level, streams()) if len(known) else exact
        self._hold(mechanism, thresholds, domain, streams)
        self._ranks, self._path = known, {ceiling: anchor}
        self._limits: dict[int, int] = {}

    @classmethod
    def restored(
        cls,
        mechanism: KeyNoise,
        thresholds: Thresholds,
        domain: Domain,
        ranks: Ranks,
        path: dict[int, IntVector],
        limits: dict[int, int],
        *,
        streams: Callable[[], Stream] = Stream.fresh,
    ) -> Self:
        """Return the histogram of a stored state: ``ranks``, ``path`` and ``limits``."""
        histogram = cls.__new__(cls)
        histogram._hold(mechanism, thresholds, domain, streams)  # noqa: SLF001 - of this class
        histogram._ranks, histogram._path, histogram._limits = ranks, path, limits  # noqa: SLF001 - as above
        return histogram

    def _hold(
        self,
        mechanism: KeyNoise,
        thresholds: Thresholds,
        domain: Domain,
        streams: Callable[[], Stream],
    ) -> None:
        if isinstance(mechanism, Laplace) != isinstance(thresholds, LaplaceThresholds):
            raise InvalidInput(
                f"The thresholds are not those of {mechanism.name} noise. Use Thresholds for"
                " gaussian and LaplaceThresholds for laplace noise."
            )
        if (thresholds.size, thresholds.granularity) != (domain.size, mechanism.granularity):
            raise InvalidInput(
                f"The thresholds are those of {thresholds.size} keys in steps of"
                f" {thresholds.granularity}, but the histogram has {domain.size} keys in steps of"
                f" {mechanism.granularity}. Use the thresholds of this domain and lattice."
            )
        self.mechanism, self.thresholds, self.domain = mechanism, thresholds, domain
        self._streams = streams

    @property
    def ceiling(self) -> int:
        """Return the most accurate rung that may be released."""
        return min(self._path)

    @property
    def ranks(self) -> Ranks:
        """Return all keys with noise in increasing order: secret, the support among them."""
        return self._ranks

    @property
    def path(self) -> dict[int, IntVector]:
        """Return the noisy values of these keys in steps, by rung, always including the ceiling."""
        return dict(self._path)

    @property
    def limits(self) -> dict[int, int]:
        """Return the threshold in steps of every released rung."""
        return dict(self._limits)

    def at(self, rung: int) -> Report:
        """Return the keys above the threshold at ``rung`` and their values, the same every time.

        Raises ``InvalidInput`` for a rung more accurate than the ceiling, or off the ladder.
        """
        check_rung(rung, self.ceiling, self.thresholds.ladder)
        if rung not in self._limits:
            self._draw(rung)
        granularity = self.mechanism.granularity
        return report_of(rung, self._ranks, self._path[rung], self._limits[rung], granularity)

    def _draw(self, rung: int) -> None:
        """Draw the noise of the known keys, then the keys of count 0 that join them."""
        stream = self._streams()
        path, threshold = dict(self._path), self.thresholds.steps(rung)
        if rung not in path:
            path[rung] = self._placed(rung, stream)
        noise = self._reported(rung, threshold, stream)
        if noise.shape[1]:
            rungs = sorted([*self._rungs, rung])
            joined = dict(zip(rungs, noise, strict=True))
            if self.ceiling not in joined:
                joined[self.ceiling] = self._at_ceiling(rungs[0], noise[0], stream)
            self._join(path, joined, stream)
        self._path, self._limits = path, self._limits | {rung: threshold}

    def _reported(self, rung: int, threshold: int, stream: Stream) -> IntVector:
        """Draw the keys of count 0 that join, by their noise: shape ``(levels, keys)``."""
        if isinstance(self.mechanism, Laplace):
            bars = [Bar(self._level(known), self._limits[known]) for known in self._rungs]
            exact = ExactCrossing(self.mechanism, bars, Bar(self._level(rung), threshold))
            return exact.draw(self.domain.size - len(self._ranks), stream)
        limits = [_limit(self.thresholds, known, self._limits[known]) for known in self._rungs]
        new = _limit(self.thresholds, rung, threshold)
        crossing = crossing_of(tuple(limits), new, self.domain.size)
        count = self._count(crossing.probability, stream)
        return crossing.draw(count, stream) if count else np.empty((1, 0), dtype=np.int64)

    def _placed(self, rung: int, stream: Stream) -> IntVector:
        below = max(known for known in self._path if known < rung)
        above = min((known for known in self._path if known > rung), default=None)
        if not len(self._ranks):
            return np.empty(0, dtype=np.int64)
        return place(
            self.mechanism,
            (self._level(below), self._path[below]),
            None if above is None else (self._level(above), self._path[above]),
            self._level(rung),
            stream,
        )

    def _count(self, chance: float, stream: Stream) -> int:
        """Draw how many of the remaining keys of count 0 are reported now."""
        left = self.domain.size - len(self._ranks)
        if self.domain.size >= POISSON_FROM:
            return min(int(poisson(left * Fraction(chance), 1, stream)[0]), left)
        return int(binomial(np.array([left], dtype=np.int64), Fraction(chance), stream)[0])

    def _at_ceiling(self, rung: int, noise: IntVector, stream: Stream) -> IntVector:
        """Draw the noise at the ceiling if nothing was released there: no limit bounds it."""
        ceiling, level = self._level(self.ceiling), self._level(rung)
        return self.mechanism.bridge(Fraction(0), level, noise, ceiling, stream)

    def _join(
        self, path: dict[int, IntVector], joined: dict[int, IntVector], stream: Stream
    ) -> None:
        """Choose the joining keys uniformly among those without noise, and add their noise."""
        known, size = self._ranks, len(next(iter(joined.values())))
        index = distinct_below(self.domain.size - len(known), size, stream)
        # The known keys before the i-th unknown one are those with at most i unknown before them.
        unknown_before = known - np.arange(len(known), dtype=np.uint64)
        ahead = np.searchsorted(unknown_before, index, side="right")
        ranks = index + ahead.astype(np.uint64)
        merged = np.concatenate([known, ranks])
        sorting = np.argsort(merged, kind="stable")
        self._ranks = merged[sorting]
        for rung in path:
            path[rung] = np.concatenate([path[rung], joined[rung]])[sorting]

    @property
    def _rungs(self) -> list[int]:
        return sorted(self._limits)

    def _level(self, rung: int) -> Fraction:
        return self.thresholds.ladder.value(rung)


def next_crossing(thresholds: Thresholds, released: Iterable[int], rung: int) -> Crossing:
    """Return the crossing that a draw at ``rung`` will need after ``released``.

    It depends on public numbers alone and is remembered, so that a caller who draws under a lock
    can have it computed before.
    """
    limits = (_limit(thresholds, known, thresholds.steps(known)) for known in sorted(released))
    new = _limit(thresholds, rung, thresholds.steps(rung))
    return crossing_of(tuple(limits), new, thresholds.size)


def _limit(thresholds: Thresholds, rung: int, threshold: int) -> Limit:
    """Return the limit of a rung: halfway between its threshold and the next step.

    The threshold is silent, the next step is not.
    """
    variance = thresholds.ladder.value(rung) / thresholds.granularity**2
    return Limit(float(variance), threshold + 0.5)
