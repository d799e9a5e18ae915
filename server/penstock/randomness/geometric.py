"""Draw geometric noise by independent bits: exact in law up to its thresholds.

``P(G >= k) = q^k`` makes the binary digits of ``G`` independent: digit ``j`` is 1 with
probability ``q^(2^j) / (1 + q^(2^j))``.  So each digit is one event of ``bernoulli``, no
float is involved, and the time does not depend on what is drawn.

Error charged per draw: ``DIGITS`` thresholds at ``2^-193`` each, and digits that would be
0 except for a probability of ``2^-192`` are left out: below ``ERROR`` in total variation.  A
law that is given by its rate (``at_rate``) is exact, and has all digits.
"""

from dataclasses import dataclass
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache, partial

import numpy as np
from numpy.typing import NDArray

from penstock.randomness.bernoulli import (
    CHUNK,
    PRECISION,
    THRESHOLD_BITS,
    Coin,
    Threshold,
    threshold,
)
from penstock.randomness.stream import Stream

DIGITS = 61
"""The most binary digits that are drawn, so that a sum of two values fits int64."""

ERROR = (DIGITS + 3) * 2.0 ** -(THRESHOLD_BITS + 1)
"""Total variation of one draw from its law, at most."""


@dataclass(frozen=True)
class Geometric:
    """Draw from the law of ``min(G, 2^61)``, ``G`` being failures before a success.

    ``digits`` are the thresholds of the binary digits from the lowest on, ``beyond``
    is that of any higher digit being 1; ``rate``, if given, is the rate of the number that the
    higher digits form.
    """

    digits: tuple[int, ...]
    beyond: int
    rate: Fraction | None = None

    @classmethod
    def of(cls, ratio: Decimal) -> "Geometric":
        """Return the law ``P(G >= k) = ratio^k``, for a ratio of 120 digits above 0 and below 1."""
        return _law(ratio)

    @classmethod
    def at_rate(cls, rate: Fraction) -> "Geometric":
        """Return the law ``P(G >= k) = exp(-rate k)``, exactly, for a rate above 0."""
        return _law_at(rate)

    @property
    def bound(self) -> int:
        """Return the largest possible draw."""
        more = self.beyond or self.rate is not None
        return 1 << (DIGITS if more else len(self.digits))

    def draw(self, size: int, stream: Stream) -> NDArray[np.int64]:
        """Draw independent integers, shape ``(size,)``."""
        # Digits are assembled byte by byte, so the order of bytes in memory must be known.
        out = np.zeros(size, dtype="<i8")
        octets = out.view(np.uint8).reshape(size, 8)
        room = min(size, CHUNK)
        coin = Coin(room, stream)
        bit, octet = np.empty(room, dtype=np.bool_), np.empty(room, dtype=np.uint8)
        for start in range(0, size, CHUNK):
            part = octets[start : start + CHUNK]
            digit, total = bit[: len(part)], octet[: len(part)]
            for low in range(0, len(self.digits), 8):
                total.fill(0)
                for chance in reversed(self.digits[low : low + 8]):
                    coin.toss(chance, digit)
                    total <<= 1
                    total |= digit.view(np.uint8)
                part[:, low // 8] = total
            if self.beyond or self.rate is not None:
                coin.toss(self.beyond, digit)
                if digit.any():
                    self._add_higher(out[start : start + CHUNK], np.flatnonzero(digit), stream)
        return out.astype(np.int64, copy=False)

    def _add_higher(self, out: NDArray[np.int64], at: NDArray[np.int64], stream: Stream) -> None:
        places = len(self.digits)
        if self.rate is None or places == DIGITS:
            out[at] = 1 << DIGITS
            return
        higher = Geometric.at_rate(self.rate).draw(len(at), stream) + 1
        far = higher >= 1 << (DIGITS - places)
        out[at] = np.where(far, 1 << DIGITS, out[at] + (higher << places))


@lru_cache(maxsize=512)
def _law_at(rate: Fraction) -> Geometric:
    digits: list[Threshold] = []
    with localcontext(PRECISION):
        negligible = Decimal(1) / (1 << THRESHOLD_BITS)
        power = _power(rate)
        while power > negligible and len(digits) < DIGITS:
            digits.append(Threshold.of(power / (1 + power), partial(_digit, rate)))
            rate *= 2
            power *= power
        return Geometric(tuple(digits), Threshold.of(power, partial(_power, rate)), rate)


def _power(rate: Fraction) -> Decimal:
    return (Decimal(-rate.numerator) / Decimal(rate.denominator)).exp()


def _digit(rate: Fraction) -> Decimal:
    return _power(rate) / (1 + _power(rate))


@lru_cache(maxsize=512)
def _law(ratio: Decimal) -> Geometric:
    digits: list[int] = []
    with localcontext(PRECISION):
        negligible = Decimal(1) / (1 << THRESHOLD_BITS)
        power = ratio
        while power > negligible and len(digits) < DIGITS:
            digits.append(threshold(power / (1 + power)))
            power *= power
        return Geometric(tuple(digits), threshold(power) if power > negligible else 0)
