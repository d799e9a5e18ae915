"""Mechanisms that are wrong in one way each, which the tests must find out."""

from fractions import Fraction
from typing import cast

import numpy as np
from numpy.typing import NDArray

from penstock.mechanisms import IntVector, Mechanism
from penstock.randomness import Stream


class _Wrapped:
    """The mechanism itself; variants override what they break."""

    def __init__(self, mechanism: Mechanism) -> None:
        self._mechanism = mechanism

    def __getattr__(self, name: str) -> object:
        return getattr(self._mechanism, name)

    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        return self._mechanism.increment(accurate, noisy, size, stream)

    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,
        difference: IntVector,
        level: Fraction,
        stream: Stream,
    ) -> IntVector:
        return self._mechanism.bridge(accurate, noisy, difference, level, stream)


def wrong_level(mechanism: Mechanism) -> Mechanism:
    """Draws 1/32 too much of the level's parameter."""
    return cast(Mechanism, _WrongLevel(mechanism))


def one_sided_bridge(mechanism: Mechanism) -> Mechanism:
    """Forgets the noisier neighbor."""
    return cast(Mechanism, _OneSidedBridge(mechanism))


def uniform_bridge(mechanism: Mechanism) -> Mechanism:
    """Keeps all means and covariances, and has uniform noise in place of the right one."""
    return cast(Mechanism, _UniformBridge(mechanism))


class _WrongLevel(_Wrapped):
    def increment(
        self, accurate: Fraction, noisy: Fraction, size: int, stream: Stream
    ) -> IntVector:
        much = Fraction(33, 32)
        return self._mechanism.increment(accurate * much, noisy * much, size, stream)


class _OneSidedBridge(_Wrapped):
    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,  # noqa: ARG002 - this is what it forgets
        difference: IntVector,
        level: Fraction,
        stream: Stream,
    ) -> IntVector:
        size = len(difference) // self._mechanism.parts
        return self._mechanism.increment(accurate, level, size, stream)


class _UniformBridge(_Wrapped):
    def bridge(
        self,
        accurate: Fraction,
        noisy: Fraction,
        difference: IntVector,
        level: Fraction,
        stream: Stream,
    ) -> IntVector:
        low, middle, high = (self._variance(at) for at in (accurate, level, noisy))
        weight = (middle - low) / (high - low)
        reach = np.sqrt(3 * weight * (high - middle))
        noise = stream.generator.uniform(-reach, reach, len(difference))
        return np.rint(weight * difference + noise).astype(np.int64)

    def _variance(self, level: Fraction) -> float:
        if not level:
            return 0.0
        deviation = self._mechanism.error(level, 0.95).standard_deviation
        return float((deviation / float(self._mechanism.granularity)) ** 2)


def float_laplace_pair(
    exact: float, scales: tuple[float, float, float], size: int, stream: Stream
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Textbook Laplace releases in plain floats: at ``scales[1]``, bridged, and ``scales[2]``.

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
