"""Draw normal noise on the integers, in chunks: the discrete Gaussian within a stated error.

A draw with variance ``s^2`` and center ``c`` is ``ceil(c + r N) + u``, where ``N`` is a
standard normal, ``u`` is uniform on the ``W`` integers from ``-W/2`` to ``W/2 - 1`` and
``W`` is the power of two with ``2^9 <= s/W < 2^10`` (below ``s = 2^10`` it is 1, and
the draw is ``rint(c + r N)``).  The result is ``k`` with probability
``P(k - W/2 < c + r N <= k + W/2) / W``: a normal smoothed by a box of width ``W``, which
adds ``W^2/12`` to the variance (Sheppard 1898), so ``r^2 = s^2 - W^2/12``.

The remaining effect of the box is its fourth cumulant, ``-W^4/120``: the logarithm of the
probability is off by ``(W/s)^4 He4((k-c)/s) / 2880``, an rms of ``2^-41.2`` at
``s = 2^8, W = 1`` and at most ``2^-45.1`` from ``s = 2^9`` on.  Without ``u`` the floats
would be noticeable: ``N`` is a multiple of up to ``2^-50``, so that neighboring integers
would share fewer of its values, and less equally, as ``s`` grows.  With it every result
collects ``2^40`` of them or more, however large ``s`` is: counted in the strips of
numpy's ziggurat (Marsaglia, Tsang 2000), they share with an rms error below ``2^-43``.

Centers are split into an integer, added as such, and the rest, so that floats represent
only the noise.
"""

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.randomness.pieces import in_pieces
from penstock.randomness.stream import Stream

CHUNK = 1 << 15
"""Values at a time: larger temporaries leave the cache, and fresh pages fault."""

SMALLEST_VARIANCE = 1 << 16
LARGEST_VARIANCE = 1 << 94
"""Below the smallest, the stated error does not hold; above the largest, 53 bits do not suffice."""

_WINDOWS_A_DEVIATION = 9
"""Binary logarithm of the least number of windows in one standard deviation."""


def rounded_normal(variance: Fraction, size: int, stream: Stream) -> NDArray[np.int64]:
    """Draw integers of mean 0 and the given ``variance`` (in steps squared), shape ``(size,)``.

    Raises ``InvalidInput`` for a variance outside of 2^16 to 2^94.
    """
    return _Draw(variance, stream).fill(size)


def rounded_bridge(
    difference: NDArray[np.int64], weight: Fraction, variance: Fraction, stream: Stream
) -> NDArray[np.int64]:
    """Draw integers of means ``weight * difference``, one ``variance``, shaped as ``difference``.

    Raises ``InvalidInput`` for a variance outside of 2^16 to 2^94.
    """
    draw = _Draw(variance, stream)
    return draw.fill(len(difference), difference, float(weight))


class _Draw:
    """Hold the constants of one call, and its normals."""

    def __init__(self, variance: Fraction, stream: Stream) -> None:
        if not SMALLEST_VARIANCE <= variance <= LARGEST_VARIANCE:
            raise InvalidInput(
                f"A draw with a variance of {float(variance):g} squared lattice steps is outside"
                f" of the range from {SMALLEST_VARIANCE:g} to {LARGEST_VARIANCE:g} in which its law"
                " is exact enough; choose levels further apart, or another granularity."
            )
        magnitude = (int(variance).bit_length() - 1) // 2
        self.window_bits = max(0, magnitude - _WINDOWS_A_DEVIATION)
        self.deviation = math.sqrt(variance - Fraction(1 << 2 * self.window_bits, 12))
        self.stream = stream

    def fill(
        self, size: int, difference: NDArray[np.int64] | None = None, weight: float = 0.0
    ) -> NDArray[np.int64]:
        out = self.stream.room_for(size)

        def piece(at: slice, stream: Stream) -> None:
            self._piece(out[at], None if difference is None else difference[at], weight, stream)

        in_pieces(size, piece, self.stream)
        return out

    def _piece(
        self,
        out: NDArray[np.int64],
        difference: NDArray[np.int64] | None,
        weight: float,
        stream: Stream,
    ) -> None:
        size = len(out)
        room = min(size, CHUNK)
        generator = stream.generator
        noise, center, whole = (np.empty(room) for _ in range(3))
        window = np.empty(room, dtype=_narrowest(self.window_bits))
        for start in range(0, size, CHUNK):
            part = out[start : start + CHUNK]
            count = len(part)
            x = noise[:count]
            generator.standard_normal(out=x)
            x *= self.deviation
            if difference is None:
                self._round(x)
            else:
                c, i = center[:count], whole[:count]
                np.multiply(difference[start : start + CHUNK], weight, out=c)
                np.rint(c, out=i)
                c -= i
                x += c
                self._round(x)
                x += i
            np.copyto(part, x, casting="unsafe")
            if self.window_bits:
                part += self._uniform(window[:count], stream)

    def _round(self, x: NDArray[np.float64]) -> None:
        if self.window_bits:
            np.ceil(x, out=x)
        else:
            np.rint(x, out=x)

    def _uniform(
        self, window: NDArray[np.signedinteger], stream: Stream
    ) -> NDArray[np.signedinteger]:
        """Draw uniformly on ``-W/2 .. W/2 - 1``: the sign goes with the top bits that are kept."""
        stream.raw_into(window)
        window >>= 8 * window.itemsize - self.window_bits
        return window


def _narrowest(bits: int) -> np.dtype[np.signedinteger]:
    return np.dtype(next(kind for kind in ("i1", "i2", "i4", "i8") if bits <= 8 * int(kind[1])))
