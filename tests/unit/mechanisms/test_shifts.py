"""The worst integer vectors under three norms, against all that there are."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.mechanisms.poisson_curve import epsilon_of_shape
from penstock.mechanisms.poisson_divergence import renyi_divergence
from penstock.mechanisms.poisson_tails import below
from penstock.mechanisms.shifts import Shape, Shifts


def _all_shapes(shifts: Shifts, largest: int | None = None) -> list[tuple[int, ...]]:
    found: list[tuple[int, ...]] = [()]
    for top in range(min(largest or shifts.largest, shifts.largest), 0, -1):
        left = Shifts(shifts.l1 - top, shifts.l2_squared - top * top, top)
        if left.l1 >= 0 and left.l2_squared >= 0:
            found += [(top, *rest) for rest in _all_shapes(left, top)]
    return found


@given(l1=st.integers(1, 9), linf=st.integers(1, 6), squares=st.integers(1, 40))
def test_no_vector_costs_more_than_the_bound_over_shapes(l1: int, linf: int, squares: int) -> None:
    shifts = Shifts(l1, squares, min(linf, l1))

    def part(shift: int) -> float:
        return shift**2 * (1 + shift / 50)

    most = max(sum(part(s) for s in shape) for shape in _all_shapes(shifts))
    bound = shifts.largest_sum(part)
    assert most <= bound * (1 + 1e-12)
    concentrated = shifts.concentrated(shifts.largest)
    reached = sum(count * part(s) for s, count in concentrated)
    assert reached <= bound * (1 + 1e-12)
    assert bound <= 1.5 * most


@given(l1=st.integers(1, 10**6), linf=st.integers(1, 10**3), squares=st.integers(1, 10**9))
def test_concentrated_shapes_stay_within_the_norms(l1: int, linf: int, squares: int) -> None:
    shifts = Shifts(l1, squares, linf)
    for shape in (shifts.concentrated(shifts.largest), *shifts.extreme()):
        assert sum(s * n for s, n in shape) <= l1
        assert sum(s * s * n for s, n in shape) <= squares
        assert max(s for s, _ in shape) <= linf


@pytest.mark.parametrize("mean", [50.0, 400.0, 20_000.0])
@pytest.mark.parametrize("order", [1.5, 5.0, 57.0])
def test_costs_are_convex_in_the_shift_and_in_its_square_while_they_are_of_use(
    mean: float, order: float
) -> None:
    # Up to where the end of the support takes over: mean = order * shift * ln(mean).
    shifts = range(1, min(int(mean / (1.3 * order * math.log(mean))) + 1, 12))
    for part in (lambda s: renyi_divergence(mean, s, order), lambda s: below(mean, s)):
        values = [0.0, *map(part, shifts)]
        for power in (1, 2):
            slopes = [(values[s] - values[s - 1]) / (s**power - (s - 1) ** power) for s in shifts]
            assert all(b >= a * (1 - 1e-8) for a, b in itertools.pairwise(slopes))


@pytest.mark.parametrize("mean", [8.0, 20.0, 60.0, 300.0])
@pytest.mark.parametrize("order", [1.5, 11.0, 57.0])
@pytest.mark.parametrize("shifts", [Shifts(6, 36, 6), Shifts(9, 81, 4), Shifts(8, 14, 3)])
def test_no_vector_costs_more_than_the_bound_where_the_support_ends(
    mean: float, order: float, shifts: Shifts
) -> None:
    costs = {s: renyi_divergence(mean, s, order) for s in range(1, shifts.largest + 1)}
    bound = shifts.largest_sum(costs.__getitem__)
    most = max(sum(costs[s] for s in shape) for shape in _all_shapes(shifts))
    assert most <= bound * (1 + 1e-9)


def test_functions_that_are_not_convex_have_no_bound() -> None:
    assert Shifts(8, 64, 8).largest_sum(math.sqrt) == math.inf
    assert Shifts(8, 64, 1).largest_sum(math.sqrt) == 8.0
    # Convex in the shift alone: l2 says nothing.
    assert Shifts(8, 16, 4).largest_sum(lambda shift: shift**1.5) == pytest.approx(16.0)


@pytest.mark.parametrize(
    "shifts", [Shifts(4, 16, 4), Shifts(5, 10, 3), Shifts(4, 4, 2), Shifts(4, 6, 3)]
)
def test_the_worst_of_all_vectors_is_among_the_extreme_ones(shifts: Shifts) -> None:
    def epsilon(shape: Shape) -> float:
        return epsilon_of_shape(300.0, shape, 1e-5)

    worst = max(epsilon(shape) for shape in shifts.extreme())
    for vector in _all_shapes(shifts)[1:]:
        shape = tuple((s, vector.count(s)) for s in sorted(set(vector), reverse=True))
        assert epsilon(shape) <= worst * (1 + 1e-6), vector
