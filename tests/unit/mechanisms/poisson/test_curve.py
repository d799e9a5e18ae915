"""Test epsilon of shifted Poisson noise: known values, brute force over tables, large means."""

import math
from itertools import product

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.curve import epsilon_at
from penstock.mechanisms.loss_sums import epsilon_of_sum
from penstock.mechanisms.poisson.curve import (
    _losses,
    epsilon_of_shape,
    rough_epsilon,
    simplified_epsilon,
    theorem_epsilon,
)
from penstock.mechanisms.poisson.tails import below
from penstock.mechanisms.shifts import Shape

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
    """Return joint probabilities of the noise shifted by ``shifts`` and of the noise itself."""
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
def test_shifts_of_both_signs_lose_less_away_from_the_end_of_the_support(mean: float) -> None:
    for one, other in ((1, 1), (2, 1), (2, 2)):
        same = _brute_epsilon(mean, (one, other), 1e-4)
        assert _brute_epsilon(mean, (one, -other), 1e-4) < same


@pytest.mark.parametrize(
    ("mean", "shifts", "delta"),
    [(15.963, (1, -3), 3.4432e-5), (16.0, (3, -1), 3.3021e-5), (18.42, (4, -1), 2.5117e-5)],
)
def test_shifts_of_both_signs_are_covered_where_they_lose_more(
    mean: float, shifts: tuple[int, ...], delta: float
) -> None:
    sizes = tuple(sorted((abs(shift) for shift in shifts), reverse=True))
    exact = _brute_epsilon(mean, shifts, delta)
    assert _brute_epsilon(mean, sizes, delta) < exact * (1 - 1e-3)
    found = epsilon_of_shape(mean, tuple((size, 1) for size in sizes), delta)
    assert exact <= found + 1e-9
    assert found == pytest.approx(exact, rel=1e-5)


def test_one_direction_alone_would_promise_too_much() -> None:
    mean, shift, delta = 40.0, 2, 1e-4
    first, second = _tables(mean, (shift,))
    epsilon = epsilon_of_shape(mean, ((shift, 1),), delta)
    sides = sorted([_delta(epsilon, first, second), _delta(epsilon, second, first)])
    assert sides[1] == pytest.approx(delta, rel=1e-6)
    assert sides[0] < 0.7 * delta


def test_falling_below_the_shift_is_part_of_delta() -> None:
    outside = below(10.0, 1)
    assert outside == pytest.approx(math.exp(-10))
    assert epsilon_of_shape(10.0, ONE, 0.9 * outside) == math.inf
    assert epsilon_of_shape(10.0, ONE, 1.1 * outside) < math.inf
    assert epsilon_of_shape(10.0, ((1, 2),), 1.9 * outside) == math.inf
    assert epsilon_of_shape(10.0, ((1, 2),), 2.2 * outside) < math.inf


@pytest.mark.parametrize("mean", [7e7, 1e9, 1e12, 1e15])
def test_large_means_approach_the_gaussian_of_equal_variance(mean: float) -> None:
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


def test_the_closed_form_says_which_mean_it_needs() -> None:
    least = 23 * math.log(10 * 4 / 1e-6)
    assert theorem_epsilon(least * 1.001, 1, 1, 1, 4, 1e-6) > 0
    with pytest.raises(InvalidInput, match=r"from a mean of .* = 402\.6.* this one is 402;"):
        theorem_epsilon(402, 1, 1, 1, 4, 1e-6)
    with pytest.raises(InvalidInput, match="= 1200 on, and this one is 1000"):
        theorem_epsilon(1_000, 600, 600, 600, 1, 1e-6)
    with pytest.raises(InvalidInput, match="delta between 0 and 1"):
        theorem_epsilon(1_000, 1, 1, 1, 1, 0)


def test_the_simplified_form_is_never_below_the_theorem() -> None:
    """With 3 in place of its 4 it would be: a delta of 0.9 shows that."""
    closest = 0.0
    for delta in (0.9, 0.1, 1e-3, 1e-6, 1e-12):
        for dimension in (1, 2, 100, 10**6):
            least = 23 * math.log(10 * dimension / delta)
            for mean in (least * 1.001, 10 * least, 1e9):
                bound = theorem_epsilon(mean, 1, 1, 1, dimension, delta)
                simple = simplified_epsilon(mean, dimension, delta)
                assert bound <= simple
                tail = math.sqrt(2 * math.log(1.25 / delta) / mean)
                closest = max(closest, 4 * (bound - tail) / (simple - tail))
    assert closest > 3
    with pytest.raises(InvalidInput, match=r"from a mean of .* this one is 300;"):
        simplified_epsilon(300, 1, 1e-6)


@pytest.mark.parametrize(
    ("mean", "shape", "norms"),
    [
        (1_000, ((1, 4),), (4, 2, 1)),
        (1_000, ((2, 2),), (4, 8**0.5, 2)),
        (1_000, ((4, 1),), (4, 4, 4)),
        (5_000, ((3, 30), (1, 1)), (91, 271**0.5, 3)),
    ],
)
def test_the_closed_form_bounds_vectors_as_well(
    mean: float, shape: Shape, norms: tuple[float, float, float]
) -> None:
    for delta in (1e-4, 1e-6, 1e-9):
        assert epsilon_of_shape(mean, shape, delta) < theorem_epsilon(mean, *norms, 64, delta)


@pytest.mark.parametrize("mean", [40.0, 440.0, 31_700.0])
@pytest.mark.parametrize("shape", [((1, 24),), ((5, 3),), ((2, 3), (1, 1))])
def test_a_rough_epsilon_is_close_to_the_exact_one(mean: float, shape: Shape) -> None:
    exact = epsilon_of_shape(mean, shape, 1e-6)
    assert rough_epsilon(mean, shape, 1e-6) == pytest.approx(exact, rel=5e-3)


@pytest.mark.parametrize("mean", [60.0, 440.0, 31_700.0])
@pytest.mark.parametrize("shape", [((1, 24),), ((5, 3),), ((2, 3), (1, 1)), ((40, 1), (1, 9))])
@pytest.mark.parametrize("delta", [1e-4, 1e-9])
def test_the_direction_that_loses_most_is_taken(mean: float, shape: Shape, delta: float) -> None:
    """Directions are ruled out on a coarse grid; here each is read on the fine one."""
    each = [
        epsilon_of_sum(
            [_losses(mean, shift, up) for (shift, _), up in zip(shape, way, strict=True)],
            [count for _, count in shape],
            delta,
        )
        for way in product((True, False), repeat=len(shape))
    ]
    assert epsilon_of_shape(mean, shape, delta) == max(each)
