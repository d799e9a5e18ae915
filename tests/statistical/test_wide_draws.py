"""Wide Gaussian draws, whose windows hold from 8 bits to 37.

At these widths four bits are far below the deviation, so they are independent of the rest.
"""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.statistical.checks import Cells, accept, joint_chi_squared, rejects
from tests.statistical.paths import keyed_streams

from penstock.randomness.normal import rounded_bridge

SIZE = 1 << 20
WEIGHT = Fraction(3, 8)

every_width = pytest.mark.parametrize("log2_deviation", [17, 18, 20, 25, 26, 33, 46])

_EDGES = stats.norm.ppf(np.arange(1, 16) / 16)
_LOW_BITS = Cells(np.arange(1, 16), np.full(16, 1 / 16))


def _bridged(log2_deviation: int, variance: Fraction) -> tuple[NDArray[np.int64], int]:
    """Results, less the centers' whole parts: shape ``(SIZE,)``; and their deviation."""
    stream = keyed_streams(f"wide draws/{log2_deviation}")()
    whole = stream.raw_uint64(SIZE).view(np.int64) >> 14
    difference = whole // 8 * 8
    drawn = rounded_bridge(difference, WEIGHT, variance, stream)
    return drawn - difference // 8 * 3, 1 << log2_deviation


def _fits(noise: NDArray[np.int64], deviation: int) -> float:
    """P-value of the noise being normal, and independent of its own last four bits."""
    edges = np.rint(_EDGES * deviation / 16).astype(np.int64) * 16
    masses = np.diff(stats.norm.cdf((edges - 0.5) / deviation), prepend=0.0, append=1.0)
    return joint_chi_squared([noise, noise & 15], [Cells(edges, masses), _LOW_BITS])


@every_width
def test_draws_are_normal_and_their_last_bits_say_nothing(log2_deviation: int) -> None:
    accept(_fits(*_bridged(log2_deviation, Fraction(4**log2_deviation))), f"2^{log2_deviation}")


@every_width
def test_three_percent_too_much_variance_is_found_out(log2_deviation: int) -> None:
    variance = Fraction(4**log2_deviation) * Fraction(31, 30)
    assert rejects(_fits(*_bridged(log2_deviation, variance)))


@every_width
def test_last_bits_that_follow_the_sign_are_found_out(log2_deviation: int) -> None:
    noise, deviation = _bridged(log2_deviation, Fraction(4**log2_deviation))
    swayed = np.where(np.arange(SIZE) % 16 == 0, noise | (noise < 0), noise)
    assert rejects(_fits(swayed, deviation))
