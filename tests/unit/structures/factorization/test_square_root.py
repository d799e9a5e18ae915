"""Test the square-root factorization: known errors, and what rounding changes."""

import math

import numpy as np
import pytest

from penstock.structures.factorization.square_root import (
    coefficients,
    column_square,
    largest_variance,
    mean_variance,
    published_bound,
    square_root,
)


def _prefixes(length: int) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    return np.tril(np.ones((length, length)))


@pytest.mark.parametrize(
    ("length", "square", "largest", "mean"),
    [
        (250, 2.823493273, 3.986057, 3.541119), (2**10, 3.272554150, 5.354805, 4.835397),
        (2**16, 4.596444241, 10.563650, 9.832146), (10**6, 5.463889367, 14.927044, 14.057442),
        (2**20, 5.478987780, 15.009654, 14.137649), (10**7, 6.196825037, 19.200320, 18.214065),
    ],
)  # fmt: skip
def test_the_square_root_has_its_known_errors(
    length: int, square: float, largest: float, mean: float
) -> None:
    assert column_square(length) == pytest.approx(square, abs=6e-10)
    assert largest_variance(length) == pytest.approx(largest, abs=6e-7)
    assert mean_variance(length) == pytest.approx(mean, abs=6e-7)


@pytest.mark.parametrize(
    ("length", "square"), [(1, 1), (2, 1.25), (4, 1.48828125), (16, 1.943878847)]
)
def test_the_square_root_of_few_steps(length: int, square: float) -> None:
    assert column_square(length) == pytest.approx(square, abs=1e-9)
    binomials = [math.comb(2 * j, j) / 4**j for j in range(length)]
    assert coefficients(length) == pytest.approx(binomials, rel=1e-14)


def test_the_published_bound_holds_from_seven_steps_on_and_not_before() -> None:
    for length in (1, 2, 3, 4, 5, 6):
        assert 2 * mean_variance(length) > published_bound(length)
    for length in (7, 8, 20, 250, 2**16):
        assert 2 * mean_variance(length) <= published_bound(length)
    assert published_bound(250) == pytest.approx(7.217319, abs=1e-6)
    assert 2 * largest_variance(250) > published_bound(250)


@pytest.mark.parametrize("length", [1, 2, 7, 64])
def test_the_rounded_square_root_is_nearly_the_exact_one(length: int) -> None:
    found = square_root(length)
    assert found.lossless
    assert found.decoder @ np.ldexp(found.strategy.astype(float), -found.digits) == pytest.approx(
        _prefixes(length), abs=1e-12
    )
    assert float(found.sensitivity.l2_squared) == pytest.approx(column_square(length), rel=1e-5)
    variances = found.variances(float(found.sensitivity.l2_squared) / 2)
    assert variances.max() == pytest.approx(largest_variance(length), rel=1e-4)
