"""Compute the noise of differences of totals that every noise so far is in.

Total ``t`` has the noise of each step ``s`` up to it, times ``L[t - s]``.  With the square root
``L`` has the coefficients of ``1/sqrt(1 - x)`` (Henzinger, Upadhyay, Upadhyay 2023), and with
buffers those of ``1/((1 - x) R(x))``, which a recursion over the buffers gives (Dvijotham,
McMahan, Pillutla, Steinke, Thakurta 2024).
"""

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import islice
from statistics import NormalDist

from penstock_client._http.fields import Fields
from penstock_client._values.interval import require_confidence

ROUNDED = "exact for Gaussian noise, and wider by how totals are rounded"


@dataclass
class Series:
    """Hold the coefficients ``L`` of a stream, and the variance of the noise of a step."""

    variance: float
    granularity: float
    coefficients: Iterator[float] = field(repr=False)
    _squares: list[float] = field(default_factory=lambda: [0.0], repr=False)
    _last: float = field(default=0.0, repr=False)

    @classmethod
    def read_or_none(cls, covariance: Fields, granularity: float) -> "Series | None":
        """Return the series of a stream with the square root or buffers; else ``None``."""
        variance, kind = covariance.positive("variance"), covariance.child("structure").text("kind")
        if kind == "square_root":
            return cls(variance, granularity, _root())
        if kind == "buffered":
            weights, decays = covariance.vector("weights"), covariance.vector("decays")
            return cls(variance, granularity, _buffered(weights, decays))
        return None

    def of_element(self, step: int, confidence: float) -> tuple[float, float, str]:
        """Return the standard deviation and half width of a total less the one before, and its law.

        The total before the first is 0.  Raises ``InvalidArgument`` for a confidence outside (0,
        1).
        """
        require_confidence(confidence)
        for each in islice(self.coefficients, max(0, step + 1 - len(self._squares))):
            self._squares.append(self._squares[-1] + (each - self._last) ** 2)
            self._last = each
        totals = 1 if step == 1 else 2
        spread = self.variance * self._squares[step]
        deviation = math.sqrt(spread + totals * self.granularity**2 / 12)
        normal = -NormalDist().inv_cdf((1 - confidence) / 2)
        return deviation, normal * math.sqrt(spread) + totals * self.granularity / 2, ROUNDED


def _root() -> Iterator[float]:
    entry, step = 1.0, 0
    while True:
        yield entry
        step += 1
        entry *= (2 * step - 1) / (2 * step)


def _buffered(weights: tuple[float, ...], decays: tuple[float, ...]) -> Iterator[float]:
    buffers, total, added = [0.0] * len(weights), 0.0, 1.0
    while True:
        noise = added - math.fsum(w * b for w, b in zip(weights, buffers, strict=True))
        buffers = [d * b + noise for d, b in zip(decays, buffers, strict=True)]
        total += noise
        added = 0.0
        yield total
