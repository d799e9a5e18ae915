"""Provide releases at many levels, in a given order: as they should be, and as they must not be."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from hashlib import sha256
from itertools import count, pairwise

import numpy as np

from penstock.mechanisms import IntVector, Mechanism, draw_anchor, place, raise_anchor, released
from penstock.randomness import Stream

Streams = Callable[[], Stream]
Path = dict[Fraction, IntVector]
"""The values of releases by their levels, in lattice steps."""

Drawer = Callable[[Mechanism, IntVector, Sequence[Fraction], Streams], Path]


def keyed_streams(label: str) -> Streams:
    """Return streams of fixed keys, a new one at every call."""
    numbers = count()
    return lambda: Stream.from_key(sha256(f"{label}/{next(numbers)}".encode()).digest())


def lossless(
    mechanism: Mechanism, exact: IntVector, order: Sequence[Fraction], streams: Streams
) -> Path:
    """Draw each level from its nearest neighbors; a level below all of them raises the anchor."""
    path: Path = {order[0]: draw_anchor(mechanism, exact, order[0], streams())}
    for level in order[1:]:
        below = [(known, path[known]) for known in sorted(path) if known < level]
        above = [(known, path[known]) for known in sorted(path) if known > level]
        if below:
            noisy = above[0] if above else None
            path[level] = place(mechanism, below[-1], noisy, level, streams())
        else:
            path[level] = raise_anchor(mechanism, exact, above[0], level, streams())
    return _values(mechanism, path)


def stale(
    mechanism: Mechanism, exact: IntVector, order: Sequence[Fraction], streams: Streams
) -> Path:
    """Draw levels that raced, each having seen only the anchor: a broken path."""
    anchor = (order[0], draw_anchor(mechanism, exact, order[0], streams()))
    path: Path = {order[0]: anchor[1]}
    for level in order[1:]:
        path[level] = place(mechanism, anchor, None, level, streams())
    return _values(mechanism, path)


def redrawn(
    mechanism: Mechanism, exact: IntVector, order: Sequence[Fraction], streams: Streams
) -> Path:
    """Draw each level as a fresh release of the exact values: a broken path."""
    path = {level: draw_anchor(mechanism, exact, level, streams()) for level in order}
    return _values(mechanism, path)


def _values(mechanism: Mechanism, path: Path) -> Path:
    return {level: released(mechanism, kept) for level, kept in path.items()}


def increments_of(path: Path, exact: IntVector) -> list[IntVector]:
    """Return what each level adds to the one before, the most accurate first."""
    values = [exact, *(path[level] for level in sorted(path))]
    return [after - before for before, after in pairwise(values)]


def zeros(size: int) -> IntVector:
    """Return exact values of zero, so that a release is its noise."""
    return np.zeros(size, dtype=np.int64)
