"""Draw buffered linear Toeplitz noise at every tier, step by step.

A part of the noise is that between two neighboring levels, or between 0 and the first: it has
buffers and a total of its own, and the noise of a tier is the sum of the parts up to it.  In a step
a part whose buffers have the weighted sum ``q`` draws a discrete Gaussian ``g`` around ``-q``, adds
``g`` to its total and to its buffers, and these lose what they lose in a step.  With ``z = g + q``
this is ``R g = z``: the totals are ``L z`` with ``L R`` the running sums, and cost a few numbers a
step.  ``q`` has fractions of the lattice's step and ``g`` has none, so nothing but the digits of
the buffers is ever rounded, and what that reveals is bounded (``sensitivity``).

All parts but the first depend on no data.  So noisier tiers are the most accurate one and
fresh noise, whatever roundings do, and a coalition learns what its best member does.  A tier that
joins splits a part in two, or adds one (``joining``).

Outputs are totals rounded to a coarser lattice, that of the elements' totals, which is a function
of what was just said.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

import numpy as np

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.process import Gaussian
from penstock.mechanisms.process import IntVector
from penstock.randomness.normal import SMALLEST_VARIANCE, rounded_bridge
from penstock.randomness.stream import Stream
from penstock.structures.streams.buffered.encoder import Encoder
from penstock.structures.streams.buffered.fixed_point import DIGITS, Recursion, joined, parted
from penstock.structures.streams.buffered.joining import Integers, factor, part

LARGEST_VARIANCE = 1 << 84
"""The largest level, in squared steps of the lattice.

Buffers then stay within their range but with a probability below ``e^-(2^14)`` a step: their
deviation is below 4 times that of the level.
"""

_DIGIT = Fraction(1, 1 << DIGITS)


def check_levels(mechanism: Gaussian, levels: Sequence[Fraction]) -> None:
    """Raise ``InvalidInput`` for levels that are not above 0 or not far enough apart, or overflow.

    They are in rising order.  Those less than ``SMALLEST_VARIANCE`` squared steps apart have no
    noise between them whose law is exact enough.
    """
    unit = mechanism.granularity**2
    apart = min((b - a for a, b in pairwise([Fraction(0), *levels])), default=Fraction(0))
    if apart < SMALLEST_VARIANCE * unit or levels[-1] > LARGEST_VARIANCE * unit:
        raise InvalidInput(
            "A stream needs at least one level. On this lattice levels are above 0 and apart by"
            f" at least {float(SMALLEST_VARIANCE * unit):g}, and at most"
            f" {float(LARGEST_VARIANCE * unit):g}; these are not: "
            + ", ".join(f"{float(level):g}" for level in levels)
        )


@dataclass
class BufferedNoise:
    """Hold noise in steps of ``2^coarse`` steps of the mechanism's lattice; tiers are levels.

    Levels increase, the most accurate first.  ``high`` and ``low`` are the buffers of the part
    below each level and, as the last row, its total, in whole steps of the mechanism's lattice
    and digits of one: shape (buffers + 1, levels, dimension).
    """

    mechanism: Gaussian
    matrix: Encoder
    coarse: int
    levels: list[Fraction]
    step: int
    high: IntVector
    low: IntVector

    @classmethod
    def begin(
        cls,
        mechanism: Gaussian,
        matrix: Encoder,
        coarse: int,
        dimension: int,
        levels: Iterable[Fraction],
    ) -> "BufferedNoise":
        """Return the noise before the first output.

        Raises ``InvalidInput`` for a dimension below 1, and as ``check_levels`` does.
        """
        ordered = sorted(levels)
        check_levels(mechanism, ordered)
        if dimension < 1:
            raise InvalidInput(f"An element has at least one number, not {dimension}.")
        shape = (len(matrix.exponents) + 1, len(ordered), dimension)
        high, low = (np.zeros(shape, dtype=np.int64) for _ in range(2))
        return cls(mechanism, matrix, coarse, ordered, 0, high, low)

    @property
    def dimension(self) -> int:
        """Return how many numbers an output has."""
        return int(self.high.shape[2])

    def advance(self, steps: int, streams: Callable[[], Stream]) -> list[IntVector]:
        """Draw the noise of the next ``steps`` outputs: for each level, shape (steps, dimension).

        Raises ``InvalidInput`` beyond the length, before anything is drawn.
        """
        if steps < 1 or self.step + steps > self.matrix.length:
            raise InvalidInput(
                f"The stream has {self.matrix.length} steps and is at {self.step}; it cannot"
                f" advance by {steps}."
            )
        recursion, stream = Recursion(self.matrix), streams()
        variances = self._variances()
        half = (1 << self.coarse) >> 1
        # A total's digits stay as they were when its tier joined, for draws are whole steps.
        added = half + (np.cumsum(self.low[-1], axis=0) >> DIGITS)
        outputs = np.empty((len(self.levels), steps, self.dimension), dtype=np.int64)
        for number in range(steps):
            whole, digits = recursion.weighted(self.high[:-1], self.low[:-1])
            drawn = np.empty_like(whole)
            for tier, variance in enumerate(variances):
                drawn[tier] = rounded_bridge(-digits[tier], _DIGIT, variance, stream) - whole[tier]
            self.high[:-1], self.low[:-1] = recursion.step(self.high[:-1], self.low[:-1], drawn)
            self.high[-1] += drawn
            outputs[:, number] = (np.cumsum(self.high[-1], axis=0) + added) >> self.coarse
        self.step += steps
        return list(outputs)

    def insert(self, level: Fraction, stream: Stream) -> None:
        """Add a level, from the next output on; one that exists already stays as it is.

        A level more accurate than all others raises what the stream may lose.  Raises
        ``InvalidInput`` as ``check_levels`` does.
        """
        at = bisect_left(self.levels, level)
        if self.levels[at : at + 1] == [level]:
            return
        check_levels(self.mechanism, [*self.levels[:at], level, *self.levels[at:]])
        lower = self._lower_part(level, at, stream)
        parts = [lower] if at == len(self.levels) else [lower, self._digits(at) - lower]
        self.high, self.low = (
            np.concatenate([rows[:, :at], *new, rows[:, at + 1 :]], axis=1)
            for rows, new in zip(
                (self.high, self.low), zip(*map(_rows, parts), strict=True), strict=True
            )
        )
        self.levels.insert(at, level)

    def _lower_part(self, level: Fraction, at: int, stream: Stream) -> Integers:
        """Draw the part between ``level`` and the next more accurate one, in digits."""
        before = self.levels[at - 1] if at else Fraction(0)
        if at == len(self.levels):
            shape = (len(self.matrix.exponents) + 1, self.dimension)
            difference, weight = np.zeros(shape, dtype=object), Fraction(0)
            variance = level - before
        else:
            difference = self._digits(at)
            weight = (level - before) / (self.levels[at] - before)
            variance = weight * (self.levels[at] - level)
        if self.step == 0:
            return np.zeros_like(difference)
        in_steps = variance / self.mechanism.granularity**2
        return part(difference, weight, in_steps, factor(self.matrix, self.step), stream)

    def _digits(self, at: int) -> Integers:
        """Return the buffers and the total of a part in digits, shape (buffers + 1, dimension)."""
        return joined(self.high[:, at], self.low[:, at])

    def _variances(self) -> list[Fraction]:
        """Return the variance of each part, in squared steps of the lattice."""
        unit = self.mechanism.granularity**2
        before = [Fraction(0), *self.levels]
        return [(b - a) / unit for a, b in zip(before, self.levels, strict=False)]


def _rows(digits: Integers) -> tuple[IntVector, IntVector]:
    """Return buffers and total that are given in digits as the arrays of one more part."""
    high, low = parted(digits)
    return high[:, None], low[:, None]
