"""Enumerate what one key of a sparse histogram with discrete Laplace noise shows, as a reference.

The noise of a key is ``X(s)`` at levels ``s`` of increasing scale: ``DL(p)`` at the first, and from
one to the next it stays, or moves by the noise of the next.  All sums are over the lattice, on
``-reach`` to ``reach`` steps, so that they err by what is beyond alone.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.signal import fftconvolve

Floats = NDArray[np.float64]


def law(p: float, reach: int) -> Floats:
    """Return ``DL(p)`` on ``-reach`` to ``reach``."""
    return (1 - p) / (1 + p) * p ** np.abs(np.arange(-reach, reach + 1))


def moved(p: float, q: float, reach: int) -> Floats:
    """Return the law of ``X(q) - X(p)``; ``p = 0`` is no noise."""
    if p == 0:
        return law(q, reach)
    stays = p / q * ((1 - q) / (1 - p)) ** 2
    out = (1 - stays) * law(q, reach)
    out[reach] += stays
    return out


def patterns(
    parameters: Sequence[float], thresholds: Sequence[int], count: int, reach: int
) -> Floats:
    """Return the law of the set of levels that report a key with this count.

    Shape ``(2^levels,)``: the bits of an index, from the lowest, are the levels in order.
    """
    values = np.arange(-reach, reach + 1) + count
    found = {0: np.eye(1, 2 * reach + 1, reach)[0]}
    before = 0.0
    for bit, (p, threshold) in enumerate(zip(parameters, thresholds, strict=True)):
        kernel, above, split = moved(before, p, reach), values > threshold, {}
        for pattern, mass in found.items():
            spread = fftconvolve(mass, kernel, mode="same")
            split[pattern] = spread * ~above
            split[pattern | 1 << bit] = spread * above
        found, before = split, p
    return np.array([found[pattern].sum() for pattern in range(1 << len(parameters))])


def outcomes(
    parameters: tuple[float, float], thresholds: tuple[int, int], count: int, reach: int
) -> Floats:
    """Return the joint law of what two levels show of a key: index 0 is silence.

    Index ``i`` above 0 is the value ``thresholds[level] + i``.
    """
    first = law(parameters[0], reach)
    kernel = moved(*parameters, 2 * reach)
    at = np.arange(-reach, reach + 1)
    joint: Floats = first[:, None] * kernel[at[None, :] - at[:, None] + 2 * reach]
    for axis, threshold in enumerate(thresholds):
        silent = at + count <= threshold
        lost = joint.compress(silent, axis).sum(axis, keepdims=True)
        joint = np.concatenate([lost, joint.compress(~silent, axis)], axis)
    return joint
