"""Test how equally the integers share the values that a normal float can take.

numpy's ziggurat (Marsaglia, Tsang 2000) has 256 strips of one area; a draw in strip ``i``
is ``k x_i / 2^52`` for an integer ``k``, uniform.  The values that end up at a result are
counted strip by strip, in the sampler's own floats, and compared with their fair share.
Strips that a result straddles are left out: they are few.
"""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.randomness import Stream
from penstock.randomness.normal import _Draw

STRIPS = 256
LAST_EDGE, AREA = 3.6541528853610088, 0.00492867323399
POINT = 2.0**-61
"""The probability of one value: one of 256 strips, two signs, 2^52 multiples."""

Floats = NDArray[np.float64]


def _edges() -> Floats:
    """Return the strips' right ends, the innermost first: shape ``(257,)``."""
    edges = [AREA / math.exp(-(LAST_EDGE**2) / 2), LAST_EDGE]
    while len(edges) < STRIPS:
        height = AREA / edges[-1] + math.exp(-(edges[-1] ** 2) / 2)
        edges.append(math.sqrt(-2 * math.log(height)))
    return np.array([0.0, *reversed(edges)])


def _values_up_to(bound: Floats, width: float, deviation: float) -> Floats:
    """Return how many ``k >= 0`` have ``(k width) deviation <= bound`` in floats."""
    count = np.floor(bound / (width * deviation))
    for _ in range(3):
        count = np.where(count * width * deviation <= bound, count, count - 1)
    for _ in range(3):
        count = np.where((count + 1) * width * deviation <= bound, count + 1, count)
    return count + 1


def _log2_rms_share_error(log2_deviation: float, window: int, deviation: float) -> float:
    scale = 2.0**log2_deviation
    results = np.rint(np.linspace(0.01, 3.5, 2000) * scale)
    edges = _edges()
    excess = np.zeros(len(results))
    for inner, outer in pairwise(edges):
        width = outer / 2**52
        low, high = results - window / 2, results + window / 2
        counted = _values_up_to(high, width, deviation) - _values_up_to(low, width, deviation)
        fair = window / deviation / width
        excess += np.where((high < inner * deviation) & (low > 0), counted - fair, 0.0)
    density = np.exp(-((results / scale) ** 2) / 2) / math.sqrt(2 * math.pi)
    errors = excess * POINT / (density * window / scale)
    return float(np.log2(np.sqrt(np.average(errors**2, weights=density))))


@pytest.mark.parametrize("log2_deviation", [8, 9, 9.9, 10.1, 14.3, 17, 20.9, 33, 46.5])
def test_results_share_the_floats_values_to_2_to_the_minus_43(log2_deviation: float) -> None:
    draw = _Draw(Fraction(2 ** (2 * log2_deviation)), Stream.from_key(bytes(32)))
    error = _log2_rms_share_error(log2_deviation, 1 << draw.window_bits, draw.deviation)
    assert error < -43


def test_without_a_window_wide_draws_would_not() -> None:
    assert _log2_rms_share_error(20.0, 1, 2.0**20) > -38
    assert _log2_rms_share_error(40.0, 1, 2.0**40) > -18


def test_the_innermost_strip_closes_at_the_same_area() -> None:
    edges = _edges()
    assert len(edges) == STRIPS + 1
    heights = np.exp(-(edges[1:] ** 2) / 2)
    top = 1 - heights[0]
    assert top * edges[1] == pytest.approx(AREA, rel=1e-6)
