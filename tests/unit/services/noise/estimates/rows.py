"""Provide rows of two columns, and the products that are released of them."""

from collections.abc import Sequence
from hashlib import sha256

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from penstock.connectors.planning.plan import pairs
from penstock.randomness import Stream
from penstock.services.noise.estimates.products import Products, Scale

GAUSSIAN_RATIO = 1.959964
"""The half width of a normal interval of 95%, in standard deviations."""

SCALES = (Scale("age", 50, 50), Scale("cost", 1, 10))


def generator_of(label: str) -> Generator:
    """Return numbers that are the same for the same label."""
    return Stream.from_key(sha256(label.encode()).digest()).generator


def rows(count: int, label: str = "rows") -> NDArray[np.float64]:
    """Return rows in units of the scales, the second column leaning on the first."""
    generator = generator_of(label)
    age = generator.uniform(-1, 1, count)
    cost = np.clip(0.4 * age + generator.normal(0, 0.25, count), -1, 1)
    return np.column_stack([age, cost])


def summed(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums of products of rows, in the order in which they are released."""
    constant = np.column_stack([np.ones(len(points)), points])
    gram = constant.T @ constant
    return np.array([gram[pair] for pair in pairs(points.shape[1])])


def products(
    numbers: NDArray[np.float64],
    deviation: float,
    *,
    factors: int = 2,
    ratio: float = GAUSSIAN_RATIO,
    rows_per_unit: int = 1,
    sampling: bool = False,
    weights: tuple[int, ...] = (),
) -> Products:
    """Return released numbers with the standard deviation of their noise, times their weight."""
    return Products(numbers, factors, deviation, ratio, rows_per_unit, sampling, weights=weights)


def in_units(points: NDArray[np.float64], scales: Sequence[Scale] = SCALES) -> NDArray[np.float64]:
    """Return rows in the columns' own units."""
    middles = np.array([scale.middle for scale in scales])
    half_widths = np.array([scale.half_width for scale in scales])
    own: NDArray[np.float64] = middles + points * half_widths
    return own
