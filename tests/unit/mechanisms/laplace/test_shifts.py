"""Test what all three norms together say of a vector's loss under discrete Laplace noise."""

from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from tests.oracles.shifted_vectors import admitted, exact_epsilon

from penstock.accounting import PlacedRelease, composed_epsilon
from penstock.mechanisms import Laplace
from penstock.mechanisms.laplace.law import renyi_divergence
from penstock.privacy import Sensitivity

ORDERS = [1.1, 2.0, 11.0, 300.0]


def _bound(scale: int, l1: int, l2_squared: int, linf: int, order: float) -> float:
    sensitivity = Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(linf))
    return Laplace(Fraction(1)).cost(Fraction(scale), sensitivity, order).loss


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("decay", [0.01, 0.3, 2.0])
def test_the_divergence_is_convex_in_the_shift_and_concave_per_unit_of_it(
    order: float, decay: float
) -> None:
    shifts = [0.25 * k for k in range(1, 60)]
    losses = [renyi_divergence(order, decay * shift, decay) for shift in shifts]
    slopes = [(b - a) / 0.25 for a, b in pairwise([0.0, *losses])]
    assert all(b >= a * (1 - 1e-9) - 1e-12 for a, b in pairwise(slopes))
    ratios = [loss / shift for loss, shift in zip(losses, shifts, strict=True)]
    falls = [b - a for a, b in pairwise(ratios)]
    assert all(fall >= -1e-12 for fall in falls)
    assert all(b <= a + 1e-12 for a, b in pairwise(falls))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("scale", [1, 5, 60])
@pytest.mark.parametrize(
    "norms",
    [
        *((9, 9, 1), (9, 27, 3), (10, 50, 7), (8, 20, 4), (7, 49, 7), (12, 18, 3)),
        *((100, 4, 2), (100, 4, 1), (30, 10, 3)),
    ],
)
def test_no_vector_within_all_three_norms_costs_more_and_one_costs_as_much(
    norms: tuple[int, int, int], scale: int, order: float
) -> None:
    single = {s: renyi_divergence(order, s / scale, 1 / scale) for s in range(1, 13)}
    most = max(sum(single[s] for s in vector) for vector in admitted(*norms))
    assert _bound(scale, *norms, order) == pytest.approx(most, rel=1e-9)


@pytest.mark.parametrize("norms", [(8, 10, 3), (12, 18, 3), (100, 4, 2), (100, 4, 1)])
@pytest.mark.parametrize("steps", [16, 64])
def test_no_vector_costs_more_on_a_lattice_finer_than_its_values(
    norms: tuple[int, int, int], steps: int
) -> None:
    """A mechanism knows its own lattice alone, on which more vectors are admitted."""
    sensitivity = Sensitivity(*map(Fraction, norms))
    bound = Laplace(Fraction(1, steps)).cost(Fraction(5), sensitivity, 11.0).loss
    single = {s: renyi_divergence(11.0, s / 5, 1 / (5 * steps)) for s in range(1, 4)}
    assert bound >= max(sum(single[s] for s in vector) for vector in admitted(*norms))
    coarse = _bound(5, *norms, 11.0)
    assert coarse * (1 - 1e-2) <= bound


def test_a_sum_that_is_far_above_what_l2_admits_costs_nothing() -> None:
    """At most four integers move, by 1 each: so four steps, and not a hundred."""
    four = 4 * renyi_divergence(11.0, 1.0, 1.0)
    assert _bound(1, 100, 4, 1, 11.0) == pytest.approx(four, rel=1e-9)
    assert four < 0.07 * _bound(1, 100, 100, 1, 11.0)
    # Only one, or two of 2 and 1: less than that.
    assert max(renyi_divergence(11.0, 2.0, 1.0), 0.75 * four) < four


@pytest.mark.parametrize("norms", [(12, 6, 2), (6, 10, 2), (4, 9, 3)])
@pytest.mark.parametrize("delta", [1e-3, 0.05])
def test_the_report_reads_the_worst_of_all_vectors(
    norms: tuple[int, int, int], delta: float
) -> None:
    scale, sensitivity = Fraction(2), Sensitivity(*map(Fraction, norms))
    masses = stats.dlaplace(0.5).pmf(np.arange(-75, 76))
    truth = max(exact_epsilon(masses, vector, delta) for vector in admitted(*norms)[1:])
    placed = PlacedRelease("laplace", Fraction(1), scale, sensitivity)
    composed = composed_epsilon([placed], delta)
    assert truth * (1 - 1e-9) <= composed <= truth * (1 + 1e-3)


@pytest.mark.parametrize("order", ORDERS[:3])
def test_the_bound_by_l2_is_met_where_equal_shifts_fill_both_norms(order: float) -> None:
    four_threes = 4 * renyi_divergence(order, 0.3, 0.1)
    assert _bound(10, 12, 36, 6, order) == pytest.approx(four_threes, rel=1e-9)
    assert _bound(10, 12, 72, 6, order) > 1.02 * four_threes


@given(
    l1=st.integers(1, 10**6),
    squares=st.integers(1, 10**9),
    linf=st.integers(1, 10**4),
    order=st.sampled_from(ORDERS),
)
def test_a_smaller_norm_never_costs_more(l1: int, squares: int, linf: int, order: float) -> None:
    linf = min(linf, l1)
    squares = min(max(squares, linf * linf), l1 * l1)
    loss = _bound(1000, l1, squares, linf, order)
    assert loss <= _bound(1000, l1, l1 * l1, linf, order) * (1 + 1e-9)
    assert loss <= _bound(1000, l1 + 1, squares, linf, order) * (1 + 1e-9)
