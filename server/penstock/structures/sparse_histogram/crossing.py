"""Draw a key of count 0 at a new level, given that it was silent at all levels released so far.

With messages from both sides the law of its noise at the new level is proportional to the
product of the two.  Its mass above the threshold is the probability that the key is
reported now; given that, its noise at all levels is drawn along the chain, first at the
new level, then downward and upward under the limits.
"""

import math
from collections.abc import Callable, Sequence
from functools import lru_cache

import numpy as np

from penstock.errors import PenstockError
from penstock.randomness.stream import Stream
from penstock.structures.sparse_histogram.axis import Axis, Floats, Integers
from penstock.structures.sparse_histogram.messages import (
    Limit,
    Messages,
    axis_below,
    narrowest_kernel,
    normal_density,
)

AGREEMENT = 1e-12
"""The relative change of the probability below which nodes are no longer doubled."""

NEGLIGIBLE = 2.0**-100
"""The expected number of reported keys below which nodes are not doubled either.

Such a probability never affects a draw in practice.
"""

MOST_REFINEMENT = 64

_TAIL = 45.0
"""The logarithm of the factor by which the normal density falls on the axis above the threshold."""

_ENTRIES = 1 << 22


class Crossing:
    """Represent the law of a silent key's noise, given that it is reported at a new level.

    The condition is that it is above ``new.at`` at the variance ``new.variance``.  ``limits`` are
    those of the levels released so far, in increasing variance, without the new one; ``keys`` is
    how many such keys there may be, and decides what is negligible.  Raises ``PenstockError`` if
    quadrature does not converge, which no rung of a ladder with a ratio of 1.01 causes.
    """

    def __init__(self, limits: Sequence[Limit], new: Limit, keys: int) -> None:
        self._new, self._place = new, sum(limit.variance < new.variance for limit in limits)
        self._limits = limits
        refinement, before = 1, self._probability_at(1)
        while refinement < MOST_REFINEMENT:
            refinement *= 2
            settled = self._probability_at(refinement)
            if abs(settled - before) <= AGREEMENT * settled or settled * keys <= NEGLIGIBLE:
                break
            before = settled
        else:
            raise PenstockError(
                f"The probability {settled:g} of a false key did not settle within"
                f" {len(self._axis.nodes)} nodes. Choose levels that are further apart."
            )
        self.probability = settled

    @property
    def nodes(self) -> int:
        """Return the number of nodes of the widest axis."""
        return max(len(axis.nodes) for axis in (self._axis, *self._messages.axes))

    def _probability_at(self, refinement: int) -> float:
        new = self._new
        levels = sorted([0.0, new.variance, *(limit.variance for limit in self._limits)])
        self._messages = Messages(self._limits, new.variance, refinement)
        below = axis_below(new, levels, refinement)
        top = math.sqrt(max(new.at, 0.0) ** 2 + 2 * _TAIL * new.variance)
        narrowest = narrowest_kernel(new.variance, levels)
        self._axis = Axis.between(new.at, top, narrowest, refinement)
        reported = self._axis.integral(self._density(self._axis.nodes))
        silent = below.integral(self._density(below.nodes))
        return reported / (reported + silent)

    def _density(self, x: Floats) -> Floats:
        """Return the density of the noise at the new level, times that of silence at all others."""
        variance = self._new.variance
        before = self._messages.forward(self._place, x, variance)
        return before * self._messages.backward(self._place, x, variance)

    def draw(self, size: int, stream: Stream) -> Integers:
        """Draw the noise of ``size`` keys at every level: shape ``(len(limits) + 1, size)``.

        The noise is in lattice steps; rows are in the order of the levels, the new one among them.
        """
        out = np.empty((len(self._limits) + 1, size), dtype=np.int64)
        rows = max(_ENTRIES // self.nodes, 1)
        at_nodes = self._density(self._axis.nodes)
        for start in range(0, size, rows):
            part = out[:, start : start + rows]
            count = part.shape[1]
            part[self._place] = self._axis.draw(
                np.broadcast_to(at_nodes, (count, len(at_nodes))),
                lambda x, _: self._density(x),
                stream,
            )
            self._draw_others(part, stream)
        return out

    def _draw_others(self, out: Integers, stream: Stream) -> None:
        messages, variance = self._messages, self._new.variance
        from_level = variance
        for i in reversed(range(self._place)):
            level = self._limits[i].variance
            out[i] = self._step(i, out[i + 1], from_level, messages.forward, i, stream)
            from_level = level
        from_level = variance
        for i in range(self._place, len(self._limits)):
            level = self._limits[i].variance
            out[i + 1] = self._step(i, out[i], from_level, messages.backward, i + 1, stream)
            from_level = level

    def _step(
        self,
        i: int,
        given: Integers,
        from_level: float,
        message: Callable[[int, Floats, float], Floats],
        end: int,
        stream: Stream,
    ) -> Integers:
        """Draw the noise at limit ``i``, given that at ``from_level``, under all limits beyond."""
        axis, level = self._messages.axes[i], self._limits[i].variance
        gap, center = abs(from_level - level), given.astype(np.float64)
        at_nodes = message(end, axis.nodes, level)
        values = at_nodes * normal_density(axis.nodes - center[:, None], gap)
        return axis.draw(
            values,
            lambda x, which: message(end, x, level) * normal_density(x - center[which], gap),
            stream,
        )


@lru_cache(maxsize=32)
def crossing_of(limits: tuple[Limit, ...], new: Limit, keys: int) -> Crossing:
    """Return the crossing, computed once for all histograms with these thresholds."""
    return Crossing(limits, new, keys)
