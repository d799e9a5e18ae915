"""Test wide Gaussian draws, whose windows hold from 8 bits to 37.

At these widths four bits are far below the deviation, so they are independent of the rest.
"""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from tests.statistical.checks import Cells, accept, joint_chi_squared, rejects
from tests.statistical.processes.paths import keyed_streams
from tests.statistical.sample_sizes import every_size
from tests.statistical.samplers.wide import EDGES, LARGE, SIZE

from penstock.randomness.normal import rounded_bridge

SWAYED = 1 << 19
WEIGHT = Fraction(3, 8)

WIDTHS = (17, 18, 20, 25, 26, 33, 46)
every_width = pytest.mark.parametrize("log2_deviation", WIDTHS)
some_widths = pytest.mark.parametrize(
    "log2_deviation",
    [
        width if width in (17, 26, 46) else pytest.param(width, marks=pytest.mark.nightly)
        for width in WIDTHS
    ],
)

_LOW_BITS = Cells(np.arange(1, 16), np.full(16, 1 / 16))


def _bridged(log2_deviation: int, variance: Fraction, size: int) -> tuple[NDArray[np.int64], int]:
    """Return results, less the centers' whole parts: shape ``(size,)``; and their deviation."""
    stream = keyed_streams(f"wide draws/{log2_deviation}")()
    whole = stream.raw_uint64(size).view(np.int64) >> 14
    difference = whole // 8 * 8
    drawn = rounded_bridge(difference, WEIGHT, variance, stream)
    return drawn - difference // 8 * 3, 1 << log2_deviation


def _fits(noise: NDArray[np.int64], deviation: int) -> float:
    """Return the P-value of the noise being normal, and independent of its own last four bits."""
    edges = np.rint(EDGES * deviation / 16).astype(np.int64) * 16
    masses = np.diff(stats.norm.cdf((edges - 0.5) / deviation), prepend=0.0, append=1.0)
    return joint_chi_squared([noise, noise & 15], [Cells(edges, masses), _LOW_BITS])


@every_size
@every_width
def test_draws_are_normal_and_their_last_bits_say_nothing(
    log2_deviation: int, *, large: bool
) -> None:
    variance = Fraction(4**log2_deviation)
    drawn = _bridged(log2_deviation, variance, LARGE if large else SIZE)
    accept(_fits(*drawn), f"2^{log2_deviation}")


@some_widths
def test_three_percent_too_much_variance_is_found_out(log2_deviation: int) -> None:
    variance = Fraction(4**log2_deviation) * Fraction(31, 30)
    assert rejects(_fits(*_bridged(log2_deviation, variance, SIZE)))


@some_widths
def test_last_bits_that_follow_the_sign_are_found_out(log2_deviation: int) -> None:
    noise, deviation = _bridged(log2_deviation, Fraction(4**log2_deviation), SWAYED)
    swayed = np.where(np.arange(SWAYED) % 16 == 0, noise | (noise < 0), noise)
    assert rejects(_fits(swayed, deviation))
