"""Test the closed forms of Honaker's estimator: against its matrices, and known values."""

import numpy as np
import pytest
from tests.oracles.honaker import honaker, variance_weight

from penstock.experiments.honaker import height_of, largest_weight, mean_weight


@pytest.mark.parametrize("length", [1, 5, 19, 31])
def test_honakers_estimates_have_their_variance(length: int) -> None:
    found = honaker(length)
    height = height_of(length)
    assert found.sensitivity.l2_squared == height
    assert found.decoder @ found.strategy == pytest.approx(np.tril(np.ones((length, length))))
    weights = [float(variance_weight(step)) for step in range(1, length + 1)]
    assert found.variances(1.0) == pytest.approx(weights)
    assert mean_weight(length) == pytest.approx(np.mean(weights))
    assert largest_weight(length) == pytest.approx(max(weights))


@pytest.mark.parametrize(
    ("length", "mean", "largest"),
    [
        (250, 304.3717, 550.327), (1000, 574.0193, 1060.474), (3429, 937.5837, 1815.294),
        (2**16, 2544.1697, 5088.330), (10**6, 4275.3378, 8242.677), (10**7, 7054.1628, 14173.456),
    ],
)  # fmt: skip
def test_honakers_errors_are_those_of_the_table(length: int, mean: float, largest: float) -> None:
    node = 2 * height_of(length) ** 2
    assert node * mean_weight(length) == pytest.approx(mean, abs=6e-5)
    assert node * largest_weight(length) == pytest.approx(largest, abs=6e-4)
