"""Test that Poisson noise's guarantee is that of the worst of all shifts of a vector."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats
from tests.oracles.shifted_vectors import admitted, exact_epsilon, signed

from penstock.mechanisms import Poisson
from penstock.mechanisms.poisson.curve import epsilon_of_shape
from penstock.mechanisms.poisson.divergence import renyi_divergence
from penstock.mechanisms.rejection_charges import charged_loss
from penstock.mechanisms.shifts import Shifts
from penstock.privacy import Sensitivity

MEAN, DELTA = 40, 1e-3


def _sensitivity(norms: tuple[int, int, int]) -> Sensitivity:
    return Sensitivity(*map(Fraction, norms))


def _epsilon(mean: float, norms: tuple[int, int, int], delta: float) -> float:
    return Poisson(Fraction(1)).guarantee(Fraction(mean), _sensitivity(norms), delta).epsilon


@pytest.mark.parametrize("norms", [(8, 14, 3), (7, 17, 4), (16, 32, 4)])
def test_the_guarantee_is_that_of_the_worst_shift(norms: tuple[int, int, int]) -> None:
    each = [epsilon_of_shape(MEAN, shape, DELTA) for shape in Shifts(*norms).worst]
    assert max(each) > min(each) * 1.001
    assert _epsilon(MEAN, norms, DELTA) == pytest.approx(max(each), rel=1e-12)


@pytest.mark.parametrize("norms", [(4, 6, 2), (4, 9, 3), (3, 5, 2)])
@pytest.mark.parametrize("mean", [15.0, 40.0])
def test_no_vector_of_any_signs_reveals_more_and_one_reveals_as_much(
    norms: tuple[int, int, int], mean: float
) -> None:
    masses = stats.poisson(mean).pmf(np.arange(int(mean + 14 * mean**0.5) + 10))
    truth = max(
        exact_epsilon(masses, vector, DELTA)
        for shape in admitted(*norms)[1:]
        for vector in signed(shape)
    )
    found = _epsilon(mean, norms, DELTA)
    assert truth <= found + 1e-9
    assert found == pytest.approx(truth, rel=1e-6)


def test_a_vector_with_squares_to_spare_is_not_charged_for_them() -> None:
    """The shifts 2, 1, 1 fill l1 and l2; two shifts of 2 have the l2^2 of 8."""
    assert _epsilon(40.0, (4, 6, 2), 1e-3) == pytest.approx(1.139289, abs=1e-6)
    assert epsilon_of_shape(40.0, ((2, 2),), 1e-3) == pytest.approx(1.361474, abs=1e-6)


@pytest.mark.parametrize("norms", [(4, 6, 2), (6, 10, 3), (12, 30, 5)])
@pytest.mark.parametrize("order", [1.5, 11.0])
def test_the_charge_is_that_of_the_costliest_vector(
    norms: tuple[int, int, int], order: float
) -> None:
    each = {
        shift: charged_loss(partial(renyi_divergence, 90.0, shift), order)
        for shift in range(1, norms[2] + 1)
    }
    most = max(sum(each[shift] for shift in vector) for vector in admitted(*norms))
    cost = Poisson(Fraction(1)).cost(Fraction(90), _sensitivity(norms), order)
    assert cost.loss == pytest.approx(most, rel=1e-12)
