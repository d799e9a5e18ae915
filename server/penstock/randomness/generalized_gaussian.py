"""Draw generalized Gaussian noise on the integers: a real draw rounded to the nearest.

The density is proportional to ``exp(-(|x| / scale)^power)`` and decreases on either side of 0,
so a staircase bounds it from above: windows of ``2^w`` half steps, each as high as the density
at its near end, 16 to 32 of them in one scale.  A table of thresholds picks the window,
uniform bits the place in it, and the draw is kept with a probability that is the ratio of the
density there to the window's height (von Neumann 1951).

Place and comparison begin with 64 bits each, and floats decide where they cannot be wrong:
within ``2^-36`` of the ratio both continue for 160 bits more, and 120 decimal digits decide.

Error charged per draw: ``ERROR`` in total variation.  It covers up to 2^13 thresholds, each
exact to ``2^-193``, a tail beyond the last window of less than ``2^-190``, and the grids of
place and comparison, below ``2^-220``.
"""

from bisect import bisect_right
from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.randomness.bernoulli import (
    CERTAIN,
    CHUNK,
    PRECISION,
    THRESHOLD_BITS,
    exact_decimal,
    low_bits,
    threshold,
)
from penstock.randomness.pieces import in_pieces
from penstock.randomness.stream import Stream

ERROR = 2.0**-179
"""Total variation of one draw from its law, at most."""

SMALLEST_POWER, LARGEST_POWER = 1, 16
SMALLEST_SCALE, LARGEST_SCALE = 1 << 6, 1 << 46
"""In steps.  No draw is beyond 140 scales, which for the largest is below 2^54 steps."""

LARGEST_EXPONENT = 134
"""The largest ``(|x| / scale)^power``; above it there is less than 2^-190 of the mass."""

_WINDOWS_A_SCALE = 4
"""Binary logarithm of the least number of windows in one scale."""

_WORD = 64
_LOW_BITS = THRESHOLD_BITS - 32
_DOUBT = 2.0**-36
"""Floats err by less than 2^-40, for exponents of up to 135 and powers of up to 16."""


def generalized_gaussian(
    scale: Fraction, power: Fraction, size: int, stream: Stream
) -> NDArray[np.int64]:
    """Draw independent integers, shape ``(size,)``; ``scale`` is in steps.

    Raises ``InvalidInput`` for a power outside of 1 to 16 and a scale outside of 2^6 to
    2^46.
    """
    check_power(power)
    if not SMALLEST_SCALE <= scale <= LARGEST_SCALE:
        raise InvalidInput(
            f"Generalized Gaussian noise is drawn at scales from {SMALLEST_SCALE} to 2^46 lattice"
            f" steps, not {float(scale):g}; choose another granularity."
        )
    stairs = _staircase(scale, power)
    out = np.empty(size, dtype=np.int64)

    def piece(at: slice, stream: Stream) -> None:
        for start in range(at.start, at.stop, CHUNK):
            stairs.fill(out[start : min(start + CHUNK, at.stop)], stream)

    in_pieces(size, piece, stream)
    return out


def check_power(power: Fraction) -> None:
    """Raise ``InvalidInput`` for a power outside of 1 to 16."""
    if not SMALLEST_POWER <= power <= LARGEST_POWER:
        raise InvalidInput(
            f"The power p of generalized Gaussian noise is from {SMALLEST_POWER} to"
            f" {LARGEST_POWER}, not {float(power):g}; below 1 its density has no bounded slope,"
            " and above 16 it is nearly flat.",
            pointer="/p",
        )


@dataclass(frozen=True)
class _Staircase:
    """Hold a law's windows: ``thresholds`` pick one, ``heights`` are exponents at near ends.

    A window spans ``2^bits`` half steps, which are ``part`` of the scale.
    """

    power: Fraction
    bits: int
    part: Fraction
    thresholds: list[int]
    first: NDArray[np.uint32]
    heights: NDArray[np.float64]

    def fill(self, out: NDArray[np.int64], stream: Stream) -> None:
        waiting = np.arange(len(out))
        while len(waiting):
            window, place, kept = self._propose(len(waiting), stream)
            half = (window << self.bits) + (place >> np.uint64(_WORD - self.bits)).astype(np.int64)
            out[waiting[kept]] = ((half + 1) >> 1)[kept]
            waiting = waiting[~kept]
        flip = np.empty(len(out), dtype=np.int8)
        stream.raw_into(flip)
        np.negative(out, out=out, where=flip < 0)

    def _propose(
        self, size: int, stream: Stream
    ) -> tuple[NDArray[np.int64], NDArray[np.uint64], NDArray[np.bool_]]:
        window, place = self._pick(size, stream), stream.raw_uint64(size)
        word = stream.raw_uint64(size)
        difference = self._ratio(window, place) - (word.astype(np.float64) + 0.5) * 2.0**-_WORD
        kept = difference > 0
        for i in np.flatnonzero(np.abs(difference) < _DOUBT):
            longer = (int(bits[i]) << _LOW_BITS | low_bits(stream) for bits in (place, word))
            kept[i] = self._decide(int(window[i]), *longer)
        return window, place, kept

    def _ratio(self, window: NDArray[np.int64], place: NDArray[np.uint64]) -> NDArray[np.float64]:
        """Return the density over the height of its window."""
        at = (window + (place.astype(np.float64) + 0.5) * 2.0**-_WORD) * float(self.part)
        ratio: NDArray[np.float64] = np.exp(self.heights[window] - at ** float(self.power))
        return ratio

    def _pick(self, size: int, stream: Stream) -> NDArray[np.int64]:
        words = stream.raw_uint32(size)
        out = np.searchsorted(self.first, words, side="right")
        # A word that equals the first 32 bits of a threshold does not decide alone.
        for i in np.flatnonzero(self.first[np.maximum(out, 1) - 1] == words):
            uniform = (int(words[i]) << _LOW_BITS) | low_bits(stream)
            out[i] = bisect_right(self.thresholds, uniform)
        return out

    def _decide(self, window: int, place: int, word: int) -> bool:
        """Return True if a proposal is kept, ``place`` and ``word`` being of 224 bits."""
        within, uniform = (Fraction(2 * bits + 1, 2 << _WORD + _LOW_BITS) for bits in (place, word))
        with localcontext(PRECISION):
            near = _exponent(window * self.part, self.power)
            far = _exponent((window + within) * self.part, self.power)
            return exact_decimal(uniform) < (near - far).exp()


@lru_cache(maxsize=64)
def _staircase(scale: Fraction, power: Fraction) -> _Staircase:
    halves = 2 * scale
    bits = int(halves).bit_length() - 1 - _WINDOWS_A_SCALE
    part = Fraction(1 << bits) / halves
    with localcontext(PRECISION):
        exponents = [Decimal(0)]
        while exponents[-1] < LARGEST_EXPONENT:
            exponents.append(_exponent(len(exponents) * part, power))
        heights = [(-exponent).exp() for exponent in exponents]
        whole, total, thresholds = sum(heights), Decimal(0), []
        for height in heights[:-1]:
            total += height
            thresholds.append(min(threshold(total / whole), CERTAIN - 1))
    return _Staircase(
        power=power,
        bits=bits,
        part=part,
        thresholds=thresholds,
        first=np.array([value >> _LOW_BITS for value in thresholds], dtype=np.uint32),
        heights=np.array([float(exponent) for exponent in exponents]),
    )


def _exponent(ratio: Fraction, power: Fraction) -> Decimal:
    """Return ``ratio^power``, in the current decimal context."""
    return exact_decimal(ratio) ** exact_decimal(power) if ratio else Decimal(0)
