"""Draw from bell-shaped laws on the integers by transformed rejection (Hörmann 1993).

A uniform ``u`` in (-1/2, 1/2) is transformed to ``T(u) = (2 a / us + b) u``, ``us = 1/2 - |u|``,
rounded down to an integer around the center, and accepted with probability
``pmf(k) T'(u) / c``, ``T'(u) = b + a / us^2``.  The law is exact wherever
``pmf(k) T'(u) <= c``, and a piece of the square (``us >= 0.07``, ``v <= r``) is accepted
without evaluating it, since the probability is at least ``r`` there.  The constants are those of
Hörmann's binomial generator with ``c`` and ``r`` moved by 2% so that one set covers
binomial and Poisson laws of mean 16 and more (and ``p <= 1/2``), and the windows below;
the tests check both inequalities over that range.

Floats cannot distinguish enough points of (-1/2, 1/2) when a law is wide.  So above a
deviation of 2^9 ``T(u)`` picks a window of ``2^w`` integers, ``2^w`` at most a 256th of
the deviation, and fresh bits pick the integer.

Error charged per draw: probabilities exact to a relative ``2^-42`` (rms), from cells of
the transformed square (2^-43) and ``log_pmf`` (1e-13), except for a total variation of
``2^-60``, from tails whose acceptance has no float bits left.  An engineering bound.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from penstock.randomness.stream import Stream

RELATIVE_ERROR = 2.0**-42
TAIL_ERROR = 2.0**-60
SMALLEST_MEAN = 16
REACH = 48
"""No draw is further from its mean than ``48 deviations + 65``."""

CHUNK = 1 << 14

Integers = NDArray[np.int64]
Floats = NDArray[np.float64]
LogPmf = Callable[[Integers, Integers], Floats]
"""``(values, indices of the draws)`` to log-probabilities, ``-inf`` off the support."""

_NARROW_BITS = 8
_INSIDE = 0.07
_UNIT = 2.0**-64


class TransformedRejection:
    """Draw from laws of given means and deviations, shape ``(n,)`` each.

    ``whole`` and ``part`` are the integer and fractional parts of the means, ``skew`` is
    the chance of a binomial law (0 for Poisson).
    """

    def __init__(
        self, whole: Integers, part: Floats, deviation: Floats, skew: float, stream: Stream
    ) -> None:
        self._stream = stream
        self._whole, self._part = whole, part + 0.5
        _, exponent = np.frexp(deviation)
        self._window = np.maximum(exponent.astype(np.int64) - (_NARROW_BITS + 1), 0)
        self._windowed = bool(self._window.any())
        self._reach = REACH * deviation + 64.0
        self._b = 1.15 + 2.53 * deviation
        self._a = -0.0873 + 0.0248 * self._b + 0.01 * skew
        self._inside = 0.895 - 4.1 / self._b
        self._ceiling = 1.15 + 2.05 / self._b

    def draw(self, log_pmf: LogPmf) -> Integers:
        """Draw one integer from each law, shape ``(n,)``."""
        out = np.empty(len(self._whole), dtype=np.int64)
        waiting = np.arange(len(out))
        while len(waiting):
            value, accepted = self._attempt(waiting, log_pmf)
            out[waiting[accepted]] = value[accepted]
            waiting = waiting[~accepted]
        return out

    def _attempt(self, at: Integers, log_pmf: LogPmf) -> tuple[Integers, NDArray[np.bool_]]:
        bits = self._stream.raw_uint64(len(at))
        us = ((bits >> np.uint64(1)).astype(np.float64) + 0.5) * _UNIT
        bent = self.bend(us, at)
        np.negative(bent, out=bent, where=(bits & np.uint64(1)).astype(np.bool_))
        value, near = self._integer(bent, at)
        v = (self._stream.raw_uint64(len(at)).astype(np.float64) + 0.5) * _UNIT
        accepted = (us >= _INSIDE) & (v <= self._inside[at])
        open_ = np.flatnonzero(near & ~accepted)
        at, us, v = at[open_], us[open_], v[open_]
        needed = np.log(v * self._ceiling[at] / (self._a[at] / (us * us) + self._b[at]))
        accepted[open_] = needed <= log_pmf(value[open_], at)
        return value, accepted

    def bend(self, us: Floats, at: Integers) -> Floats:
        """Return ``T(u)`` of the draws at ``at``, for ``u = 1/2 - us``."""
        bent: Floats = (2 * self._a[at] / us + self._b[at]) * (0.5 - us)
        return bent

    def _integer(self, bent: Floats, at: Integers) -> tuple[Integers, NDArray[np.bool_]]:
        """Return the integers ``bent`` away from the mean, and which of them are within reach."""
        reach = self._reach[at]
        near = np.abs(bent) <= reach
        np.clip(bent, -reach, reach, out=bent)
        if not self._windowed:
            return self._whole[at] + np.floor(bent + self._part[at]).astype(np.int64), near
        window = self._window[at]
        cell = np.floor(np.ldexp(bent, -window) + self._part[at]).astype(np.int64)
        fine = self._stream.raw_uint64(len(at)).view(np.int64) & ((1 << window) - 1)
        return self._whole[at] + (cell << window) + fine, near
