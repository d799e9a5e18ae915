"""Integrate densities by Gauss-Legendre panels, and draw integers from them.

Panels end halfway between two integers, so that the mass of a density over a panel is
that of its integers except for a 24th of its second derivative.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Self

import numpy as np
from numpy.typing import NDArray

from penstock.errors import InvalidInput
from penstock.randomness.choice import uniform_below
from penstock.randomness.stream import Stream

ORDER = 32
"""Nodes in each panel.  Over 10 deviations they integrate a normal density to 1e-15."""

DEVIATIONS_A_PANEL = 10
FEWEST_PANELS = 4
MOST_PANELS = 1 << 10

ROOM = 1.25
"""How far a density may exceed the largest of its values at a panel's nodes, as a factor.

Log-concave densities whose deviation is a twentieth of the panel stay below 1.15.
"""

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Density = Callable[[Floats, NDArray[np.intp]], Floats]
"""``(values, number of each value's law)`` to densities, all of one shape."""


@lru_cache
def _rule() -> tuple[Floats, Floats]:
    nodes, weights = np.polynomial.legendre.leggauss(ORDER)
    return nodes, weights


@dataclass(frozen=True)
class Axis:
    """Hold an interval in panels: ``edges`` of shape ``(panels + 1,)``, nodes and their weights.

    ``nodes`` and ``weights`` have shape ``(panels * ORDER,)``.
    """

    edges: Floats
    nodes: Floats
    weights: Floats

    @classmethod
    def between(cls, low: float, high: float, narrowest: float, refinement: int) -> Self:
        """Cut the interval into panels at most 10 times ``narrowest`` wide, over ``refinement``.

        Inner edges move to the next half integer, the two ends stay.  Raises ``InvalidInput`` for
        more than ``MOST_PANELS`` panels.
        """
        needed = math.ceil((high - low) / (DEVIATIONS_A_PANEL * narrowest))
        panels = refinement * max(needed, FEWEST_PANELS)
        if panels > MOST_PANELS:
            raise InvalidInput(
                f"Levels this close need {panels} panels of quadrature; at most {MOST_PANELS} are"
                " allowed. Take a ladder whose rungs are at least 1.01 apart."
            )
        cuts = np.linspace(low, high, panels + 1)
        edges = np.unique(np.concatenate([[low], np.floor(cuts[1:-1]) + 0.5, [high]]))
        unit, weights = _rule()
        halves = np.diff(edges) / 2
        nodes = (edges[:-1] + halves)[:, None] + halves[:, None] * unit
        return cls(edges, nodes.ravel(), (halves[:, None] * weights).ravel())

    @property
    def panels(self) -> int:
        """Return the number of panels."""
        return len(self.edges) - 1

    def integral(self, values: Floats) -> float:
        """Integrate a function with ``values`` at the nodes, of shape ``(nodes,)``."""
        return float(values @ self.weights)

    def draw(self, values: Floats, density: Density, stream: Stream) -> Integers:
        """Draw one integer of each of many laws: shape ``(laws,)``.

        ``values`` holds the densities at the nodes, shape ``(laws, nodes)``, up to a factor
        of each law.  A panel is chosen by its mass, an integer in it by rejection, so that
        integers have the probabilities that ``density`` states, however wide the axis is.
        """
        laws = len(values)
        within = (values * self.weights).reshape(laws, self.panels, ORDER).sum(axis=2)
        reached = np.cumsum(within, axis=1)
        chosen = stream.generator.random(laws) * reached[:, -1]
        panel = np.minimum((reached <= chosen[:, None]).sum(axis=1), self.panels - 1)
        tops = values.reshape(laws, self.panels, ORDER).max(axis=2)
        top = ROOM * tops[np.arange(laws), panel]
        first = np.floor(self.edges[panel]).astype(np.int64) + 1
        last = np.floor(self.edges[panel + 1]).astype(np.int64)
        out = np.empty(laws, dtype=np.int64)
        waiting = np.arange(laws)
        while len(waiting):
            bounds = (last[waiting] - first[waiting]).astype(np.uint64)
            value = first[waiting] + uniform_below(bounds, stream).astype(np.int64)
            needed = stream.generator.random(len(waiting)) * top[waiting]
            accepted = needed < density(value.astype(np.float64), waiting)
            out[waiting[accepted]] = value[accepted]
            waiting = waiting[~accepted]
        return out
