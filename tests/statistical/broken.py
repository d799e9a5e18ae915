"""Provide mechanisms that are wrong in one way each, which the tests must find out."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from typing import cast

import numpy as np
from numpy.typing import NDArray

from penstock.mechanisms import IntVector, Mechanism
from penstock.randomness import Stream

Draw = Callable[[Mechanism, Fraction, Fraction, int, Stream], IntVector]
"""An increment, as a mechanism draws it: it, from, to, how many, and from which stream."""

Split = Callable[[Mechanism, Fraction, Fraction, IntVector, Fraction, Stream], IntVector]
"""A bridge: the mechanism, from, to, what lies between, where, and from which stream."""


class _Altered:
    """Stand for a mechanism that draws in other ways, and is itself in all the rest."""

    def __init__(self, mechanism: Mechanism, increment: Draw | None, bridge: Split | None) -> None:
        self._mechanism = mechanism
        self.increment = mechanism.increment if increment is None else partial(increment, mechanism)
        self.bridge = mechanism.bridge if bridge is None else partial(bridge, mechanism)

    def __getattr__(self, name: str) -> object:
        return getattr(self._mechanism, name)


def altered(
    mechanism: Mechanism, *, increment: Draw | None = None, bridge: Split | None = None
) -> Mechanism:
    """Return ``mechanism`` with other increments or bridges."""
    return cast(Mechanism, _Altered(mechanism, increment, bridge))


def wrong_level(mechanism: Mechanism) -> Mechanism:
    """Return a variant that draws 1/32 too much of the level's parameter."""
    much = Fraction(33, 32)
    return altered(
        mechanism,
        increment=lambda own, accurate, noisy, size, stream: own.increment(
            accurate * much, noisy * much, size, stream
        ),
    )


def one_sided_bridge(mechanism: Mechanism) -> Mechanism:
    """Return a variant whose bridges forget the noisier neighbor."""
    return altered(
        mechanism,
        bridge=lambda own, accurate, _, difference, level, stream: own.increment(
            accurate, level, len(difference) // own.parts, stream
        ),
    )


def uniform_bridge(mechanism: Mechanism) -> Mechanism:
    """Return a variant with all the right means and covariances, and uniform noise."""
    return altered(mechanism, bridge=_uniform)


def _uniform(
    own: Mechanism,
    accurate: Fraction,
    noisy: Fraction,
    difference: IntVector,
    level: Fraction,
    stream: Stream,
) -> IntVector:
    low, middle, high = (_variance(own, at) for at in (accurate, level, noisy))
    weight = (middle - low) / (high - low)
    reach = np.sqrt(3 * weight * (high - middle))
    noise = stream.generator.uniform(-reach, reach, len(difference))
    return np.rint(weight * difference + noise).astype(np.int64)


def _variance(own: Mechanism, level: Fraction) -> float:
    if not level:
        return 0.0
    deviation = own.error(level, 0.95).standard_deviation
    return float((deviation / float(own.granularity)) ** 2)


def float_laplace_pair(
    exact: float, scales: tuple[float, float, float], size: int, stream: Stream
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Draw textbook Laplace releases in plain floats: at ``scales[1]``, bridged, and ``scales[2]``.

    The right law, with the release at ``scales[0]`` bridged before.  "Equal to the
    noisier neighbor" is ``y + (z - y)`` here, which in floats is often not ``z``: atoms
    get lost.  Shapes ``(size,)``.
    """
    finest, middle, far = scales
    noise = stream.generator
    start = noise.laplace(0.0, finest, size)
    stays = noise.random(size) < (finest / middle) ** 2
    first = np.where(stays, 0.0, noise.laplace(0.0, middle, size))
    stays = noise.random(size) < (middle / far) ** 2
    second = np.where(stays, 0.0, noise.laplace(0.0, far, size))
    accurate, noisy = exact + start, exact + (start + first + second)
    return accurate + np.where(stays, noisy - accurate, first), noisy
