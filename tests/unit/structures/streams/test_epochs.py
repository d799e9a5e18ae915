"""Test epochs of doubling length: known variances at known steps."""

import pytest

from penstock.structures import (
    Epochs,
)
from penstock.structures.streams.forest import variance_weight


@pytest.mark.parametrize(
    ("step", "variance"),
    [(1, 8), (3, 16), (7, 24), (15, 32), (1023, 80)],
)
def test_epochs_have_their_known_variance_at_their_ends(step: int, variance: int) -> None:
    assert 2 * variance_weight(Epochs(), step, squared=True) == variance


def test_epochs_have_their_known_mean_and_largest_variance() -> None:
    for steps, mean, most in [(15, 86.9333, 240), (127, 642.3937, 1776), (1023, 2282.4242, 5904)]:
        found = [2 * variance_weight(Epochs(), step, squared=True) for step in range(1, steps + 1)]
        assert float(sum(found) / steps) == pytest.approx(mean, abs=6e-5)
        assert max(found) == most


def test_epochs_of_gaussian_noise_have_their_known_variances() -> None:
    known = {1: 1, 2: 2, 3: 2, 4: 4, 7: 3, 8: 6, 100: 24, 1000: 63, 1023: 10, 1024: 20}
    known |= {2**20 - 1: 20, 2**20: 40}
    for step, variance in known.items():
        assert variance_weight(Epochs(), step, squared=False) / 2 == variance
