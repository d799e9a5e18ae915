"""Test that Poisson noise's guarantee is that of the worst of several shifts of a vector."""

from fractions import Fraction

import pytest

from penstock.mechanisms import Poisson
from penstock.mechanisms.poisson.curve import epsilon_of_shape
from penstock.mechanisms.shifts import Shifts
from penstock.privacy import Sensitivity

MEAN, DELTA = 400, 1e-6


@pytest.mark.parametrize("norms", [(8, 16, 3), (6, 10, 3), (16, 32, 4)])
def test_the_guarantee_is_that_of_the_worst_shift(norms: tuple[int, int, int]) -> None:
    each = [epsilon_of_shape(MEAN, shape, DELTA) for shape in Shifts(*norms).worst]
    assert max(each) > min(each) * 1.01
    sensitivity = Sensitivity(*map(Fraction, norms))
    found = Poisson(Fraction(1)).guarantee(Fraction(MEAN), sensitivity, DELTA)
    assert found.epsilon == pytest.approx(max(each), rel=1e-12)
