"""Events whose probability is right to 2^-193, at the price of one word of 32 bits each.

A probability is held as an integer threshold ``c`` over ``2^192``; the event happens when
a uniform integer below ``2^192`` is below ``c``.  The first 32 bits decide almost always;
only where they equal those of ``c`` are the other 160 drawn.

Error charged: a probability that is not a multiple of ``2^-192`` is rounded to the
nearest, so every event is within ``2^-193`` of its law in total variation.
"""

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.randomness.stream import Stream

THRESHOLD_BITS = 192
CERTAIN = 1 << THRESHOLD_BITS
"""The threshold of the sure event."""

PRECISION = Context(prec=120, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Decimal arithmetic for thresholds: 2^-192 has 58 digits, differences may cost 40 more."""

CHUNK = 1 << 15
"""Values at a time: larger temporaries leave the cache."""

_WORD_BITS = 32
_LOW_BITS = THRESHOLD_BITS - _WORD_BITS
_LOW_WORDS = _LOW_BITS // _WORD_BITS


def exact_decimal(value: Fraction) -> Decimal:
    """``value`` to the digits of ``PRECISION``."""
    return PRECISION.divide(Decimal(value.numerator), Decimal(value.denominator))


def threshold(probability: Decimal) -> int:
    """The nearest multiple of ``2^-192``, as an integer from 0 to ``2^192``."""
    scaled = PRECISION.multiply(probability, Decimal(CERTAIN))
    return min(max(int(PRECISION.to_integral_value(scaled)), 0), CERTAIN)


def low_bits(stream: Stream) -> int:
    """The 160 bits that follow a word which equals a threshold's own first 32."""
    return int.from_bytes(stream.raw_uint32(_LOW_WORDS).tobytes(), "little")


class Coin:
    """Tosses up to ``room`` events at a time, in memory that is used again."""

    def __init__(self, room: int, stream: Stream) -> None:
        self._stream = stream
        self._words = np.empty(room, dtype=np.uint32)
        self._ties = np.empty(room, dtype=np.bool_)

    def toss(self, chance: int, out: NDArray[np.bool_]) -> None:
        """Fill ``out`` with independent events of probability ``chance / 2^192``."""
        if chance in (0, CERTAIN):
            out.fill(chance == CERTAIN)
            return
        words, ties = self._words[: len(out)], self._ties[: len(out)]
        first = np.uint32(chance >> _LOW_BITS)
        self._stream.raw_into(words)
        np.less(words, first, out=out)
        np.equal(words, first, out=ties)
        if ties.any():
            rest = chance & ((1 << _LOW_BITS) - 1)
            for i in np.flatnonzero(ties):
                out[i] = low_bits(self._stream) < rest


def bernoulli(chance: int, size: int, stream: Stream) -> NDArray[np.bool_]:
    """Independent events of probability ``chance / 2^192``, shape ``(size,)``."""
    out = np.empty(size, dtype=np.bool_)
    coin = Coin(min(size, CHUNK), stream)
    for start in range(0, size, CHUNK):
        coin.toss(chance, out[start : start + CHUNK])
    return out
