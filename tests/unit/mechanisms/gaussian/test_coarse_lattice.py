"""Test what a Gaussian on a coarse lattice promises.

The lattice's part of delta is taken off first.
"""

from fractions import Fraction

import pytest

from penstock.mechanisms import Gaussian
from penstock.mechanisms.gaussian.curve import epsilon_at
from penstock.privacy import Sensitivity

ONE = Fraction(1)
UNIT = Sensitivity(ONE, ONE, ONE)


@pytest.mark.parametrize(("granularity", "inflation"), [(ONE, 2.0), (ONE / 2, 1.25)])
def test_epsilon_is_read_at_a_delta_without_the_lattices_part(
    granularity: Fraction, inflation: float
) -> None:
    found = Gaussian(granularity).guarantee(Fraction(4), UNIT, 1e-6).epsilon
    assert found == pytest.approx(epsilon_at(1e-6 / inflation, 0.5), rel=1e-12)
    assert found > epsilon_at(1e-6, 0.5) * 1.005
