"""Test quadrature over panels, and integers that are drawn from a density on them."""

import math
from hashlib import sha256

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import chi2, norm

from penstock.errors import InvalidInput
from penstock.randomness import Stream
from penstock.structures.sparse_histogram.axis import FEWEST_PANELS, ORDER, Axis, Floats

FALSE_ALARM = 1e-6
"""How often a sampler that draws the stated law is found to be off."""

SIZE = 20_000
DEVIATION = 6.0
LOW, HIGH = -20.5, 17.5


def density(x: Floats) -> Floats:
    return np.exp(x * x / (-2 * DEVIATION**2))


def test_panels_end_halfway_between_integers_and_at_the_ends() -> None:
    axis = Axis.between(-33.2, 51.7, 1.0, 2)
    assert (axis.edges[0], axis.edges[-1]) == (-33.2, 51.7)
    assert (axis.edges[1:-1] % 1 == 0.5).all()
    assert axis.panels >= 2 * FEWEST_PANELS
    assert len(axis.nodes) == len(axis.weights) == ORDER * axis.panels
    assert (np.diff(axis.nodes) > 0).all()


def test_polynomials_are_integrated_exactly() -> None:
    axis = Axis.between(-2.5, 30.5, 100.0, 1)
    assert axis.integral(np.ones_like(axis.nodes)) == pytest.approx(33.0, rel=1e-13)
    assert axis.integral(axis.nodes**5) == pytest.approx((30.5**6 - 2.5**6) / 6, rel=1e-12)


def test_a_normal_density_is_integrated_to_14_digits() -> None:
    axis = Axis.between(-50.0, 70.0, 3.0, 1)
    mass = axis.integral(np.exp(axis.nodes**2 / -18) / (3 * math.sqrt(2 * math.pi)))
    assert mass == pytest.approx(1.0, abs=1e-14)


def test_panels_beyond_what_memory_is_kept_for_are_refused() -> None:
    with pytest.raises(InvalidInput, match="whose rungs are at least"):
        Axis.between(0.0, 1e6, 1.0, 1)


def misfit(drawn: NDArray[np.int64]) -> float:
    """Return the chance that draws of the stated law fit no better than these."""
    values = np.arange(math.ceil(LOW), math.floor(HIGH) + 1, dtype=np.float64)
    counts = np.array([(drawn == value).sum() for value in values])
    assert counts.sum() == len(drawn), "an integer outside of the axis"
    expected = len(drawn) * density(values) / density(values).sum()
    return float(chi2.sf(((counts - expected) ** 2 / expected).sum(), len(values) - 1))


def drawn(label: str) -> NDArray[np.int64]:
    axis = Axis.between(LOW, HIGH, DEVIATION, 1)
    values = np.tile(density(axis.nodes), (SIZE, 1))
    stream = Stream.from_key(sha256(label.encode()).digest())
    return axis.draw(values, lambda x, _: density(x), stream)


def test_integers_are_drawn_as_the_density_says() -> None:
    assert misfit(drawn("axis")) > FALSE_ALARM


def test_integers_off_by_one_are_found_out() -> None:
    shifted = np.clip(drawn("axis") + 1, math.ceil(LOW), math.floor(HIGH))
    assert misfit(shifted) < FALSE_ALARM


def test_every_law_is_drawn_from_its_own_density() -> None:
    axis = Axis.between(-100.5, 100.5, 10.0, 1)
    centers = np.array([-60.0, 0.0, 60.0])

    def around(x: Floats, laws: NDArray[np.intp]) -> Floats:
        return np.asarray(norm.pdf(x, centers[laws], 2.0))

    values = np.stack([norm.pdf(axis.nodes, center, 2.0) for center in centers])
    for number in range(20):
        stream = Stream.from_key(sha256(f"laws {number}".encode()).digest())
        assert (np.abs(axis.draw(values, around, stream) - centers) < 16).all()
