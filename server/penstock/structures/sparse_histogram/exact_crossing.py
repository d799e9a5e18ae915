"""Draw the keys of count 0 that are first reported at a new level, under Laplace noise, exactly.

Nothing here is integrated or rounded: every event has its probability as a formula that can be
computed to any digit, so that the keys have the law of one path of discrete Laplace noise for each
key of the domain, given that they were silent so far.  So a histogram is purely private, at delta
0 too.  That absent keys are drawn by their number and places is Cormode, Procopiuk, Srivastava,
Tran 2012, for one level.

With ``C`` the event that a key is above the threshold at the new level, ``A`` that it is silent at
all levels released so far, ``E_i`` that it is above the threshold of the ``i``-th of these, and
``Q`` the sum of their chances, a silent key is reported now with the chance ``P(C and A) / P(A)``.
Neither factor has a simple form, but both are reached by drawing:

1. a key is a candidate with the chance ``P(C) / (1 - Q)``.  The noise of a candidate above the
   threshold is geometric, and its path at the other levels is drawn by ``bridge`` and
   ``increment``;
2. a candidate remains if this path is silent at all levels released so far: chance ``P(A | C)``;
3. it remains with the chance ``(1 - Q) / P(A)``.  This is that of the first of two ways to be
   silent: a path is with the chance ``Q`` one that was drawn above the threshold of some level,
   ``i`` with ``P(E_i) / Q``, and accepted with one over the number of thresholds it is above.  So
   every path that is above some threshold is accepted with its own probability, and all others
   together are silent.  Paths are drawn until one is silent; that it was never above is the event.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import partial

import numpy as np
from numpy.typing import NDArray

from penstock.errors import PenstockError
from penstock.mechanisms.laplace.process import Laplace
from penstock.mechanisms.multiple_release import FARTHEST
from penstock.mechanisms.process import IntVector
from penstock.randomness.bernoulli import PRECISION, Threshold, bernoulli
from penstock.randomness.choice import uniform_below
from penstock.randomness.geometric import Geometric
from penstock.randomness.stream import Stream

LARGEST_SUM = Fraction(1, 4)
"""The largest sum of the chances of one key to be above the thresholds of all its levels."""

BLOCK = 1 << 60
"""Keys are counted in blocks of so many, within the range of a geometric draw."""

CANDIDATES = 1 << 16
"""Candidates whose paths are drawn at a time."""

_AHEAD = Fraction(33, 32)
"""The rate of gaps between candidates, over the chance ``r`` of one.

``1 - exp(-33/32 r)`` is above ``r`` for ``r`` up to 1/30; it is at most 1/192 here.
"""

LARGEST_CHANCE = 1 / 256
"""The largest chance of a key of count 0 to be reported at one level, of at most 64."""

_GUARD_DIGITS = 100
"""Digits that ``1 - exp(-rate)`` may lose: rates are above 2^-200."""


@dataclass(frozen=True)
class Bar:
    """Hold a level, its scale, and the threshold in lattice steps that a value must be above."""

    scale: Fraction
    threshold: int

    def chance(self, granularity: Fraction) -> Decimal:
        """Return the chance of a key of count 0, in the present decimal context."""
        rate = granularity / self.scale
        return _power(rate * (self.threshold + 1)) / (1 + _power(rate))


class ExactCrossing:
    """Represent the keys that were silent at ``released`` and are reported at ``new``.

    Raises ``PenstockError`` for thresholds below 0, and for chances
    that are more than a ``LARGEST_CHANCE`` each or a ``LARGEST_SUM`` together.
    """

    def __init__(self, mechanism: Laplace, released: Sequence[Bar], new: Bar) -> None:
        self._mechanism, self._new = mechanism, new
        self._released = tuple(sorted(released, key=_scale))
        self._bars = tuple(sorted([*released, new], key=_scale))
        with localcontext(PRECISION):
            chances = [bar.chance(mechanism.granularity) for bar in self._bars]
        if min(bar.threshold for bar in self._bars) < 0 or (
            max(chances) > LARGEST_CHANCE or sum(map(Fraction, chances)) > LARGEST_SUM
        ):
            raise PenstockError(
                "Keys of count 0 would be reported too often for them to be drawn by their number:"
                f" with chances of {', '.join(f'{chance:.3g}' for chance in chances)}. Choose"
                " higher thresholds."
            )

    def draw(self, keys: int, stream: Stream) -> IntVector:
        """Draw how many of ``keys`` silent keys are reported, and their noise at every level.

        Returns lattice steps of shape ``(levels, reported)``: rows are in the order of the levels,
        the new one among them.
        """
        place, total = self._bars.index(self._new), self._count(keys, stream)
        parts = [np.empty((len(self._bars), 0), dtype=np.int64)]
        for start in range(0, total, CANDIDATES):
            size = min(CANDIDATES, total - start)
            paths = self._paths(self._bars, place, size, stream)
            silent = np.ones(size, dtype=np.bool_)
            for row, bar in enumerate(self._bars):
                if row != place:
                    silent &= paths[row] <= bar.threshold
            paths = paths[:, silent]
            parts.append(paths[:, self._never_above(paths.shape[1], stream)])
        return np.concatenate(parts, axis=1)

    @property
    def candidate_chance(self) -> Decimal:
        """Return the chance of a silent key to be a candidate, in the present decimal context."""
        granularity = self._mechanism.granularity
        return self._new.chance(granularity) / (1 - self._sum())

    def _sum(self, start: int = 0) -> Decimal:
        granularity = self._mechanism.granularity
        chances = (bar.chance(granularity) for bar in self._released[start:])
        return sum(chances, start=Decimal(0))

    def _count(self, keys: int, stream: Stream) -> int:
        """Draw the number of candidates: gaps between them are geometric, some too short."""
        with localcontext(PRECISION):
            rate = Fraction(float(self.candidate_chance)) * _AHEAD
            remains = partial(self._ratio, rate)
            chance = Threshold.of(remains(), remains)
        gaps, total = Geometric.at_rate(rate), 0
        for start in range(0, keys, BLOCK):
            total += _successes(gaps, float(rate), min(BLOCK, keys - start), stream)
        return int(np.count_nonzero(bernoulli(chance, total, stream)))

    def _ratio(self, rate: Fraction) -> Decimal:
        with localcontext() as context:
            context.prec += _GUARD_DIGITS
            return self.candidate_chance / (1 - _power(rate))

    def _paths(self, bars: Sequence[Bar], place: int, size: int, stream: Stream) -> IntVector:
        """Draw ``size`` paths at all ``bars`` that are above the one at ``place``."""
        mechanism, none = self._mechanism, Fraction(0)
        out = np.empty((len(bars), size), dtype=np.int64)
        above = Geometric.at_rate(mechanism.granularity / bars[place].scale)
        out[place] = above.draw(size, stream) + (bars[place].threshold + 1)
        for row in reversed(range(place)):
            noisy, level = bars[row + 1].scale, bars[row].scale
            out[row] = mechanism.bridge(none, noisy, out[row + 1], level, stream)
        for row in range(place + 1, len(bars)):
            moves = mechanism.increment(bars[row - 1].scale, bars[row].scale, size, stream)
            np.add(out[row - 1], moves, out=out[row])
        return np.clip(out, -FARTHEST, FARTHEST, out=out)

    def _never_above(self, size: int, stream: Stream) -> NDArray[np.bool_]:
        """Draw events of the chance ``(1 - Q) / P(A)``."""
        out = np.ones(size, dtype=np.bool_)
        if not self._released:
            return out
        with localcontext(PRECISION):
            some = Threshold.of(self._sum(), self._sum)
        open_draws = np.arange(size)
        while len(open_draws):
            open_draws = open_draws[bernoulli(some, len(open_draws), stream)]
            others = self._others_above(len(open_draws), stream)
            accepted = uniform_below(others, stream) == 0
            out[open_draws[~accepted]] = False
            open_draws = open_draws[accepted]
        return out

    def _others_above(self, size: int, stream: Stream) -> NDArray[np.uint64]:
        """Draw paths above the threshold of a released level, and count the others they pass."""
        out = np.zeros(size, dtype=np.uint64)
        left = np.arange(size)
        for place in range(len(self._released)):
            with localcontext(PRECISION):
                chosen = Threshold.of(self._part(place), partial(self._part, place))
            here = bernoulli(chosen, len(left), stream)
            at, left = left[here], left[~here]
            paths = self._paths(self._released, place, len(at), stream)
            for row, bar in enumerate(self._released):
                if row != place:
                    out[at] += (paths[row] > bar.threshold).astype(np.uint64)
        return out

    def _part(self, place: int) -> Decimal:
        """Return the chance of the level at ``place``, given that it is none before it."""
        if place == len(self._released) - 1:
            return Decimal(1)
        return self._released[place].chance(self._mechanism.granularity) / self._sum(place)


def _scale(bar: Bar) -> Fraction:
    return bar.scale


def _power(rate: Fraction) -> Decimal:
    return (Decimal(-rate.numerator) / Decimal(rate.denominator)).exp()


def _successes(gaps: Geometric, chance: float, trials: int, stream: Stream) -> int:
    """Draw the successes among at most ``BLOCK`` trials, by the gaps between them."""
    total, left = 0, trials
    while left:
        mean = left * chance
        steps = gaps.draw(int(mean + 4 * mean**0.5) + 4, stream)
        # Sums are exact up to the first beyond the end, which is below 2^62.
        ends = np.cumsum(np.minimum(steps, left) + 1)
        beyond = ends > left
        first = int(np.argmax(beyond))
        if beyond[first]:
            return total + first
        total, left = total + len(ends), left - int(ends[-1])
    return total
