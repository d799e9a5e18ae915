"""The worst integer vectors under three norms, against all that there are."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln, logsumexp

from penstock.mechanisms.poisson_curve import epsilon_of_shape
from penstock.mechanisms.poisson_divergence import renyi_divergence
from penstock.mechanisms.poisson_tails import below
from penstock.mechanisms.shifts import Shifts


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
    assert bound <= 1.5 * most


@given(l1=st.integers(1, 10**6), linf=st.integers(1, 10**3), squares=st.integers(1, 10**9))
def test_the_worst_shape_exceeds_the_norms_by_rounding_alone(
    l1: int, linf: int, squares: int
) -> None:
    shifts = Shifts(l1, squares, linf)
    shape = shifts.worst
    top = max(s for s, _ in shape)
    assert top == shifts.largest
    total, sum_of_squares = (sum(s**power * n for s, n in shape) for power in (1, 2))
    assert total <= l1 or sum_of_squares < squares + 2 * top
    if squares >= l1 * top:
        assert total == l1


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


@pytest.mark.parametrize("mean", [3.0, 40.0])
@pytest.mark.parametrize("order", [1.2, 4.0, 30.0])
def test_one_direction_is_a_mean_of_exponentials_that_are_convex_in_the_shift(
    mean: float, order: float
) -> None:
    """``exp((a-1) D(X+s | X)) = E[((X+s)! / X!)^(a-1)] mean^(-(a-1) s)``, for real ``s``."""
    x = np.arange(0.0, 1500.0)
    noise = stats.poisson.logpmf(x, mean)

    def moment(shift: float) -> float:
        each = gammaln(x + shift + 1) - gammaln(x + 1) - shift * math.log(mean)
        return float(logsumexp(noise + (order - 1) * each)) / (order - 1)

    for shift in (1, 2, 5):
        moved = stats.poisson.logpmf(x - shift, mean)
        inside = moved > -math.inf
        direct = logsumexp(order * moved[inside] + (1 - order) * noise[inside]) / (order - 1)
        assert moment(shift) == pytest.approx(float(direct), rel=1e-9, abs=1e-12)
    values = [moment(0.125 * k) for k in range(50)]
    assert all(
        a + c >= 2 * b - 1e-12 for a, b, c in zip(values, values[1:], values[2:], strict=False)
    )


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


def _epsilon(mean: float, vector: Sequence[int], delta: float) -> float:
    sizes = sorted(set(vector), reverse=True)
    return epsilon_of_shape(mean, tuple((s, vector.count(s)) for s in sizes), delta)


@pytest.mark.parametrize(
    "shifts", [Shifts(4, 16, 4), Shifts(5, 10, 3), Shifts(4, 4, 2), Shifts(4, 6, 3)]
)
def test_no_vector_tells_more_than_the_worst_shape(shifts: Shifts) -> None:
    worst = epsilon_of_shape(300.0, shifts.worst, 1e-5)
    for vector in _all_shapes(shifts)[1:]:
        assert _epsilon(300.0, vector, 1e-5) <= worst * (1 + 1e-6), vector


@pytest.mark.parametrize(
    ("mean", "vector", "delta"),
    [(1_086.6, (10, 9, 9), 0.0307), (64.93, (8, 7, 7), 0.0169), (654.7, (9, 8, 8), 1.076e-7)],
)
def test_whole_shifts_that_leave_some_of_l2_unused_would_promise_too_much(
    mean: float, vector: tuple[int, ...], delta: float
) -> None:
    shifts = Shifts(sum(vector), sum(s * s for s in vector), vector[0])
    exact = _epsilon(mean, vector, delta)
    assert exact <= epsilon_of_shape(mean, shifts.worst, delta) <= 1.03 * exact
    within = (2 * vector[:1], vector[:1] + vector[:1] + (5,))
    fitting = [v for v in within if sum(s * s for s in v) <= shifts.l2_squared]
    assert max(_epsilon(mean, v, delta) for v in fitting) < exact
