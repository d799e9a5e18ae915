"""Test that generalized Gaussian noise's epsilons and deltas are the integrals', rounded up."""

import math
from itertools import pairwise

import numpy as np
import pytest
from tests.unit.mechanisms.generalized_gaussian.oracle import delta_of_sum, one_delta

from penstock.errors import InvalidInput
from penstock.mechanisms.gaussian.curve import delta_at
from penstock.mechanisms.generalized_gaussian import loss_distribution
from penstock.mechanisms.generalized_gaussian.law import information, loss
from penstock.mechanisms.generalized_gaussian.loss_distribution import (
    Shifted,
    TotalLoss,
    _where,
    delta_of,
    epsilon_of,
    loss_table,
    rough_epsilon,
)
from penstock.mechanisms.loss_table import FloatVector


def moved(count: int, power: float, scale: float) -> tuple[Shifted, ...]:
    """Return ``count`` values that move by 1, under noise of ``scale``."""
    return (Shifted(power, 1 / scale, count),)


@pytest.mark.parametrize(
    ("count", "power", "scale", "epsilon", "delta"),
    [
        (1, 4, 5, 1, 1.27720e-2),
        (1, 3, 4, 0.5, 4.14758e-2),
        (1, 3, 3, 0.5, 7.8685e-2),
        (10, 4, 30, 1, 1.00147e-5),
        (64, 3, 60, 1, 1.351489e-6),
        (64, 4, 73.0979, 1, 1.00000e-6),
        (100, 4, 60, 1, 2.918686e-4),
        (256, 3, 118.84, 1, 1.00000e-6),
        (1000, 4, 170, 1, 7.26731e-4),
        (1024, 1.5, 160, 1, 1.753505e-6),
        (16, 6, 25, 1, 3.382098e-3),
    ],
)
def test_deltas_have_their_known_values(
    count: int, power: float, scale: float, epsilon: float, delta: float
) -> None:
    assert delta_of(moved(count, power, scale), epsilon) == pytest.approx(delta, rel=1.5e-4)
    assert epsilon_of(moved(count, power, scale), delta) == pytest.approx(epsilon, rel=2e-5)


@pytest.mark.parametrize(
    ("count", "power", "scale"),
    [
        (1, 1, 1.0),
        (16, 1, 15.1706),
        (16, 4, 41.7144),
        (64, 1, 32.8998),
        (64, 2.5, 54.5456),
        (256, 3, 118.840),
        (1024, 2, 191.187),
        (1024, 3.5, 255.535),
        (4096, 4, 545.261),
        (16384, 1, 540.525),
        (16384, 4, 1089.42),
        (65536, 5, 2436.03),
    ],
)
def test_scales_for_an_epsilon_of_1_have_their_known_values(
    count: int, power: float, scale: float
) -> None:
    """At delta 1e-6; those of power 1 are known to a hundredth of a percent."""
    epsilon = epsilon_of(moved(count, power, scale), 1e-6)
    assert epsilon == pytest.approx(1, rel=2e-4 if power == 1 else 1e-5)


def test_two_tiers_together_lose_less_than_their_sum_and_more_than_the_best() -> None:
    both = (*moved(64, 4.0, 138.6176), *moved(64, 4.0, 73.0979))
    assert epsilon_of(both[:1], 1e-6) == pytest.approx(0.5, rel=1e-5)
    assert epsilon_of(both, 1e-6) == pytest.approx(1.11674, abs=1e-5)
    assert delta_of(both, 1.0) == pytest.approx(5.90e-6, rel=1e-3)


@pytest.mark.slow
@pytest.mark.parametrize("power", [1.25, 4.0])
def test_outcomes_that_are_cut_off_count_as_lost(power: float) -> None:
    shift, tail = 0.5, 0.02
    table = loss_table(power, shift, 1e-3, tail)
    assert table.infinite == pytest.approx(tail, rel=1e-6)
    profile = table.profile(2 * len(table.upper))
    for place in (1, len(table.upper) // 2, len(table.upper), 2 * len(table.upper)):
        assert one_delta(power, shift, place * 1e-3) <= profile[place]


FEW, SOME, MANY = (0.1, 1e-2), (1.0, 1e-6), (5.0, 1e-9)
AT_EVERY_CHANGE = {
    1.0: (MANY,),
    1.25: (FEW,),
    2.0: (SOME,),
    2.5: (MANY,),
    4.0: (FEW,),
    7.5: (SOME,),
    16.0: (FEW, MANY),
}
ONE = [
    pytest.param(power, *loss, marks=[] if loss in AT_EVERY_CHANGE[power] else pytest.mark.nightly)
    for power in AT_EVERY_CHANGE
    for loss in (FEW, SOME, MANY)
]


@pytest.mark.slow
@pytest.mark.parametrize(("power", "epsilon", "delta"), ONE)
def test_one_value_is_never_below_the_integral_and_hardly_above(
    power: float, epsilon: float, delta: float
) -> None:
    shift = 0.7 * epsilon / (power if power < 3 else 1 + power**2)
    kinds = (Shifted(power, shift, 1),)
    read = epsilon_of(kinds, delta)
    assert one_delta(power, shift, read) <= delta * (1 + 1e-9)
    if read > 0:
        assert one_delta(power, shift, read * (1 - 1e-3)) > delta
        below = read * 0.9
        exact = one_delta(power, shift, below)
        assert exact <= delta_of(kinds, below, delta) <= exact * 1.002


SUMS = [
    (1.25, 256, 1.0, 1e-6),
    (1.5, 1000, 0.1, 1e-3),
    (2.5, 64, 1.0, 1e-10),
    (2.5, 64, 5.0, 1e-6),
    (4.0, 10, 0.1, 1e-6),
    (4.0, 4096, 1.0, 1e-6),
    (8.0, 100, 1.0, 1e-9),
    (16.0, 64, 1.0, 1e-6),
]
every_sum = pytest.mark.parametrize(("power", "count", "epsilon", "delta"), SUMS)


def shift_for(power: float, count: int, epsilon: float, delta: float) -> float:
    """Return about the shift that comes to ``epsilon`` at ``delta``."""
    mu = epsilon / math.sqrt(2 * math.log(1 / delta))
    return mu / math.sqrt(count * information(power))


def is_kept(power: float, count: int, epsilon: float, delta: float) -> bool:
    """Return whether what is stated is at or above the integral."""
    shift = shift_for(power, count, epsilon, delta)
    found = delta_of((Shifted(power, shift, count),), epsilon, delta)
    exact = delta_of_sum(power, shift, count, epsilon)
    assert found <= exact * 1.003
    return found >= exact * (1 - 1e-6)


@every_sum
def test_sums_are_never_below_the_integral_and_hardly_above(
    power: float, count: int, epsilon: float, delta: float
) -> None:
    assert is_kept(power, count, epsilon, delta)


def floored(masses: FloatVector, others: FloatVector, width: float) -> FloatVector:
    return np.append(masses[1:], 0.0)


@every_sum
def test_losses_that_are_rounded_down_are_found_out(
    power: float, count: int, epsilon: float, delta: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loss_distribution, "split_cells", floored)
    assert not is_kept(power, count, epsilon, delta)


def test_a_normal_law_for_the_sum_would_promise_too_much() -> None:
    for count, scale, at_least in ((64, 73.0979, 4), (10, 25.0, 10)):
        mu = math.sqrt(count * information(4.0)) / scale
        exact = delta_of_sum(4.0, 1 / scale, count, 1.0)
        assert delta_at(1.0, mu) * at_least < exact <= delta_of(moved(count, 4.0, scale), 1.0)


@pytest.mark.parametrize("power", [1.0, 1.01, 1.25, 2.0, 4.0, 16.0])
@pytest.mark.parametrize("shift", [1e-9, 1e-4, 0.05, 1.0, 30.0])
def test_cells_end_where_their_losses_do(power: float, shift: float) -> None:
    top = float(loss(np.array([-3.0]), power, shift)[0])
    cells = np.linspace(0, top * 0.999, 1000)
    ends = _where(cells, power, shift)
    assert np.all(np.diff(ends) <= 0)
    found = loss(ends, power, shift)
    assert found == pytest.approx(cells, rel=1e-6, abs=top * 1e-6)


def test_the_figure_falls_in_the_noise_and_in_delta() -> None:
    scales = [epsilon_of(moved(64, 4.0, scale), 1e-6) for scale in (20, 40, 80, 1e4, 1e9)]
    deltas = [epsilon_of(moved(64, 4.0, 80), delta) for delta in (1e-15, 1e-9, 1e-6, 1e-3, 0.3)]
    for falling in (scales, deltas):
        assert all(a > b for a, b in pairwise(falling))
        assert falling[-1] == 0.0


@pytest.mark.parametrize(
    ("power", "shift", "count", "delta", "epsilon"),
    [
        (1.0, 0.05, 24, 1e-6, 0.9641472917412723),
        (1.25, 0.05, 24, 1e-6, 1.0897550632168307),
        (1.5, 0.2, 5, 1e-6, 1.937260372421373),
        (2.0, 0.05, 24, 1e-12, 2.3455923570930466),
        (3.0, 0.2, 24, 1e-6, 10.500053845258083),
        (4.0, 0.05, 200, 1e-6, 7.681618044459374),
        (4.0, 0.7, 1, 1e-3, 14.631034934315151),
        (4.0, 6.0, 1, 1e-6, 7886.775696386248),
        (5.25, 0.01, 5000, 1e-6, 8.653233352791421),
    ],
)
def test_the_figure_is_that_of_a_center_from_ten_divergences(
    power: float, shift: float, count: int, delta: float, epsilon: float
) -> None:
    """Those were the stated ones, when the center of the sums was sought by halving."""
    found = epsilon_of((Shifted(power, shift, count),), delta)
    assert epsilon * (1 - 1e-9) <= found <= epsilon * (1 + 1e-9)


@pytest.mark.parametrize(
    ("power", "shift", "count", "epsilon"),
    [(8.0, 0.05, 24, 5.364195475376099), (16.0, 0.01, 5, 1.2309755623191556)],
)
def test_of_few_values_with_steep_losses_less_is_counted_twice(
    power: float, shift: float, count: int, epsilon: float
) -> None:
    """A better center leaves less mass beyond the other end, and none of what is due."""
    found = epsilon_of((Shifted(power, shift, count),), 1e-6)
    assert epsilon * (1 - 1e-3) <= found <= epsilon
    first, masses = loss_table(power, shift, 4e-4, 1e-16).dense()
    size = 1 << 20
    places = np.arange(first, first + len(masses)) % size
    spectrum = np.fft.rfft(np.bincount(places, masses, size)) ** count
    sums = np.fft.irfft(spectrum, size)[: size // 2]
    above = np.maximum(-np.expm1(found - 4e-4 * np.arange(size // 2)), 0)
    assert float(sums @ above) <= 1e-6


def test_a_bound_is_the_least_of_all_tilts() -> None:
    for kinds in (moved(64, 4.0, 73.0979), moved(5, 16.0, 100.0), moved(24, 1.5, 20.0)):
        total = TotalLoss.of(kinds, 1e-6)
        for chance in (1e-3, 1e-6, 1e-12):
            bounds = [
                (total._tilted(t)[0] - math.log(chance)) / t
                for t in np.geomspace(1e-3, 1e3, 400) / total.deviation
            ]
            assert min(bounds) * (1 - 5e-3) <= total.bound(chance) <= min(bounds) * (1 + 1e-6)


@pytest.mark.parametrize(
    "kinds", [moved(64, 4.0, 73.0979), moved(24, 1.5, 20.0), moved(5, 3.0, 9.0)]
)
def test_a_rough_epsilon_is_close_to_the_exact_one(kinds: tuple[Shifted, ...]) -> None:
    assert rough_epsilon(kinds, 1e-6) == pytest.approx(epsilon_of(kinds, 1e-6), rel=5e-3)


def test_tilted_sums_have_the_mean_that_is_asked_for() -> None:
    for kinds in (moved(64, 4.0, 73.0979), moved(5, 16.0, 100.0), moved(24, 1.5, 20.0)):
        total = TotalLoss.of(kinds, 1e-6)
        for center in np.linspace(0.5, 8, 12) * total.deviation:
            mean = total._tilted(total.tilt(center))[1]
            assert mean == pytest.approx(center, abs=2e-6 * total.deviation)


def test_pure_losses_are_never_exceeded_and_far_losses_are_bounded() -> None:
    assert epsilon_of((Shifted(1.0, 0.5, 6), Shifted(1.0, 0.25, 1)), 1e-6) <= 3.25
    huge = epsilon_of(moved(64, 4.0, 1e-3), 1e-6)
    assert 64 * 1e12 < huge < math.inf


def test_the_known_bound_on_the_tail_is_above_the_tail() -> None:
    total = TotalLoss.of(moved(64, 4.0, 73.0979), 1e-6)
    for chance in (1e-3, 1e-6, 1e-12):
        bound = total.bound(chance)
        # The divergence at a loss is at most the chance of a greater one.
        assert delta_of_sum(4.0, 1 / 73.0979, 64, bound) <= chance
        assert delta_of_sum(4.0, 1 / 73.0979, 64, bound * 0.5) > chance * 0.1


@pytest.mark.parametrize("delta", [0.0, 1.0, -0.1, math.nan])
def test_a_delta_outside_of_0_to_1_is_refused_with_the_number(delta: float) -> None:
    with pytest.raises(InvalidInput, match=f"between 0 and 1, not {delta}"):
        epsilon_of(moved(1, 4.0, 1.0), delta)
