"""Compute how far several elements of a stream move the nodes of a tree together.

Each node of a tree counts a stretch of adjacent elements, and of two stretches one is within the
other or they are apart.  If each of several elements changes by at most 1, a node that counts ``c``
of them moves by at most ``c``, and by ``c`` if all change alike.  So the most that all nodes move
is the largest sum of ``c`` (l1) or of ``c^2`` (l2 squared) over the nodes, for the worst elements.

It is found from single elements upwards.  A *best* has at place ``r`` the largest sum over the
nodes within a stretch, for ``r`` of its elements; it has no place beyond their number.
"""

from typing import Final

import numpy as np
from numpy.typing import NDArray

Best = NDArray[np.int64]

MOST_CHOSEN: Final = 512
"""The most elements for which the worst are found; the work grows with the square."""

NONE: Final[Best] = np.zeros(1, dtype=np.int64)
"""The best of a stretch without elements."""

SINGLE: Final[Best] = np.zeros(2, dtype=np.int64)
"""The best of one element, within which there are no nodes."""


def counted(best: Best, power: int) -> Best:
    """Return the best of a stretch that is counted by a node itself."""
    return np.asarray(best + np.arange(len(best)) ** power)


def beside(first: Best, second: Best, most: int) -> Best:
    """Return the best of two stretches side by side, for at most ``most`` elements."""
    short, long = sorted((first, second), key=len)
    size = min(len(short) + len(long) - 1, most + 1)
    sums = np.zeros(size, dtype=np.int64)
    for chosen, value in enumerate(short[:size]):
        part = long[: size - chosen] + value
        np.maximum(sums[chosen : chosen + len(part)], part, out=sums[chosen : chosen + len(part)])
    return sums


def repeated(best: Best, copies: int, most: int) -> Best:
    """Return the best of ``copies`` like stretches side by side."""
    together = NONE
    while copies:
        if copies & 1:
            together = beside(together, best, most)
        copies >>= 1
        if copies:
            best = beside(best, best, most)
    return together
