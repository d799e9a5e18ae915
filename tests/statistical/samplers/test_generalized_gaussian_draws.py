"""Test generalized Gaussian draws: few and many steps wide, against the exact distribution."""

from fractions import Fraction

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import gammainc, gammaincinv
from tests.statistical.checks import Cells, accept, chi_squared, joint_chi_squared, rejects
from tests.statistical.processes.paths import keyed_streams
from tests.statistical.sample_sizes import every_size
from tests.statistical.samplers.grids import SIZES, STEPS

from penstock.mechanisms import IntVector
from penstock.randomness.generalized_gaussian import _Staircase, generalized_gaussian

LARGE = 1 << 20
NARROW, WIDE = Fraction(64), Fraction(2**40 + 1)
POWERS = ("1", "1.25", "2.5", "4", "16")

every_power = pytest.mark.parametrize("power", POWERS)


def _drawn(scale: Fraction, power: str, size: int) -> IntVector:
    label = f"generalized gaussian/{scale}/{power}"
    return generalized_gaussian(scale, Fraction(power), size, keyed_streams(label)())


def _steps(power: str, *, large: bool) -> int:
    return LARGE if large else STEPS[power]


def _fits_steps(drawn: IntVector, power: str) -> float:
    """Return the P-value of every single integer's frequency, at a scale of 64 steps."""
    reach = int(np.abs(drawn).max()) + 1
    ends = (np.arange(-reach, reach + 2) - 0.5) / float(NARROW)
    below = np.sign(ends) * gammainc(1 / float(power), np.abs(ends) ** float(power)) / 2
    observed = np.bincount(drawn + reach, minlength=2 * reach + 1)
    return chi_squared(observed, np.diff(below) * len(drawn))


def _fits_wide(drawn: IntVector, power: str) -> float:
    """Return the P-value of the sizes and of the last four bits, which must be independent."""
    edges = gammaincinv(1 / float(power), np.arange(1, 24) / 24) ** (1 / float(power))
    sizes = np.rint(np.append(-edges[::-1], [0, *edges]) * float(WIDE) / 16).astype(np.int64) * 16
    masses = np.full(48, 1 / 48)
    low = Cells(np.arange(1, 16), np.full(16, 1 / 16))
    return joint_chi_squared([drawn, drawn & 15], [Cells(sizes, masses), low])


@every_size
@every_power
def test_narrow_draws_follow_their_law_step_by_step(power: str, *, large: bool) -> None:
    drawn = _drawn(NARROW, power, _steps(power, large=large))
    accept(_fits_steps(drawn, power), f"power {power} at 64 steps")


@every_size
@every_power
def test_wide_draws_follow_their_law_and_their_last_bits_say_nothing(
    power: str, *, large: bool
) -> None:
    drawn = _drawn(WIDE, power, LARGE if large else SIZES[power])
    accept(_fits_wide(drawn, power), f"power {power} at 2^40 steps")


@pytest.mark.parametrize(
    ("power", "large"),
    [
        *((power, False) for power in ("2.5", "4", "16")),
        *(pytest.param(power, True, marks=pytest.mark.nightly) for power in POWERS),
    ],
)
def test_two_percent_too_wide_a_scale_is_found_out(power: str, *, large: bool) -> None:
    size = LARGE if large else SIZES[power]
    narrow = _drawn(NARROW * 51 / 50, power, _steps(power, large=large))
    assert rejects(_fits_steps(narrow, power))
    assert rejects(_fits_wide(_drawn(WIDE * 51 / 50, power, size), power))


@every_size
@pytest.mark.parametrize(("power", "other"), [("1", "1.02"), ("4", "4.2"), ("16", "14.5")])
def test_another_power_is_found_out(power: str, other: str, *, large: bool) -> None:
    assert rejects(_fits_steps(_drawn(NARROW, other, _steps(power, large=large)), power))


@every_size
@every_power
def test_sizes_that_are_cut_off_in_place_of_rounded_are_found_out(
    power: str, *, large: bool
) -> None:
    drawn = _drawn(2 * NARROW, power, _steps(power, large=large))
    assert rejects(_fits_steps(np.sign(drawn) * (np.abs(drawn) // 2), power))


@every_size
@pytest.mark.parametrize("power", POWERS[2:])
def test_a_staircase_that_keeps_all_proposals_is_found_out(
    power: str, monkeypatch: pytest.MonkeyPatch, *, large: bool
) -> None:
    def certain(
        self: _Staircase, window: NDArray[np.int64], place: NDArray[np.uint64]
    ) -> NDArray[np.float64]:
        return np.full(len(window), 2.0)

    monkeypatch.setattr(_Staircase, "_ratio", certain)
    assert rejects(_fits_steps(_drawn(NARROW, power, _steps(power, large=large)), power))
