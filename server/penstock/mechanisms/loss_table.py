"""Compute with privacy losses on a grid, and with their privacy profile.

Mass between two points of the grid is split so that both hypotheses keep their masses
(Doroshenko, Ghazi, Kamath, Kumar, Manurangsi 2022, "Connect the Dots"): the profile is
never below the true one, and between points of the grid a straight line in ``exp(epsilon)``.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FloatVector = NDArray[np.float64]


@dataclass(frozen=True)
class Profile:
    """Hold hockey-stick divergences ``at`` the losses ``first, first + width, ...``."""

    width: float
    first: float
    at: FloatVector

    def delta(self, epsilon: float) -> float:
        """Return the divergence at ``epsilon``, which is within the grid."""
        place = (epsilon - self.first) / self.width
        low = min(max(math.floor(place), 0), len(self.at) - 2)
        # expm1(part of a width) / expm1(width), either of which may leave the range of floats
        rest = place - low
        part = math.exp((rest - 1) * self.width) * math.expm1(-rest * self.width)
        part /= math.expm1(-self.width)
        return float(self.at[low] + part * (self.at[low + 1] - self.at[low]))

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon, from ``first`` on, with a divergence of at most ``delta``.

        ``inf`` if it is beyond the grid.
        """
        above = np.flatnonzero(self.at > delta)
        if not len(above):
            return self.first
        last = int(above[-1])
        if last == len(self.at) - 1:
            return math.inf
        part = (self.at[last] - delta) / (self.at[last] - self.at[last + 1])
        return self.first + last * self.width + math.log1p(part * math.expm1(self.width))


@dataclass(frozen=True)
class LossTable:
    """Hold the upper half of a symmetric privacy-loss distribution.

    ``upper[j]`` is the mass at the loss ``(j + 1) * width``, ``infinite`` that of outcomes that are
    possible under one hypothesis only.  The mass at ``-loss`` is ``exp(-loss)`` times that at
    ``loss``, and the rest is at 0.
    """

    width: float
    upper: FloatVector
    infinite: float

    def dense(self) -> tuple[int, FloatVector]:
        """Return all finite masses, and the place of the first on the grid."""
        size = len(self.upper)
        lower = self.upper * np.exp(-self.width * np.arange(1, size + 1))
        rest = max(1 - self.infinite - float(self.upper.sum()) - float(lower.sum()), 0.0)
        return -size, np.concatenate((lower[::-1], [rest], self.upper))

    def profile(self, size: int) -> FloatVector:
        """Return the hockey-stick divergences at losses ``0, width, ..., size * width``."""
        padded = np.zeros(size)
        padded[: len(self.upper)] = self.upper
        return self.infinite + divergences(padded, self.width)

    def epsilon(self, delta: float) -> float:
        """Return the least epsilon, at least 0, with a divergence of at most ``delta``."""
        return Profile(self.width, 0.0, self.profile(len(self.upper))).epsilon(delta)


def divergences(masses: FloatVector, width: float) -> FloatVector:
    """Return at losses ``0, 1, ...`` the sum of ``(1 - e^(loss - l)) mass(l)`` over greater ``l``.

    Losses are in units of ``width``; ``masses`` are those at ``1, 2, ...``.
    """
    from scipy.signal import lfilter  # imported late: slow to import

    tails = lfilter([1.0], [1.0, -math.exp(-width)], masses[::-1])[::-1]
    falls = -math.expm1(-width) * tails
    return np.append(np.cumsum(falls[::-1])[::-1], 0.0)


def split_cells(masses: FloatVector, others: FloatVector, width: float) -> FloatVector:
    """Split cells of outcomes between points of the grid: return masses at ``1, 2, ...``.

    Cell ``j`` has losses from ``j * width`` to ``(j + 1) * width``, the mass ``masses[j]``
    under the first hypothesis, and ``exp(-j * width) others[j]`` under the second.
    """
    raised = np.clip((masses - others) / -math.expm1(-width), 0.0, masses)
    return joined(masses - raised, raised)


def joined(kept: FloatVector, raised: FloatVector) -> FloatVector:
    """Return masses at ``1, 2, ...``: ``kept`` is at lower ends of cells, ``raised`` at upper."""
    upper = raised.copy()
    upper[:-1] += kept[1:]
    return upper
