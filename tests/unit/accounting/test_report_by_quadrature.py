"""Test the composed epsilon against integrals of moments: another method, sharing no code."""

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import reduce

import numpy as np
import pytest
from scipy import stats
from tests.unit.accounting import exact_losses, quadrature

from penstock.accounting import PlacedRelease, composed_epsilon
from penstock.accounting.charging.per_unit import of_unit
from penstock.mechanisms.gaussian.curve import delta_at
from penstock.privacy import Sensitivity

FINE = Fraction(1, 2**12)


def equal(count: int, shift: Fraction | int = 1) -> Sensitivity:
    """Return ``count`` coordinates that move by ``shift`` each."""
    return Sensitivity(count * Fraction(shift), count * Fraction(shift) ** 2, Fraction(shift))


def bounded_and_met(
    composed: float, losses: Sequence[quadrature.Losses], delta: float, reach: float, near: float
) -> None:
    """Require that ``composed`` keeps ``delta`` by the integral, and ``near`` below would not."""
    assert quadrature.delta_at(losses, composed, reach) <= delta * (1 + 1e-6)
    assert quadrature.delta_at(losses, composed * (1 - near), reach) > delta


@pytest.mark.parametrize(
    ("count", "shift", "scale", "epsilon", "delta"),
    [
        (100, 1, 50, 1.071304, 9.99e-10),
        (100, 1, 10, 5.756522, 1.91e-9),
        (400, 1, 100, 0.979705, 2.48e-8),
        (1000, 1, 300, 0.684170, 7.8e-13),
        (25, 1, 5, 2.645966, 2.47e-3),
        (64, Fraction(1, 2), 20, 0.878386, 1.87e-7),
    ],
)
def test_theorem_1_3_is_exact_to_a_known_delta_only(
    count: int, shift: Fraction, scale: int, epsilon: float, delta: float
) -> None:
    steps = int(shift / FINE)
    losses = [quadrature.laplace(float(FINE) / scale, steps).times(count)]
    reach = 30 * scale / float(shift)
    assert quadrature.delta_at(losses, epsilon, reach) == pytest.approx(delta, rel=5e-3)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_gaussian_releases_match_the_integral(delta: float) -> None:
    placed = [
        PlacedRelease("gaussian", FINE, Fraction(variance), equal(count))
        for variance, count in ((50, 1), (400, 9), (90, 2))
    ]
    mus = [math.sqrt(r.sensitivity.l2_squared / r.level) for r in placed]
    losses = [quadrature.gaussian(mu) for mu in mus]
    bounded_and_met(composed_epsilon(placed, delta), losses, delta, 60, 1e-6)
    together = math.sqrt(sum(mu * mu for mu in mus))
    assert quadrature.delta_at(losses, 0.7, 60) == pytest.approx(delta_at(0.7, together), rel=1e-9)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_laplace_vectors_of_many_steps_match_the_integral(delta: float) -> None:
    placed = PlacedRelease("laplace", FINE, Fraction(20), equal(60))
    losses = [quadrature.laplace(float(FINE) / 20, 4096).times(60)]
    bounded_and_met(composed_epsilon([placed], delta), losses, delta, 600, 1e-4)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("steps", [1, 3])
def test_laplace_vectors_of_few_steps_match_sums_on_the_lattice_of_losses(
    steps: int, delta: float
) -> None:
    decay, count = 1 / 20, 60
    single = np.zeros(2 * steps + 1)
    single[::2] = exact_losses.laplace(decay, steps)[0][::-1]
    masses = reduce(np.convolve, [single] * count)
    losses = decay * np.arange(-steps * count, steps * count + 1)
    pair = (masses, masses * np.exp(-losses))
    exact = exact_losses.epsilon_at(pair, delta)
    placed = PlacedRelease("laplace", Fraction(1), Fraction(20), equal(count, steps))
    assert exact * (1 - 1e-9) <= composed_epsilon([placed], delta) <= exact * (1 + 2e-4)


def _poisson(mean: float, shift: int) -> exact_losses.Pair:
    return exact_losses.poisson_noise(mean, shift, int(mean + 14 * mean**0.5 + 60))


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
def test_a_poisson_vector_matches_the_integral_in_its_worse_direction(delta: float) -> None:
    placed = PlacedRelease("poisson", Fraction(1), Fraction(400), equal(30, 2))
    pair = _poisson(400.0, 2)
    ways = [quadrature.table(one).times(30) for one in (pair, exact_losses.turned(pair))]
    composed = composed_epsilon([placed], delta)
    deltas = [quadrature.delta_at([way], composed, 30) for way in ways]
    bounded_and_met(composed, [ways[deltas.index(max(deltas))]], delta, 30, 1e-5)
    # Beside others each coordinate counts at its own worse direction, which costs a little.
    twice = composed_epsilon([placed, placed], delta)
    bounded_and_met(twice, [max(ways, key=lambda w: _at(w, twice)).times(2)], delta, 30, 1e-2)


def _at(losses: quadrature.Losses, epsilon: float) -> float:
    return quadrature.delta_at([losses.times(2)], epsilon, 30)


def _skellam(variance: float, shift: int) -> exact_losses.Pair:
    """Return the noise and its shift, by summing over both parts.

    The tails are less exact in scipy's own law.
    """
    part = stats.poisson.pmf(np.arange(int(variance / 2 + 14 * variance**0.5 + 60)), variance / 2)
    masses = np.convolve(part, part[::-1])
    nothing = np.zeros(shift)
    return np.append(nothing, masses)[shift:-shift], np.append(masses, nothing)[shift:-shift]


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize(("variance", "count", "shift"), [(400, 20, 2), (60, 5, 1)])
def test_a_skellam_vector_beside_a_gaussian_release_matches_the_integral(
    variance: int, count: int, shift: int, delta: float
) -> None:
    # Alone, its losses are nearly on a lattice, and the moments come back far from 0.
    placed = [
        PlacedRelease("skellam", Fraction(1), Fraction(variance), equal(count, shift)),
        PlacedRelease("gaussian", FINE, Fraction(9), equal(1)),
    ]
    losses = [quadrature.table(_skellam(variance, shift)).times(count), quadrature.gaussian(1 / 3)]
    bounded_and_met(composed_epsilon(placed, delta), losses, delta, 40, 1e-4)


@pytest.mark.parametrize("delta", [1e-3, 1e-6, 1e-9])
@pytest.mark.parametrize("count", [1, 2])
def test_few_skellam_values_match_an_enumeration(count: int, delta: float) -> None:
    pair = _skellam(60, 1)
    likely = pair[0] > 1e-22
    exact = exact_losses.epsilon_at(
        exact_losses.joint([(pair[0][likely], pair[1][likely])] * count), delta
    )
    placed = PlacedRelease("skellam", Fraction(1), Fraction(60), equal(count))
    assert exact * (1 - 1e-9) <= composed_epsilon([placed], delta) <= exact * (1 + 1e-6)


def test_one_skellam_release_has_its_known_epsilon() -> None:
    placed = PlacedRelease("skellam", Fraction(1), Fraction(1000), equal(1))
    composed = composed_epsilon([placed], 1e-6)
    assert composed == pytest.approx(0.115741, abs=6e-7)
    exact = exact_losses.epsilon_at(_skellam(1000, 1), 1e-6)
    assert exact * (1 - 1e-9) <= composed <= exact * (1 + 1e-5)


def _mix() -> tuple[list[PlacedRelease], list[quadrature.Losses], list[exact_losses.Pair]]:
    """Return seven Gaussian, seven Laplace and six Poisson releases, no two alike."""
    placed, losses, pairs = [], [], []
    for place in range(7):
        variance = 150 + 40 * place
        placed.append(PlacedRelease("gaussian", FINE, Fraction(variance), equal(1 + place % 3)))
        losses.append(quadrature.gaussian(math.sqrt((1 + place % 3) / variance)))
        step = Fraction(1) if place % 2 else FINE
        scale, shift = 9 + 2 * place, 1 + place // 3
        placed.append(PlacedRelease("laplace", step, Fraction(scale), equal(1, shift)))
        losses.append(quadrature.laplace(float(step) / scale, int(shift / step)))
    for place in range(6):
        mean, shift = 200.0 + 150 * place, 1 + place % 2
        placed.append(PlacedRelease("poisson", Fraction(1), Fraction(mean), equal(1, shift)))
        pairs.append(_poisson(mean, shift))
    return placed, losses, pairs


@pytest.mark.parametrize(
    "delta",
    [
        pytest.param(1e-3, marks=pytest.mark.nightly),
        1e-6,
        pytest.param(1e-9, marks=pytest.mark.nightly),
    ],
)
def test_a_mix_of_twenty_matches_the_integral_whatever_way_each_answer_moves(delta: float) -> None:
    placed, losses, pairs = _mix()
    assert len(set(placed)) == 20
    composed = composed_epsilon(placed, delta)
    found = []
    for ways in (0b000000, 0b111111, 0b101010, 0b000111):
        turned = [
            quadrature.table(exact_losses.turned(pair) if ways >> place & 1 else pair)
            for place, pair in enumerate(pairs)
        ]
        found.append([*losses, *turned])
    deltas = [quadrature.delta_at(one, composed, 40) for one in found]
    assert max(deltas) <= delta * (1 + 1e-6)
    worst = found[deltas.index(max(deltas))]
    assert quadrature.delta_at(worst, composed * (1 - 3e-3), 40) > delta


def test_a_figure_that_is_too_small_is_found_out() -> None:
    placed, losses, pairs = _mix()
    everything = [*losses, *(quadrature.table(pair) for pair in pairs)]
    without_one = composed_epsilon(placed[1:], 1e-6)
    assert quadrature.delta_at(everything, without_one, 40) > 1.1e-6


@pytest.mark.parametrize("steps", [1, 2, 5])
@pytest.mark.parametrize("delta", [1e-6, 1e-9])
def test_a_stream_is_charged_what_a_unit_in_several_steps_loses(steps: int, delta: float) -> None:
    """Four noises to a step, and a unit whose steps all touch the same four."""
    step = equal(4)
    laplace = PlacedRelease("laplace", Fraction(1), Fraction(30), of_unit(step, steps))
    composed = composed_epsilon([laplace], delta)
    assert composed <= steps * 4 / 30 * (1 + 1e-12)
    exact = exact_losses.joint([exact_losses.laplace(1 / 30, steps)] * 4)
    assert exact_losses.delta_at(exact, composed) <= delta * (1 + 1e-6)
    assert exact_losses.delta_at(exact, composed * (1 - 1e-3)) > delta
    gaussian = PlacedRelease("gaussian", FINE, Fraction(900), of_unit(step, steps))
    mu = steps * math.sqrt(4 / 900)
    bounded_and_met(
        composed_epsilon([gaussian], delta), [quadrature.gaussian(mu)], delta, 200 / mu, 1e-6
    )
