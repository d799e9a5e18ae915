"""Test that the last bits of what is handed out do not tell the exact value."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from tests.statistical.checks import accept, chi_squared, rejects, same_law
from tests.statistical.processes.paths import keyed_streams

from penstock.mechanisms import Gaussian, MultipleRelease

SIZE = 1_000_000
Released = Callable[[float], NDArray[np.float64]]

_MECHANISM, _LADDER = Gaussian.plan(Fraction(1), step=Fraction(1), bound=Fraction(1 << 20))


def _on_the_lattice(exact: float) -> NDArray[np.float64]:
    release = MultipleRelease(
        _MECHANISM,
        _LADDER,
        np.full(SIZE, exact),
        ceiling=1,
        streams=keyed_streams(f"low bits/{exact}"),
    )
    return release.at(2)


def _in_plain_floats(exact: float) -> NDArray[np.float64]:
    stream = keyed_streams(f"low bits, floats/{exact}")()
    return exact + stream.generator.normal(0.0, np.sqrt(2.0), SIZE)


def _distinguisher(released: Released, one: float, other: float) -> float:
    """Return the P-value of the places of the last bits that are set following one law."""
    tables = [np.bincount(_last_set_bits(released(exact)) + 128) for exact in (one, other)]
    length = max(len(table) for table in tables)
    padded = [np.pad(table, (0, length - len(table))) for table in tables]
    return same_law(padded[0], padded[1])


def _last_set_bits(values: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return binary logarithms of the largest powers of two that divide the values, 100 for 0."""
    significands, exponents = np.frexp(values)
    whole = np.ldexp(significands, 53).astype(np.int64)
    places = np.log2(np.maximum(whole & -whole, 1)).astype(np.int64) + exponents - 53
    return np.where(whole == 0, 100, places)


def _steps(exact: float) -> NDArray[np.int64]:
    return (_on_the_lattice(exact) / float(_MECHANISM.granularity)).astype(np.int64)


def test_the_last_bits_handed_out_do_not_tell_neighbors_apart() -> None:
    for one, other in ((0.0, 1.0), (0.0, 1023.0), (4096.0, 4095.0)):
        accept(_distinguisher(_on_the_lattice, one, other), f"low bits, {one} against {other}")


def test_plain_floats_are_told_apart_by_their_last_bits() -> None:
    for one, other in ((0.0, 1.0), (0.0, 1023.0), (4096.0, 4095.0)):
        assert rejects(_distinguisher(_in_plain_floats, one, other))


def test_the_integers_last_bits_are_uniform_whatever_the_exact_value() -> None:
    for exact in (0.0, 1.0, 1023.0):
        observed = np.bincount(_steps(exact) & 0xFF, minlength=256)
        accept(chi_squared(observed, np.full(256, SIZE / 256)), f"last 8 bits at {exact}")


def test_noise_that_skips_lattice_points_is_found_out() -> None:
    coarse = _steps(0.0) // 64 * 64
    observed = np.bincount(coarse & 0xFF, minlength=256)
    assert rejects(chi_squared(observed, np.full(256, SIZE / 256)))
