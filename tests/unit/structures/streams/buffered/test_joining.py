"""Test what a tier that joins has in its buffers: the covariance of the noise so far."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pytest
from tests.unit.structures.streams.buffered.exact_matrices import decoder, of_noise, strategy

from penstock.randomness import Stream
from penstock.structures.streams.buffered.encoder import LONGEST, encoder
from penstock.structures.streams.buffered.fixed_point import DIGITS
from penstock.structures.streams.buffered.joining import BITS, factor, part


@pytest.mark.parametrize(("length", "steps"), [(100, 1), (100, 3), (1 << 13, 17), (LONGEST, 24)])
def test_the_factor_has_the_covariance_of_the_noise_so_far(length: int, steps: int) -> None:
    matrix = encoder(length)
    exact = of_noise(matrix, steps)
    found = factor(matrix, steps)
    apart = found.dot(found.T) / Fraction(1) / (1 << 2 * BITS) - exact.dot(exact.T)
    assert max(abs(entry) for entry in apart.flat) < Fraction(1, 1 << 200)


def test_doubling_is_the_same_as_step_by_step() -> None:
    matrix = encoder(1 << 16)
    after = [float(factor(matrix, steps)[-1].dot(factor(matrix, steps)[-1])) for steps in (96, 97)]
    assert (after[1] - after[0]) / 2.0 ** (2 * BITS) == pytest.approx(
        float(decoder(matrix, 97)[-1] ** 2), rel=1e-9
    )
    assert len(strategy(matrix, 97)) == 97


def test_a_part_has_the_mean_and_the_covariance_of_a_bridge(
    streams: Callable[[], Stream],
) -> None:
    matrix = encoder(100)
    size, many = len(matrix.exponents) + 1, 1 << 14
    difference = np.full((size, many), 3 << DIGITS + 20, dtype=object)
    root = factor(matrix, 40)
    drawn = part(difference, Fraction(1, 3), Fraction(1 << 36), root, streams())
    scaled = np.array(drawn / (1 << DIGITS), dtype=float) * 2.0**-18
    exact = np.array(root.dot(root.T) / (1 << 2 * BITS), dtype=float)
    found = np.cov(scaled)
    deviations = np.sqrt((np.outer(exact.diagonal(), exact.diagonal()) + exact**2) / many)
    assert (np.abs(found - exact) / deviations).max() < 5
    assert (np.abs(scaled.mean(axis=1) - 4) / np.sqrt(exact.diagonal() / many)).max() < 5
