"""Test that convolutions are never below those in rational arithmetic, and hardly above."""

import math
from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from scipy.signal import fftconvolve

from penstock.accounting.reporting import convolution
from penstock.accounting.reporting.convolution import convolved, rounded_up, transform_error
from penstock.mechanisms.loss_table import FloatVector

TAIL = 1e-20
PLACES = np.arange(-60, 61)


def bell(deviation: float, floor: float = 0.0) -> FloatVector:
    masses = np.exp(-((PLACES / deviation) ** 2) / 2) + floor
    return np.asarray(masses / masses.sum(), dtype=np.float64)


def rare(mass: float) -> FloatVector:
    """Return a narrow law, and ``mass`` at a far greater loss."""
    masses = bell(1.0) * (1 - mass)
    masses[-1] += mass
    return masses


PAIRS = {
    "bells": (bell(6.0), bell(9.0)),
    "narrow bells, down to 1e-300": (bell(2.0), bell(1.7)),
    "a bell and a geometric law": (bell(6.0), 0.3 * 0.7 ** np.arange(100)),
    "atoms at both ends": (np.array([0.3, *np.zeros(90), 0.7]), bell(3.0)),
    "rare and far": (rare(1e-9), rare(1e-15)),
    "a single place": (np.array([0.75]), bell(6.0)),
    "a single place, far away": (np.array([*np.zeros(70), 1.0]), np.array([*np.zeros(9), 0.5])),
    "no mass": (np.zeros(5), bell(6.0)),
    "subnormal masses": (np.full(40, 5e-324), np.full(30, 1e-310)),
}


def exact(left: FloatVector, right: FloatVector) -> list[Fraction]:
    """Return the convolution of what the floats are, without any rounding."""
    total = [Fraction(0)] * (len(left) + len(right) - 1)
    for place, mass in enumerate(map(Fraction, left.tolist())):
        for other, factor in enumerate(map(Fraction, right.tolist())):
            total[place + other] += mass * factor
    return total


def places_below(bounds: FloatVector, masses: list[Fraction]) -> int:
    """Return how many places of ``bounds`` are below the exact ones."""
    assert len(bounds) == len(masses)
    return sum(Fraction(bound) < mass for bound, mass in zip(bounds.tolist(), masses, strict=True))


@pytest.mark.parametrize("name", PAIRS)
@pytest.mark.parametrize("tail", [0.0, 1e-30, TAIL, 1e-6, 0.5])
def test_no_mass_is_below_the_exact_one(name: str, tail: float) -> None:
    left, right = PAIRS[name]
    for first, second in ((left, right), (right, left)):
        bounds = convolved(first, second, tail)
        assert np.isfinite(bounds).all()
        assert places_below(bounds, exact(first, second)) == 0


@pytest.mark.parametrize("name", PAIRS)
def test_all_that_is_added_is_next_to_nothing(name: str) -> None:
    left, right = PAIRS[name]
    assert float(convolved(left, right, TAIL).sum()) <= left.sum() * right.sum() + 1e-11


@pytest.mark.parametrize("name", ["bells", "narrow bells, down to 1e-300"])
def test_the_upper_tail_is_precise_where_transforms_alone_are_noise(name: str) -> None:
    left, right = PAIRS[name]
    masses = np.array([float(mass) for mass in exact(left, right)])
    above = np.cumsum(masses[::-1])[::-1]
    upper = np.flatnonzero((above > TAIL) & (above < 0.9))
    assert masses[upper].min() < 1e-18
    assert np.all(convolved(left, right, TAIL)[upper] <= masses[upper] * (1 + 1e-6))
    alone = fftconvolve(left, right)[upper]
    assert np.abs(alone / masses[upper] - 1).max() > 1e-2


def without_error(_size: int) -> float:
    return 0.0


def rounded_down(size: int) -> float:
    return -transform_error(size)


@pytest.mark.parametrize("error", [without_error, rounded_down])
def test_a_convolution_that_leaves_out_the_error_or_takes_it_off_is_found_out(
    error: Callable[[int], float], monkeypatch: pytest.MonkeyPatch
) -> None:
    left, right = PAIRS["bells"]
    masses = exact(left, right)
    assert places_below(convolved(left, right, TAIL), masses) == 0
    monkeypatch.setattr(convolution, "transform_error", error)
    assert places_below(convolved(left, right, TAIL), masses) > 0


@pytest.mark.parametrize("steps", [0, 1, 8, 16, 24])
def test_the_error_is_percivals(steps: int) -> None:
    with mpmath.workdps(60):
        unit, roots = mpmath.mpf(2) ** -53, mpmath.mpf(2) ** -51
        factors = (1 + unit) ** (3 * steps) * (1 + mpmath.sqrt(5) * unit) ** (3 * steps + 1)
        theorem = factors * (1 + roots) ** (3 * steps) - 1
        assert theorem <= transform_error(2**steps) * (1 + 2**-50) <= theorem * (1 + 1e-9)


@pytest.mark.parametrize("length", [100, 1000, 8000, 60_000])
def test_transforms_stay_far_within_the_error(length: int) -> None:
    """Integers below 2^20, convolved exactly as the digits of one large product."""
    places = np.arange(length)
    left = (places * places * 7919 + 104_729 * places) % (2**20 - 3)
    right = (places * places * 6007 + 15_485_863 * places + 77) % (2**20 - 5)
    width = 8  # bytes: length * 2^40 is below 2^64
    product = digits(left) * digits(right)
    both = np.frombuffer(product.to_bytes(width * 2 * length, "little"), dtype="<u8")
    size = 1 << (2 * length - 2).bit_length()
    transforms = np.fft.rfft(left, size) * np.fft.rfft(right, size)
    given = np.fft.irfft(transforms, size)[: 2 * length - 1]
    # All are below 2^56: what floats of 64 bits lose of them is taken into account by halves.
    off = float(np.abs(given.astype(np.longdouble) - both[:-1].astype(np.longdouble)).max())
    bound = transform_error(size) * float(np.linalg.norm(left) * np.linalg.norm(right))
    assert 1e-4 * bound < off < 0.2 * bound


def digits(values: np.typing.NDArray[np.int64]) -> int:
    return int.from_bytes(values.astype("<u8").tobytes(), "little")


def test_sums_are_rounded_up() -> None:
    values = np.array([1.0, *np.full(1000, 2.0**-54)])
    assert Fraction(float(sum(values.tolist()))) < sum(map(Fraction, values.tolist()))
    total = rounded_up(float(sum(values.tolist())), len(values))
    assert sum(map(Fraction, values.tolist())) <= Fraction(total)
    assert total <= math.fsum(values) * (1 + 1e-12)
