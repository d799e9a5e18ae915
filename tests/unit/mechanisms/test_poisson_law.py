"""Privacy of Poisson noise: known values, brute force over tables, and bounds over shapes."""

import itertools
import math

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from penstock.mechanisms.poisson_law import (
    Shape,
    Shifts,
    epsilon_of_shape,
    failure,
    half_width,
    renyi_divergence,
    theorem_epsilon,
)

ONE: Shape = ((1, 1),)

Floats = NDArray[np.float64]


@pytest.mark.parametrize(
    ("mean", "delta", "epsilon"),
    [
        (500, 1e-6, 0.1789),
        (1_000, 1e-6, 0.1210),
        (5_000, 1e-6, 0.04979),
        (20_000, 1e-6, 0.02336),
        (200, 1e-6, 0.3052),
        (900, 1e-6, 0.1284),
        (4_000, 1e-6, 0.0563),
        (400, 1e-5, 0.170232),
        (1e5, 1e-6, 0.009694),
        (1e6, 1e-9, 0.004432),
    ],
)
def test_one_shifted_coordinate_has_its_known_epsilon(
    mean: float, delta: float, epsilon: float
) -> None:
    digits = len(str(epsilon)) - 2
    assert epsilon_of_shape(mean, ONE, delta) == pytest.approx(epsilon, abs=0.51 * 10**-digits)


@pytest.mark.parametrize(
    ("shape", "epsilon"), [(((1, 4),), 0.249), (((2, 2),), 0.364), (((4, 1),), 0.535)]
)
def test_concentrated_vectors_lose_more(shape: Shape, epsilon: float) -> None:
    assert epsilon_of_shape(1_000, shape, 1e-6) == pytest.approx(epsilon, abs=5.1e-4)


def _tables(mean: float, shifts: tuple[int, ...]) -> tuple[Floats, Floats]:
    """Joint probabilities of the noise shifted by ``shifts`` and of the noise itself."""
    top = int(mean + 12 * mean**0.5 + 40)
    plain, moved = np.ones(1), np.ones(1)
    values = np.arange(-max(0, *(-s for s in shifts)), top)
    for shift in shifts:
        plain = np.multiply.outer(plain, stats.poisson.pmf(values, mean)).ravel()
        moved = np.multiply.outer(moved, stats.poisson.pmf(values - shift, mean)).ravel()
    return moved, plain


def _delta(epsilon: float, likely: Floats, unlikely: Floats) -> float:
    return float(np.maximum(likely - math.exp(epsilon) * unlikely, 0).sum())


def _brute_epsilon(mean: float, shifts: tuple[int, ...], delta: float) -> float:
    first, second = _tables(mean, shifts)
    low, high = 0.0, 50.0
    while high - low > 1e-11:
        middle = (low + high) / 2
        worst = max(_delta(middle, first, second), _delta(middle, second, first))
        low, high = (low, middle) if worst <= delta else (middle, high)
    return high


@pytest.mark.parametrize("mean", [20.0, 60.0, 300.5])
@pytest.mark.parametrize("shift", [1, 3])
def test_one_coordinate_agrees_with_the_sum_over_its_table(mean: float, shift: int) -> None:
    for delta in (1e-3, 1e-5):
        exact = _brute_epsilon(mean, (shift,), delta)
        assert epsilon_of_shape(mean, ((shift, 1),), delta) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize(
    ("mean", "shape"), [(40.0, ((1, 2),)), (60.0, ((2, 1), (1, 1))), (9.0, ((1, 3),))]
)
def test_several_coordinates_are_bounded_from_above_and_closely(mean: float, shape: Shape) -> None:
    shifts = tuple(s for s, count in shape for _ in range(count))
    for delta in (1e-2, 1e-3):
        exact = _brute_epsilon(mean, shifts, delta)
        found = epsilon_of_shape(mean, shape, delta)
        assert exact <= found + 1e-9
        assert found == pytest.approx(exact, rel=1e-5)


@pytest.mark.parametrize("mean", [30.0, 80.0])
def test_shifts_of_both_signs_lose_less_than_those_of_one(mean: float) -> None:
    for one, other in ((1, 1), (2, 1), (2, 2)):
        same = _brute_epsilon(mean, (one, other), 1e-4)
        assert _brute_epsilon(mean, (one, -other), 1e-4) < same


def test_one_direction_alone_would_promise_too_much() -> None:
    mean, shift, delta = 40.0, 2, 1e-4
    first, second = _tables(mean, (shift,))
    epsilon = epsilon_of_shape(mean, ((shift, 1),), delta)
    sides = sorted([_delta(epsilon, first, second), _delta(epsilon, second, first)])
    assert sides[1] == pytest.approx(delta, rel=1e-6)
    assert sides[0] < 0.7 * delta


def test_falling_below_the_shift_is_part_of_delta() -> None:
    below = failure(10.0, 1)
    assert below == pytest.approx(math.exp(-10))
    assert epsilon_of_shape(10.0, ONE, 0.9 * below) == math.inf
    assert epsilon_of_shape(10.0, ONE, 1.1 * below) < math.inf
    assert epsilon_of_shape(10.0, ((1, 2),), 1.9 * below) == math.inf
    assert epsilon_of_shape(10.0, ((1, 2),), 2.2 * below) < math.inf


@pytest.mark.parametrize("mean", [1e9, 1e12])
def test_large_means_approach_the_gaussian_of_equal_variance(mean: float) -> None:
    from penstock.mechanisms.normal_curve import epsilon_at

    shift = int(mean**0.5 / 50)
    for count in (1, 9):
        normal = epsilon_at(1e-6, shift * count**0.5 / mean**0.5)
        found = epsilon_of_shape(mean, ((shift, count),), 1e-6)
        assert found == pytest.approx(normal, rel=2e-4)


def test_epsilon_falls_as_the_mean_or_delta_grows() -> None:
    for shape in (ONE, ((2, 3),)):
        by_mean = [epsilon_of_shape(m, shape, 1e-6) for m in (100, 200, 1e3, 1e5)]
        by_delta = [epsilon_of_shape(500, shape, d) for d in (1e-9, 1e-7, 1e-5, 1e-2)]
        for epsilons in (by_mean, by_delta):
            assert epsilons == sorted(epsilons, reverse=True)


@pytest.mark.parametrize(
    ("mean", "delta", "bound"),
    [
        (500, 1e-6, 1.0384),
        (1_000, 1e-6, 0.568264),
        (5_000, 1e-6, 0.1551),
        (20_000, 1e-6, 0.05750),
        (400, 1e-5, 0.999822),
        (2_000, 1e-6, 0.318835),
        (1e4, 1e-6, 0.093058),
        (1e5, 1e-6, 0.020763),
        (1e6, 1e-9, 0.007250),
    ],
)
def test_the_closed_form_has_its_known_values_and_is_no_closer(
    mean: float, delta: float, bound: float
) -> None:
    found = theorem_epsilon(mean, 1, 1, 1, 1, delta)
    assert found == pytest.approx(bound, rel=1e-3)
    assert epsilon_of_shape(mean, ONE, delta) < bound


def test_the_closed_form_keeps_to_its_condition() -> None:
    least = 23 * math.log(10 * 4 / 1e-6)
    assert theorem_epsilon(least * 1.001, 1, 1, 1, 4, 1e-6) is not None
    assert theorem_epsilon(least * 0.999, 1, 1, 1, 4, 1e-6) is None
    assert theorem_epsilon(1_000, 600, 600, 600, 1, 1e-6) is None


def _exact_renyi(mean: float, shift: int, order: float) -> float:
    """Both directions, summed to 40 digits over the noise given that it is at least ``shift``."""
    with mpmath.workdps(40):
        m, a = mpmath.mpf(mean), mpmath.mpf(order)
        top = int(mean + 30 * mean**0.5 + 8 * order * shift + 60)
        mass = [mpmath.exp(-m)]
        for k in range(1, top):
            mass.append(mass[-1] * m / k)
        inside = mpmath.fsum(mass[shift:])
        pairs = [(mass[y - shift], mass[y] / inside) for y in range(shift, top)]
        sums = [
            mpmath.fsum(p**a * q ** (1 - a) for p, q in pairs),
            mpmath.fsum(q**a * p ** (1 - a) for p, q in pairs),
        ]
        return float(mpmath.log(max(sums)) / (a - 1))


def test_the_divergence_has_its_known_value() -> None:
    assert renyi_divergence(1_000, 1, 11) == pytest.approx(0.005542, abs=5e-7)


@pytest.mark.parametrize("mean", [5.0, 40.0, 1_000.0])
@pytest.mark.parametrize("shift", [1, 2, 4])
@pytest.mark.parametrize("order", [1.5, 11.0, 57.0])
def test_the_divergence_is_the_larger_exact_sum(mean: float, shift: int, order: float) -> None:
    exact = _exact_renyi(mean, shift, order)
    found = renyi_divergence(mean, shift, order)
    assert exact <= found
    assert found == pytest.approx(exact, rel=1e-8)


def test_the_divergence_is_summed_as_well_with_strides() -> None:
    for shift, order in ((1, 11.0), (30, 3.0), (5, 300.0)):
        exact = _exact_renyi(70_000.0, shift, order)
        assert renyi_divergence(70_000.0, shift, order) == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("mean", [1e6, 1e9, 1e12])
def test_the_divergence_of_large_means_is_that_of_the_gaussian(mean: float) -> None:
    shift = max(int(mean**0.5 / 100), 1)
    normal = 11 * shift**2 / (2 * mean)
    assert renyi_divergence(mean, shift, 11.0) == pytest.approx(normal, rel=0.02)


def test_the_divergence_is_infinite_where_it_is_beyond_use() -> None:
    assert renyi_divergence(1e6, 1_000, 500.0) == math.inf
    assert renyi_divergence(100.0, 5, 1_000.0) > 100


@pytest.mark.parametrize("mean", [50.0, 400.0, 20_000.0])
@pytest.mark.parametrize("order", [1.5, 5.0, 57.0])
def test_costs_are_convex_in_the_shift_and_in_its_square(mean: float, order: float) -> None:
    shifts = range(1, min(int(mean / (3 * order)) + 2, 12))
    for part in (lambda s: renyi_divergence(mean, s, order), lambda s: failure(mean, s)):
        values = [0.0, *map(part, shifts)]
        for power in (1, 2):
            slopes = [(values[s] - values[s - 1]) / (s**power - (s - 1) ** power) for s in shifts]
            assert all(b >= a * (1 - 1e-8) for a, b in itertools.pairwise(slopes))


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


@pytest.mark.parametrize("mean", [0.5, 3.0, 100.25, 1e6])
@pytest.mark.parametrize("confidence", [0.5, 0.95, 0.999])
def test_half_widths_are_the_least_that_cover(mean: float, confidence: float) -> None:
    h = half_width(mean, confidence)

    def covered(width: float) -> float:
        low, high = math.ceil(mean - width) - 1, math.floor(mean + width)
        return float(stats.poisson.cdf(high, mean) - stats.poisson.cdf(low, mean))

    assert covered(h) >= confidence
    assert covered(h * (1 - 1e-7) - 1e-7) < confidence
