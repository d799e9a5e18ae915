"""Test the worst integer vectors under three norms, against all that there are."""

import itertools
import math
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats
from scipy.special import gammaln, logsumexp
from tests.oracles.shifted_vectors import admitted, divergences

from penstock.mechanisms import shifts as shapes_module
from penstock.mechanisms.poisson.curve import epsilon_of_shape
from penstock.mechanisms.poisson.divergence import renyi_divergence
from penstock.mechanisms.poisson.tails import below
from penstock.mechanisms.shifts import Shape, Shifts
from penstock.mechanisms.skellam.curve import epsilon_of_shape as skellam_epsilon_of_shape
from penstock.privacy import Sensitivity


def _all_shapes(shifts: Shifts) -> list[tuple[int, ...]]:
    return admitted(shifts.l1, shifts.l2_squared, shifts.linf)


def _vector(shape: Shape) -> tuple[int, ...]:
    return tuple(size for size, count in shape for _ in range(count))


LAWS = {
    "skellam of few steps": stats.skellam(0.15, 0.15).pmf(np.arange(-30, 31)),
    "skellam": stats.skellam(2.0, 2.0).pmf(np.arange(-40, 41)),
    "poisson": stats.poisson(6.0).pmf(np.arange(50)),
    "laplace": stats.dlaplace(0.7).pmf(np.arange(-80, 81)),
}
EPSILONS = np.linspace(-7.0, 9.0, 65)


def _moved_step_falls(masses: np.ndarray, way: int) -> float:
    """Return by how much a divergence falls at most if a step is moved to a larger shift."""
    falls = [
        divergences(masses, (way * a, way * b), EPSILONS)
        - divergences(masses, (way * (a + 1), way * (b - 1)), EPSILONS)
        for a in range(1, 5)
        for b in range(1, a + 1)
    ]
    return float(np.max(falls))


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("law", LAWS)
def test_a_larger_shift_and_a_step_moved_to_one_reveal_more_at_every_epsilon(
    law: str, way: int
) -> None:
    for shift in range(1, 6):
        less, more = (
            divergences(LAWS[law], (way * s, 2 * way), EPSILONS) for s in (shift - 1, shift)
        )
        assert np.all(more >= less - 1e-13)
    assert _moved_step_falls(LAWS[law], way) <= 1e-13


def test_noise_that_is_not_log_concave_is_found_out() -> None:
    two_humps = np.convolve(LAWS["skellam of few steps"], [0.5, *[0.0] * 4, 0.5])
    assert _moved_step_falls(two_humps, 1) > 0.1


@given(l1=st.integers(1, 12), linf=st.integers(1, 6), squares=st.integers(1, 40))
def test_every_vector_becomes_one_of_the_worst_shapes_step_by_step(
    l1: int, linf: int, squares: int
) -> None:
    shifts = Shifts(l1, squares, linf)
    within = set(_all_shapes(shifts))
    worst = {_vector(shape) for shape in shifts.worst}
    assert worst <= within
    for vector in within:
        stuck = vector
        while larger := [after for after in _steps(stuck) if after in within]:
            stuck = larger[len(vector) % len(larger)]
        assert stuck in worst


def _steps(vector: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the vectors with a step more, or with a step moved to a larger shift."""
    padded = (*vector, 0)
    found = []
    for place, size in enumerate(padded):
        grown = [*padded[:place], size + 1, *padded[place + 1 :]]
        found.append(grown)
        found += [
            [*grown[:other], grown[other] - 1, *grown[other + 1 :]]
            for other in range(place + 1, len(vector))
        ]
    return [tuple(sorted((s for s in shape if s), reverse=True)) for shape in found]


def test_many_shapes_are_replaced_by_two() -> None:
    assert len(Shifts(16, 40, 4).worst) == 10
    assert Shifts(20, 60, 6).worst == (((6, 1), (5, 1)), ((3, 7),))


def test_an_l2_that_is_the_float_nearest_to_a_root_admits_the_root() -> None:
    root = Fraction(math.sqrt(6))
    assert root**2 < 6
    sensitivity = Sensitivity(Fraction(4), root**2, Fraction(2))
    assert Shifts.of(sensitivity, Fraction(1)) == Shifts(4, 6, 2)
    below = Sensitivity(Fraction(4), Fraction(6) - Fraction(1, 10**12), Fraction(2))
    assert Shifts.of(below, Fraction(1)) == Shifts(4, 5, 2)


@given(l1=st.integers(1, 9), linf=st.integers(1, 6), squares=st.integers(1, 40))
def test_no_vector_costs_more_than_the_bound_over_shapes_and_one_costs_as_much(
    l1: int, linf: int, squares: int
) -> None:
    shifts = Shifts(l1, squares, min(linf, l1))

    def part(shift: int) -> float:
        return shift**2 * (1 + shift / 50)

    most = max(sum(part(s) for s in shape) for shape in _all_shapes(shifts))
    assert shifts.largest_sum(part) == pytest.approx(most, rel=1e-12)


@given(
    l1=st.integers(1, 12),
    squares=st.integers(1, 36),
    parts=st.lists(st.floats(0, 100), min_size=1, max_size=6),
)
def test_where_l2_binds_any_loss_has_its_largest_sum_and_a_linear_program_is_close(
    l1: int, squares: int, parts: list[float]
) -> None:
    shifts = Shifts(l1, squares, len(parts))
    values = sorted(parts)[: shifts.largest]
    top = shifts.largest
    if (l1 // top) * top**2 + (l1 % top) ** 2 <= squares:
        return
    most = max(sum(values[s - 1] for s in shape) for shape in _all_shapes(shifts))
    assert shifts.largest_sum(lambda s: values[s - 1]) == pytest.approx(most, rel=1e-12)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(shapes_module, "_full_counts", lambda *_: None)
        bound = shifts.largest_sum(lambda s: values[s - 1])
    assert most * (1 - 1e-12) <= bound <= (most + 2 * values[-1]) * (1 + 1e-9)


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
    # Convex in the shift alone: by l2 even shifts are the worst, here four of 2.
    assert Shifts(8, 16, 4).largest_sum(lambda shift: shift**1.5) == pytest.approx(4 * 2**1.5)
    # Above the largest shift that is taken by itself l2 says nothing.
    assert Shifts(80, 1600, 40).largest_sum(lambda shift: shift**1.5) == pytest.approx(2 * 40**1.5)


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
        (Shifts(4, 9, 3), 1.0),
        (Shifts(3, 4, 2), 1.0),
        (Shifts(8, 18, 4), 1.0),
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
    assert tells * (1 - 1e-12) <= bound <= most * tells * (1 + 1e-9)
    concentrated = (shifts.largest,) * (shifts.l2_squared // shifts.largest**2)
    assert _skellam_epsilon(variance, concentrated) < tells or variance == 20.0


def _skellam_epsilon(variance: float, vector: Sequence[int]) -> float:
    sizes = sorted(set(vector), reverse=True)
    return skellam_epsilon_of_shape(variance, tuple((s, vector.count(s)) for s in sizes), 1e-9)
