"""Compute the confidence interval of a running total: the spread of a sum of independent noises.

For Gaussian noise a sum has the law of one draw, and for Laplace noise the standard deviation
is as simple.  A half width for Laplace needs the law of the sum, whose characteristic
function is ``prod 1 / (1 + (b_s u)^2)``; it is inverted by a sum over a grid (Gil-Pelaez
1951) that is fine and long enough for an error below ``1e-7``: an engineering bound.
"""

from collections.abc import Iterable
from fractions import Fraction
from functools import lru_cache

import numpy as np

from penstock.errors import InvalidInput
from penstock.structures.streams.forest import Forest, chain

_PERIOD = 60.0
"""The period by which the grid repeats the law, in standard deviations."""

_POINTS = 1 << 14


def weights(forest: Forest, node: int) -> tuple[Fraction, ...]:
    """Return the weights of the nodes whose noises the output at ``node`` adds up, in order."""
    return tuple(sorted(forest.weight(each) for each in chain(forest, node)))


def laplace_half_width(scales: Iterable[Fraction], confidence: float) -> float:
    """Return the half width within which the sum of Laplace noises of these scales lies.

    The sum does so with probability ``confidence``; the half width is in units of the scales.
    Raises ``InvalidInput`` without a scale, and for a confidence outside (0, 1).
    """
    return _half_width(tuple(sorted(map(float, scales))), confidence)


@lru_cache(maxsize=4096)
def _half_width(scales: tuple[float, ...], confidence: float) -> float:
    if not scales or not 0 < confidence < 1:
        raise InvalidInput("A half width needs a scale, and a confidence between 0 and 1.")
    if len(scales) == 1:
        return float(-scales[0] * np.log1p(-confidence))
    deviation = float(np.sqrt(2 * np.square(scales).sum()))
    frequencies = (np.arange(_POINTS) + 0.5) * (2 * np.pi / _PERIOD)
    scaled = np.array(scales)[:, None] / deviation
    values = np.prod(1 / (1 + np.square(scaled * frequencies)), axis=0) / frequencies

    def inside(width: float) -> float:
        return float(4 / _PERIOD * (np.sin(frequencies * width) * values).sum())

    low, high = 0.0, _PERIOD / 4
    while high - low > 1e-7:
        middle = (low + high) / 2
        low, high = (middle, high) if inside(middle) < confidence else (low, middle)
    return high * deviation
