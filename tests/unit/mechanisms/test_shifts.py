"""Test the worst integer vectors under three norms, against all that there are."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln, logsumexp

from penstock.mechanisms.poisson.curve import epsilon_of_shape
from penstock.mechanisms.poisson.divergence import renyi_divergence
from penstock.mechanisms.poisson.tails import below
from penstock.mechanisms.shifts import Shifts
from penstock.mechanisms.skellam.curve import epsilon_of_shape as skellam_epsilon_of_shape


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
    top = shifts.largest
    assert max(s for s, _ in shifts.worst[0]) <= top + 1
    for shape in shifts.worst:
        total, sum_of_squares = (sum(s**power * n for s, n in shape) for power in (1, 2))
        assert total <= l1 or sum_of_squares < squares + 2 * (top + 1) ** 2
    if squares >= l1 * top:
        assert (total, len(shifts.worst)) == (l1, 1)


@given(l1=st.integers(1, 10**6), linf=st.integers(1, 10**3), squares=st.integers(1, 10**9))
def test_one_of_the_worst_shapes_reaches_l1_and_one_reaches_l2(
    l1: int, linf: int, squares: int
) -> None:
    shifts = Shifts(l1, squares, linf)
    sums = [[sum(s**power * n for s, n in shape) for shape in shifts.worst] for power in (1, 2)]
    assert max(sums[0]) >= min(l1, squares)
    count, rest = divmod(l1, shifts.largest)
    assert max(sums[1]) >= min(squares, count * shifts.largest**2 + rest**2)


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
    worst = max(epsilon_of_shape(300.0, shape, 1e-5) for shape in shifts.worst)
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
    worst = max(epsilon_of_shape(mean, shape, delta) for shape in shifts.worst)
    assert exact <= worst <= 1.03 * exact
    within = (2 * vector[:1], vector[:1] + vector[:1] + (5,))
    fitting = [v for v in within if sum(s * s for s in v) <= shifts.l2_squared]
    assert max(_epsilon(mean, v, delta) for v in fitting) < exact


@pytest.mark.parametrize("variance", [0.0625, 1.0, 20.0])
@pytest.mark.parametrize(
    ("shifts", "most"),
    [
        (Shifts(4, 9, 3), 1.22),
        (Shifts(3, 4, 2), 1.22),
        (Shifts(8, 18, 4), 1.2),
        (Shifts(40, 160, 10), 1.01),
    ],
)
def test_even_shifts_that_tell_more_than_concentrated_ones_are_covered(
    variance: float, shifts: Shifts, most: float
) -> None:
    """Noise of few steps: what it hides grows with the shifts more than with their squares."""
    within = _all_shapes(shifts)[1:] if shifts.l1 < 9 else [(10, *[1] * 30), (4,) * 10, (10, 7, 3)]
    tells = max(_skellam_epsilon(variance, vector) for vector in within)
    bound = max(skellam_epsilon_of_shape(variance, shape, 1e-9) for shape in shifts.worst)
    assert tells <= bound <= most * tells
    concentrated = (shifts.largest,) * (shifts.l2_squared // shifts.largest**2)
    assert _skellam_epsilon(variance, concentrated) < tells or variance == 20.0


def _skellam_epsilon(variance: float, vector: Sequence[int]) -> float:
    sizes = sorted(set(vector), reverse=True)
    return skellam_epsilon_of_shape(variance, tuple((s, vector.count(s)) for s in sizes), 1e-9)
