"""Draw events with probabilities exact to 2^-193, for one word of 32 bits each.

A probability is stored as an integer threshold ``c`` over ``2^192``; the event happens when
a uniform integer below ``2^192`` is below ``c``.  The first 32 bits decide almost always;
only if they equal those of ``c`` are the other 160 drawn.

Error charged: a probability that is not a multiple of ``2^-192`` is rounded to the
nearest, so every event is within ``2^-193`` of its law in total variation.  Nothing is
charged for a ``Threshold``, which compares further bits if all 192 are equal: comparing bits
until they differ is exact for every probability that can be computed (Knuth, Yao 1976).
"""

import math
from collections.abc import Callable
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from fractions import Fraction
from typing import NoReturn

import numpy as np
from numpy.typing import NDArray

from penstock.randomness.stream import Stream

THRESHOLD_BITS = 192
CERTAIN = 1 << THRESHOLD_BITS
"""The threshold of the sure event."""

PRECISION = Context(prec=120, Emin=MIN_EMIN, Emax=MAX_EMAX)
"""Decimal arithmetic for thresholds: 2^-192 has 58 digits, differences may cost 40 more."""

_DOUBT = Decimal("1e-15")
"""Closer than this to an integer, more digits decide the direction of rounding."""

CHUNK = 1 << 15
"""Values at a time: larger temporaries leave the cache."""

_WORD_BITS = 32
_LOW_BITS = THRESHOLD_BITS - _WORD_BITS
_LOW_WORDS = _LOW_BITS // _WORD_BITS


def exact_decimal(value: Fraction) -> Decimal:
    """Return ``value`` to the digits of ``PRECISION``."""
    return PRECISION.divide(Decimal(value.numerator), Decimal(value.denominator))


def threshold(probability: Decimal) -> int:
    """Return the nearest multiple of ``2^-192``, as an integer from 0 to ``2^192``."""
    scaled = PRECISION.multiply(probability, Decimal(CERTAIN))
    return min(max(int(PRECISION.to_integral_value(scaled)), 0), CERTAIN)


class Threshold(int):
    """Hold the first 192 bits of a probability, rounded down, and a formula for more of them."""

    formula: Callable[[], Decimal]

    @classmethod
    def of(cls, value: Decimal, formula: Callable[[], Decimal]) -> "Threshold":
        """Make a threshold: ``formula`` in any decimal context, ``value`` in ``PRECISION``."""
        scaled = PRECISION.multiply(value, Decimal(CERTAIN))
        low, high = (math.floor(PRECISION.add(scaled, margin)) for margin in (-_DOUBT, _DOUBT))
        low = max(low, 0)  # below the first bits, the margin makes it negative
        chance = cls(low)
        chance.formula = formula
        if low != high:
            chance = cls(chance.bits(THRESHOLD_BITS))
            chance.formula = formula
        return chance

    def bits(self, count: int) -> int:
        """Return the probability in multiples of ``2^-count``, rounded down."""
        for digits in (count // 3 + 60, count // 3 + 600):
            with localcontext(Context(prec=digits, Emin=MIN_EMIN, Emax=MAX_EMAX)) as context:
                scaled = self.formula() * (Decimal(2) ** count)
                nearest = scaled.to_integral_value()
                if abs(scaled - nearest) > context.create_decimal(_DOUBT):
                    return math.floor(scaled)
        return int(nearest)  # equal to 500 digits: it is such a multiple

    def __reduce__(self) -> NoReturn:
        raise TypeError("A threshold cannot be copied or serialized; make it from its formula.")


def low_bits(stream: Stream) -> int:
    """Return the 160 bits that follow a word equal to the first 32 bits of a threshold."""
    return int.from_bytes(stream.raw_uint32(_LOW_WORDS).tobytes(), "little")


class Coin:
    """Toss up to ``room`` events at a time, in memory that is reused."""

    def __init__(self, room: int, stream: Stream) -> None:
        self._stream = stream
        self._words = np.empty(room, dtype=np.uint32)
        self._ties = np.empty(room, dtype=np.bool_)

    def toss(self, chance: int, out: NDArray[np.bool_]) -> None:
        """Fill ``out`` with independent events of probability ``chance / 2^192``."""
        if chance == CERTAIN or (chance == 0 and not isinstance(chance, Threshold)):
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
                low = low_bits(self._stream)
                out[i] = low < rest or (low == rest and self._further(chance))

    def _further(self, chance: int) -> bool:
        """Decide the events for which all 192 bits were equal."""
        if not isinstance(chance, Threshold):
            return False
        count = THRESHOLD_BITS
        while True:
            count += 64
            bits = chance.bits(count) & ((1 << 64) - 1)
            (word,) = self._stream.raw_uint64(1).tolist()
            if word != bits:
                return bool(word < bits)


def bernoulli(chance: int, size: int, stream: Stream) -> NDArray[np.bool_]:
    """Draw independent events of probability ``chance / 2^192``, shape ``(size,)``."""
    out = np.empty(size, dtype=np.bool_)
    coin = Coin(min(size, CHUNK), stream)
    for start in range(0, size, CHUNK):
        coin.toss(chance, out[start : start + CHUNK])
    return out
