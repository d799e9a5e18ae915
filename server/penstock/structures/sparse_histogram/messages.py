"""Compute what a key's silence at some levels reveals about its noise: messages between levels.

The noise ``X`` of a key is Brownian motion in the variance (Andersson, Retschmeier, Nelson, Pagh
2025, Lemma 3.3), a Markov process.  The event that it stayed below its limit ``c_i`` at each of the
levels ``s_1 < ... < s_k`` is described by

    forward   alpha_1(x) = phi(x; s_1),
              alpha_{i+1}(x) = integral_{y <= c_i} alpha_i(y) phi(x - y; s_{i+1} - s_i) dy
    backward  beta_k(x) = 1,
              beta_i(x) = integral_{y <= c_{i+1}} phi(y - x; s_{i+1} - s_i) beta_{i+1}(y) dy

with ``phi(x; s)`` the normal density of variance ``s``.  Everything is in lattice steps, and
a limit lies halfway between the last silent integer and the first reported one.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from penstock.structures.sparse_histogram.axis import Axis, Floats

LOWEST = 8.5
"""Deviations below 0 at which axes begin: less than 2^-55 of the law is left out."""

_ENTRIES = 1 << 21
"""Entries of a kernel that are computed at a time."""


@dataclass(frozen=True)
class Limit:
    """State ``X(variance) <= at``, in squared steps and in steps."""

    variance: float
    at: float


class Messages:
    """Hold both messages of all limits, which increase in variance.

    ``variance`` is that of a further level whose law is wanted: axes next to it are as fine as
    the kernels that lead there.
    """

    def __init__(self, limits: Sequence[Limit], variance: float, refinement: int) -> None:
        self.limits = limits
        levels = sorted([0.0, variance, *(limit.variance for limit in limits)])
        self.axes = [axis_below(limit, levels, refinement) for limit in limits]
        self._forward: list[Floats] = []
        for i, limit in enumerate(limits):
            alpha = self.forward(i, self.axes[i].nodes, limit.variance)
            self._forward.append(alpha * self.axes[i].weights)
        self._backward: list[Floats] = [np.empty(0)] * len(limits)
        for i in reversed(range(len(limits))):
            beta = self.backward(i + 1, self.axes[i].nodes, limits[i].variance)
            self._backward[i] = beta * self.axes[i].weights

    def forward(self, before: int, x: Floats, variance: float) -> Floats:
        """Return the density of ``X(variance)`` with silence at the first ``before`` limits.

        The result has the shape of ``x``.
        """
        if before == 0:
            return normal_density(x, variance)
        gap = variance - self.limits[before - 1].variance
        return _carried(x, self.axes[before - 1].nodes, self._forward[before - 1], gap)

    def backward(self, after: int, x: Floats, variance: float) -> Floats:
        """Return the chance of silence from limit ``after`` on, given ``X(variance) = x``."""
        if after == len(self.limits):
            return np.ones_like(x)
        gap = self.limits[after].variance - variance
        return _carried(x, self.axes[after].nodes, self._backward[after], gap)


def axis_below(limit: Limit, levels: Sequence[float], refinement: int) -> Axis:
    """Return the axis up to a limit, as fine as the kernels to its neighbors among ``levels``."""
    narrowest = narrowest_kernel(limit.variance, levels)
    low = -LOWEST * math.sqrt(limit.variance)
    return Axis.between(low, limit.at, narrowest, refinement)


def narrowest_kernel(variance: float, levels: Sequence[float]) -> float:
    """Return the deviation between ``variance`` and the nearest other one of ``levels``."""
    return math.sqrt(min(abs(variance - other) for other in levels if other != variance))


def normal_density(x: Floats, variance: float) -> Floats:
    """Return the normal density of mean 0, in the shape of ``x``."""
    density: Floats = np.exp(x * x / (-2 * variance)) / math.sqrt(2 * math.pi * variance)
    return density


def _carried(x: Floats, nodes: Floats, weighted: Floats, gap: float) -> Floats:
    """Return ``sum_j weighted[j] phi(x - nodes[j]; gap)``, in pieces that fit the cache."""
    out = np.empty(len(x))
    rows = max(_ENTRIES // len(nodes), 1)
    for start in range(0, len(x), rows):
        part = x[start : start + rows, None] - nodes
        out[start : start + rows] = normal_density(part, gap) @ weighted
    return out
