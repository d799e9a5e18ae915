"""Test that means are read from released pairs.

Clamped, with intervals that hold what they promise.
"""

import math
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray

from penstock.mechanisms import MECHANISMS, draw_anchor
from penstock.privacy import Sensitivity
from penstock.randomness import Stream
from penstock.services.noise.means import Bounds, Means, means
from penstock.services.noise.process import CONFIDENCE, Process

BOUNDS = Bounds(-10, 30)
STEP = Fraction(1, 2)
"""Half a step of 1, in which sums are counted."""

LEVELS = {"gaussian": Fraction(2000), "laplace": Fraction(30), "poisson": Fraction(4000)}


def process_of(mechanism: str) -> Process:
    ceiling = LEVELS[mechanism]
    one = Sensitivity(Fraction(80), Fraction(3200), Fraction(40))
    family, ladder = MECHANISMS[mechanism].plan(ceiling, STEP, Fraction(2**24))
    return Process(family, ladder, one)


def drawn(mechanism: str, exact: list[tuple[float, int]], key: bytes) -> Means:
    """Return the means of keys with this exact mean over so many rows each."""
    process = process_of(mechanism)
    rung = process.ladder.rung_at_or_above(LEVELS[mechanism])
    sums = [(mean - BOUNDS.middle) * rows for mean, rows in exact]
    weighted = [rows * BOUNDS.weight for _, rows in exact]
    scale = float(process.mechanism.granularity)
    steps = np.array([value / scale for value in (*sums, *weighted)], dtype=np.int64)
    noisy = draw_anchor(process.mechanism, steps, process.ladder.value(rung), Stream.from_key(key))
    return means(process, rung, process.values(rung, noisy), BOUNDS)


def covered(found: Means, exact: float) -> float:
    return float(np.mean((found.details.lower <= exact) & (exact <= found.details.upper)))


KEYS = 4000
ALLOWANCE = 4 * math.sqrt(0.05 * 0.95 / KEYS)
"""Four standard deviations of a share of 0.95 among so many keys."""


@pytest.mark.parametrize("mechanism", sorted(LEVELS))
@pytest.mark.parametrize("rows", [1, 6, 40, 1000])
@pytest.mark.parametrize("mean", [-10, 10, 25, 30])
def test_an_interval_holds_the_mean_as_often_as_it_says(
    mechanism: str, rows: int, mean: float
) -> None:
    found = drawn(mechanism, [(mean, rows)] * KEYS, bytes([rows % 256]) * 32)
    assert covered(found, mean) >= CONFIDENCE - ALLOWANCE


def fieller(total: float, weighted: float, deviation: float) -> tuple[float, float]:
    """Return the roots of ``(S - r W)^2 = z^2 s^2 (1 + r^2)``, for a count that is not near 0."""
    square = (NormalDist().inv_cdf((1 + CONFIDENCE) / 2) * deviation) ** 2
    spread = math.sqrt(square * (total**2 + weighted**2 - square))
    divisor = weighted**2 - square
    return (total * weighted - spread) / divisor, (total * weighted + spread) / divisor


@pytest.mark.parametrize("total", [-9000.0, -300.0, 0.0, 2000.0, 15000.0])
@pytest.mark.parametrize("rows", [12, 40, 1000])
def test_for_gaussian_noise_an_interval_is_fiellers(total: float, rows: float) -> None:
    found = read([total], [rows])
    ends = fieller(total, rows * BOUNDS.weight, found.details.sum_error.standard_deviation)
    low, high = (float(np.clip(10 + 20 * end, -10, 30)) for end in ends)
    if low == high:  # the set has no mean between the bounds
        low, high = -10.0, 30.0
    widening = (high - low) / 1000
    assert low - widening <= found.details.lower[0] <= low + 1e-9 * abs(low)
    assert high - 1e-9 * abs(high) <= found.details.upper[0] <= high + widening


def test_a_set_of_two_parts_is_shown_with_what_lies_between() -> None:
    """The count may be 0 and the sum is not: means near either bound are possible, others not."""
    found = read([100.0], [0.5]).details
    assert (found.lower[0], found.upper[0]) == (-10, 30)


def test_a_set_beyond_one_end_is_cut_off_at_the_bound() -> None:
    """The count is within its error of 0, but the sum is too large for a mean below the middle."""
    found = read([115.0], [3.5]).details
    assert found.lower[0] > 10
    assert found.upper[0] == 30


def test_an_interval_holds_its_mean() -> None:
    sums, counts = np.meshgrid(np.linspace(-400, 400, 81), np.linspace(-12, 24, 73))
    found = read(sums.ravel().tolist(), counts.ravel().tolist())
    assert np.all(found.details.lower <= found.values)
    assert np.all(found.values <= found.details.upper)
    assert np.all((found.details.lower >= -10) & (found.details.upper <= 30))


@pytest.mark.parametrize("mechanism", sorted(LEVELS))
def test_an_interval_that_forgets_the_noise_of_the_count_is_found_out(mechanism: str) -> None:
    found = drawn(mechanism, [(30, 1000)] * KEYS, bytes(32))
    details = found.details
    half = details.sum_error.half_width / details.counts
    forgetful = np.abs(details.centered_sums / details.counts - 20) <= half
    assert np.mean(forgetful) < CONFIDENCE - ALLOWANCE


@pytest.mark.parametrize("mechanism", sorted(LEVELS))
def test_over_many_rows_the_mean_is_as_accurate_as_it_says(mechanism: str) -> None:
    for mean in (10, 25):
        found = drawn(mechanism, [(mean, 1000)] * KEYS, b"k" * 32)
        spread = float(np.std(found.values))
        assert abs(float(np.mean(found.values)) - mean) < 5 * spread / math.sqrt(KEYS)
        assert spread == pytest.approx(found.error.standard_deviation, rel=0.1)
        widths = found.details.upper - found.details.lower
        assert np.all(widths < 8 * spread)


def test_the_pair_itself_is_handed_out_as_it_was_drawn() -> None:
    found = drawn("gaussian", [(25, 1000)] * 50, bytes(32)).details
    assert found.middle == 10
    assert np.mean(found.counts) == pytest.approx(1000, abs=3)
    assert np.mean(found.centered_sums) == pytest.approx(15_000, abs=40)
    assert found.sum_error.standard_deviation == pytest.approx(math.sqrt(2000), rel=1e-2)
    assert found.count_error.half_width == pytest.approx(found.sum_error.half_width / 20)


def read(sums: list[float], counts: list[float]) -> Means:
    """Return the means of these pairs, with a noise whose half width is about 90 and 4.4 rows."""
    process = process_of("gaussian")
    rung = process.ladder.rung_at_or_above(LEVELS["gaussian"])
    pairs: NDArray[np.float64] = np.array([*sums, *(count * BOUNDS.weight for count in counts)])
    return means(process, rung, pairs, BOUNDS)


def test_the_mean_of_nothing_is_anything_between_the_bounds() -> None:
    found = read([0, 700, -3, 12], [-90, -60, -8, 0])
    assert np.all((found.values >= -10) & (found.values <= 30))
    assert found.details.lower.tolist() == [-10, -10, -10, -10]
    assert found.details.upper.tolist() == [30, 30, 30, 30]
    assert found.error.half_width <= 40
    assert found.error.standard_deviation <= 20


def test_a_mean_and_its_interval_stay_between_the_bounds() -> None:
    found = read([1e6, -1e6, 0], [10, 10, 10])
    assert found.values.tolist() == [30, -10, 10]
    # No mean between the bounds is in the set, so that nothing is known.
    assert found.details.lower.tolist()[:2] == [-10, -10]
    assert found.details.upper.tolist()[:2] == [30, 30]
    narrow = read([195.0], [10.0])
    assert (narrow.details.lower[0], narrow.details.upper[0]) != (-10, 30)
    assert narrow.details.upper[0] == 30


def test_the_error_of_a_release_is_that_of_its_worst_key() -> None:
    many, few = read([0], [10_000]), read([0], [40])
    both = read([0, 0], [10_000, 40])
    assert both.error == few.error
    assert many.error.half_width < few.error.half_width / 100
    reach = np.maximum(both.values - both.details.lower, both.details.upper - both.values)
    assert both.error.half_width == reach.max()
