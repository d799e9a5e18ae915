from fractions import Fraction

import numpy as np
import pytest
from mpmath import mp, mpf

from penstock.errors import InvalidInput
from penstock.randomness import Stream
from penstock.randomness.normal import (
    CHUNK,
    LARGEST_VARIANCE,
    SMALLEST_VARIANCE,
    _Draw,
    rounded_bridge,
    rounded_normal,
)

KEY = bytes(range(32))
CENTER = mpf("0.3")


def _rms_log2_error(deviation: int, window: int, correction: mpf) -> float:
    """Return log2 of the rms of the smoothed normal's error.

    The error is in log-probability, at 40 digits.
    """
    with mp.workdps(40):
        spread = mp.sqrt(mpf(deviation) ** 2 - correction)
        half = mpf(window) / 2
        norm = mp.sqrt(2 * mp.pi) * deviation
        total = mpf(0)
        for value in range(-8 * deviation, 8 * deviation + 1, max(1, deviation // 64)):
            offset = abs(value - CENTER)
            smoothed = mp.ncdf((half - offset) / spread) - mp.ncdf((-half - offset) / spread)
            ideal = mp.exp(-(offset**2) / (2 * mpf(deviation) ** 2)) / norm
            total += ideal * mp.log(smoothed / window / ideal) ** 2
        weight = max(1, deviation // 64)
        return float(mp.log(mp.sqrt(total * weight), 2))


def test_sheppards_correction_takes_the_error_from_2_to_the_minus_20_to_minus_41() -> None:
    assert _rms_log2_error(256, 1, mpf(0)) == pytest.approx(-20.085, abs=1e-3)
    assert _rms_log2_error(256, 1, mpf(1) / 12) == pytest.approx(-41.199, abs=1e-3)


def test_what_sheppards_correction_leaves_is_the_boxes_fourth_cumulant() -> None:
    leading_term = np.log2(24**0.5 / 2880) - 32
    assert _rms_log2_error(256, 1, mpf(1) / 12) == pytest.approx(leading_term, abs=1e-6)


def test_wide_draws_smoothed_by_a_window_err_by_less_than_2_to_the_minus_45() -> None:
    for bits in (1, 10):
        window = 1 << bits
        assert _rms_log2_error(512 * window, window, mpf(window) ** 2 / 12) < -45.19


@pytest.mark.parametrize("log2_variance", [16, 17, 19, 20, 21, 22, 40, 61, 94])
def test_windows_split_one_deviation_into_512_to_1024(log2_variance: int) -> None:
    for variance in (Fraction(1 << log2_variance), Fraction((1 << log2_variance) * 4, 5)):
        if not SMALLEST_VARIANCE <= variance <= LARGEST_VARIANCE:
            continue
        draw = _Draw(variance, Stream.from_key(KEY))
        windows = float(variance) ** 0.5 / 2**draw.window_bits
        assert windows < 1024
        assert windows >= 512 or draw.window_bits == 0
        width = Fraction(4**draw.window_bits)
        assert draw.deviation**2 == pytest.approx(float(variance - width / 12), rel=1e-15)


@pytest.mark.parametrize("log2_deviation", [8, 9, 10, 11, 20, 33, 47])
def test_draws_have_their_mean_variance_and_kurtosis(log2_deviation: int) -> None:
    size = 400_000
    drawn = rounded_normal(Fraction(4**log2_deviation), size, Stream.from_key(KEY))
    scaled = drawn / 2.0**log2_deviation
    assert abs(scaled.mean()) < 6 / size**0.5
    assert abs(scaled.var() - 1) < 6 * (2 / size) ** 0.5
    assert abs((scaled**4).mean() - 3) < 6 * (96 / size) ** 0.5


@pytest.mark.parametrize("log2_variance", [16, 18, 22, 30, 90])
def test_a_bridges_noise_is_that_of_a_draw_around_the_weighted_difference(
    log2_variance: int,
) -> None:
    variance, weight = Fraction(1 << log2_variance), Fraction(3, 7)
    difference = np.arange(-50_000, 50_000, dtype=np.int64) << 32
    bridged = rounded_bridge(difference, weight, variance, Stream.from_key(KEY))
    plain = rounded_normal(variance, len(difference), Stream.from_key(KEY))
    # 3 d / 7 in integers; one step for the rounding, and floats keep 53 bits of the center
    center = (difference // 7) * 3 + (difference % 7) * 3 // 7
    assert np.abs(bridged - plain - center).max() <= 2


def test_centers_between_lattice_points_are_met_on_average() -> None:
    size = 1_000_000
    for center in (1, 2, 3, 7):
        difference = np.full(size, center, dtype=np.int64)
        stream = Stream.from_key(bytes([center]) * 32)
        bridged = rounded_bridge(difference, Fraction(1, 8), Fraction(1 << 16), stream)
        assert abs(bridged.mean() - center / 8) < 6 * 256 / size**0.5


@pytest.mark.parametrize("size", [0, 1, 2, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 5])
def test_every_size_is_filled_to_its_end(size: int) -> None:
    drawn = rounded_normal(Fraction(1 << 40), size, Stream.from_key(KEY))
    assert drawn.shape == (size,)
    assert drawn.dtype == np.int64
    assert len(np.unique(drawn)) >= 0.9 * size


def test_one_key_gives_one_vector() -> None:
    first, second = (rounded_normal(Fraction(1 << 30), 99, Stream.from_key(KEY)) for _ in range(2))
    assert np.array_equal(first, second)
    other = rounded_normal(Fraction(1 << 30), 99, Stream.from_key(bytes(32)))
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("variance", [Fraction(1), Fraction((1 << 16) - 1), Fraction(1 << 95)])
def test_variances_whose_law_would_be_inexact_are_refused(variance: Fraction) -> None:
    with pytest.raises(InvalidInput, match="levels further apart"):
        rounded_normal(variance, 1, Stream.from_key(KEY))
