"""Test what all three norms together say of a vector's loss under discrete Laplace noise."""

import math
from fractions import Fraction
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.mechanisms import Laplace
from penstock.mechanisms.laplace.law import renyi_divergence
from penstock.privacy import Sensitivity

ORDERS = [1.1, 2.0, 11.0, 300.0]


def _bound(scale: int, l1: int, l2_squared: int, linf: int, order: float) -> float:
    sensitivity = Sensitivity(Fraction(l1), Fraction(l2_squared), Fraction(linf))
    return Laplace(Fraction(1)).cost(Fraction(scale), sensitivity, order).loss


def _vectors(l1: int, l2_squared: int, linf: int) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for top in range(min(l1, linf, math.isqrt(l2_squared)), 0, -1):
        found += [(top, *rest) for rest in _vectors(l1 - top, l2_squared - top * top, top)]
    return found


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
    "norms", [(9, 9, 1), (9, 27, 3), (10, 50, 7), (8, 20, 4), (7, 49, 7), (12, 18, 3)]
)
def test_no_vector_within_all_three_norms_costs_more(
    norms: tuple[int, int, int], scale: int, order: float
) -> None:
    single = {s: renyi_divergence(order, s / scale, 1 / scale) for s in range(1, 13)}
    most = max(sum(single[s] for s in vector) for vector in _vectors(*norms))
    bound = _bound(scale, *norms, order)
    assert most * (1 - 1e-9) <= bound <= min(1.25 * most, norms[0] / scale) * (1 + 1e-9)


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
