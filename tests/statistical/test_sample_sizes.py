"""Test that samples are as large as their broken variants ask for, and the calculation holds."""

from collections.abc import Callable, Iterator
from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats
from scipy.special import gammainc, gammaincinv
from tests.statistical.cases import GAUSSIAN
from tests.statistical.checks import cells_of, chi_squared, rejects
from tests.statistical.processes.paths import keyed_streams
from tests.statistical.sample_sizes import (
    MISSED,
    masses_over,
    power,
    power_of,
    sample_size,
    sample_size_of_mean,
)
from tests.statistical.samplers import vectors, wide
from tests.statistical.samplers.grids import SIZES, STEPS

Floats = NDArray[np.float64]

UNEVEN = np.array([0.4, 0.3, 0.2, 0.1])
MORE_UNEVEN = np.array([0.42, 0.29, 0.2, 0.09])


def _rejected(law: Floats, size: int, runs: int) -> int:
    stream = keyed_streams(f"sample sizes/{size}")()
    counts = stream.generator.multinomial(size, law, runs)
    return sum(rejects(chi_squared(observed, UNEVEN * size)) for observed in counts)


def test_the_calculated_power_is_the_one_that_checks_have() -> None:
    size = sample_size(UNEVEN, MORE_UNEVEN)
    assert _rejected(MORE_UNEVEN, size, 1_000) == 1_000
    half = power(UNEVEN, MORE_UNEVEN, size // 3)
    assert 0.2 < half < 0.8
    # A right power is beyond 5 standard errors once in 1.7 million.
    assert abs(_rejected(MORE_UNEVEN, size // 3, 1_000) / 1_000 - half) < 5 * 0.5 / 1_000**0.5


def test_a_size_is_the_least_to_within_a_twentieth() -> None:
    size = sample_size(UNEVEN, MORE_UNEVEN)
    assert power(UNEVEN, MORE_UNEVEN, size) >= 1 - MISSED
    assert power(UNEVEN, MORE_UNEVEN, int(size * 0.95)) < 1 - MISSED


def test_one_cell_tells_nothing() -> None:
    assert power_of(1e9, 1) == 0.0


def test_a_mean_needs_eleven_deviations() -> None:
    assert sample_size_of_mean(0.1) == pytest.approx((10 * (6.109 + 4.753)) ** 2, rel=1e-3)
    assert 140 < sample_size_of_mean(1.0, tests=2_400) < 155


def _generalized(power_of_law: float, ends: Floats) -> Floats:
    """Return the probabilities of the cells between ``ends``, which are in units of the scale."""
    below = np.sign(ends) * gammainc(1 / power_of_law, np.abs(ends) ** power_of_law) / 2
    return np.diff(below)


def _narrow() -> Iterator[tuple[int, Floats, Floats]]:
    """Return sizes at 64 steps, and the probabilities of every integer."""
    edges = np.arange(-1_600, 1_602, dtype=np.float64) - 0.5

    def steps(power_of_law: float, scale: float = 64.0) -> Floats:
        return _generalized(power_of_law, np.asarray(edges / scale, dtype=np.float64))

    for name, other in (("1", 1.02), ("4", 4.2), ("16", 14.5)):
        yield STEPS[name], steps(float(name)), steps(other)
    for name in ("2.5", "4", "16"):
        yield STEPS[name], steps(float(name)), steps(float(name), 64 * 1.02)
    values = np.arange(-1_600, 1_601)
    cut = np.sign(values) * (np.abs(values) // 2) + 1_600
    for name, size in STEPS.items():
        halved = np.bincount(cut, steps(float(name), 128.0), minlength=len(values))
        yield size, steps(float(name)), np.asarray(halved, dtype=np.float64)


def _wide() -> Iterator[tuple[int, Floats, Floats]]:
    """Return sizes at many steps, with cells of the last bits that say nothing."""
    for name in ("2.5", "4", "16"):
        p = float(name)
        inner = gammaincinv(1 / p, np.arange(1, 24) / 24) ** (1 / p)
        ends = np.array([-np.inf, *-inner[::-1], 0, *inner, np.inf])
        wrong = _generalized(p, ends / 1.02)
        yield SIZES[name], np.full(768, 1 / 768), np.repeat(wrong / 16, 16)
    ends = np.array([-np.inf, *wide.EDGES, np.inf])
    wrong = np.diff(stats.norm.cdf(ends / (31 / 30) ** 0.5))
    yield wide.SIZE, np.full(256, 1 / 256), np.repeat(wrong / 16, 16)


def _long() -> Iterator[tuple[int, Floats, Floats]]:
    level = vectors.LEVELS[1]
    cells = cells_of(GAUSSIAN.law(Fraction(0), level), 64)
    wrong = GAUSSIAN.law(Fraction(0), level * Fraction(101, 100))
    yield vectors.SIZE, cells.masses, masses_over(cells, wrong)


@pytest.mark.parametrize("sizes", [_narrow, _wide, _long], ids=["narrow", "wide", "long"])
def test_sizes_that_are_written_down_are_enough(
    sizes: Callable[[], Iterator[tuple[int, Floats, Floats]]],
) -> None:
    for size, right, wrong in sizes():
        assert power(right, wrong, size) >= 1 - MISSED
