"""Test that Skellam noise is promised and charged at the worst of all shifts of a vector."""

from fractions import Fraction
from functools import partial

import numpy as np
import pytest
from scipy import stats
from tests.oracles.shifted_vectors import admitted, exact_epsilon

from penstock.mechanisms import Skellam
from penstock.mechanisms.rejection_charges import charged_loss
from penstock.mechanisms.shifts import Shifts
from penstock.mechanisms.skellam.curve import epsilon_of_shape
from penstock.mechanisms.skellam.divergence import renyi_divergence
from penstock.mechanisms.skellam.tails import beyond_neighbor
from penstock.privacy import Sensitivity

DELTA = 1e-4


def _sensitivity(norms: tuple[int, int, int]) -> Sensitivity:
    return Sensitivity(*map(Fraction, norms))


def _epsilon(variance: float, norms: tuple[int, int, int], delta: float) -> float:
    mechanism = Skellam(Fraction(1))
    return mechanism.guarantee(Fraction(variance), _sensitivity(norms), delta).epsilon


@pytest.mark.parametrize("norms", [(6, 10, 2), (4, 9, 3), (3, 4, 2), (5, 7, 2)])
@pytest.mark.parametrize("variance", [0.5, 6.0])
def test_no_vector_reveals_more_and_one_reveals_as_much(
    norms: tuple[int, int, int], variance: float
) -> None:
    masses = stats.skellam(variance / 2, variance / 2).pmf(np.arange(-45, 46))
    truth = max(exact_epsilon(masses, vector, DELTA) for vector in admitted(*norms)[1:])
    found = _epsilon(variance, norms, DELTA)
    assert truth <= found + 1e-9
    assert found == pytest.approx(truth, rel=1e-6)


@pytest.mark.parametrize(("norms", "kept"), [((3, 4, 2), 0), ((8, 14, 3), 1)])
def test_worst_shapes_of_which_one_is_left_out_are_found_out(
    norms: tuple[int, int, int], kept: int
) -> None:
    """Noise of few steps hides 1, 1, 1 worse than 2, which is as long by l2."""
    masses = stats.skellam(0.5, 0.5).pmf(np.arange(-45, 46))
    truth = max(exact_epsilon(masses, vector, 1e-9) for vector in admitted(*norms)[1:])
    shapes = Shifts(*norms).worst
    assert epsilon_of_shape(1.0, shapes[kept], 1e-9) < 0.99 * truth


@pytest.mark.parametrize(
    ("variance", "delta", "epsilon", "before"),
    [(1000.0, 1e-3, 0.197505, 0.220552), (0.5, 1e-6, 15.077881, 15.982073)],
)
def test_a_vector_with_squares_to_spare_is_not_charged_for_them(
    variance: float, delta: float, epsilon: float, before: float
) -> None:
    """The shifts 2, 2, 1, 1 fill l1 and l2; three shifts of 2 have the l2^2 of 12."""
    assert _epsilon(variance, (6, 10, 2), delta) == pytest.approx(epsilon, abs=1e-6)
    assert epsilon_of_shape(variance, ((2, 3),), delta) == pytest.approx(before, abs=1e-6)


@pytest.mark.parametrize("norms", [(6, 10, 2), (8, 18, 4), (12, 30, 5)])
@pytest.mark.parametrize(("variance", "order"), [(0.5, 3.0), (30.0, 11.0), (1000.0, 57.0)])
def test_the_charge_is_that_of_the_costliest_vector(
    norms: tuple[int, int, int], variance: float, order: float
) -> None:
    sizes = range(1, norms[2] + 1)
    losses = {
        shift: charged_loss(partial(renyi_divergence, variance, shift), order) for shift in sizes
    }
    failures = {shift: beyond_neighbor(variance, shift) for shift in sizes}
    cost = Skellam(Fraction(1)).cost(Fraction(variance), _sensitivity(norms), order)
    for found, each in ((cost.loss, losses), (cost.failure, failures)):
        most = max(sum(each[shift] for shift in vector) for vector in admitted(*norms))
        assert found == pytest.approx(most, rel=1e-12, abs=0)
