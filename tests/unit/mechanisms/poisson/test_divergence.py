"""Test the Rényi divergence of shifted Poisson noise against sums of 40 digits."""

import itertools
import math

import mpmath
import pytest

from penstock.mechanisms.poisson.divergence import renyi_divergence


def _exact_renyi(mean: float, shift: int, order: float) -> float:
    """Return the larger Renyi loss of both directions, summed to 40 digits.

    The sums are over the noise, given that it is at least ``shift``.
    """
    with mpmath.workdps(40):
        m, a = mpmath.mpf(mean), mpmath.mpf(order)
        start = max(0, int(mean - 14 * mean**0.5 - 2 * order * shift)) if mean > 1e4 else 0
        top = int(mean + (14 if start else 30) * mean**0.5 + (2 if start else 8) * order * shift)
        mass = [mpmath.exp(start * mpmath.log(m) - m - mpmath.loggamma(start + 1))]
        for k in range(start + 1, top + 60):
            mass.append(mass[-1] * m / k)
        inside = mpmath.fsum(mass[shift:]) if start == 0 else 1
        pairs = [(mass[y - shift], mass[y] / inside) for y in range(shift, len(mass))]
        sums = [
            mpmath.fsum(p**a * q ** (1 - a) for p, q in pairs),
            mpmath.fsum(q**a * p ** (1 - a) for p, q in pairs),
        ]
        return float(mpmath.log(max(sums)) / (a - 1))


def test_the_divergence_has_its_known_value() -> None:
    assert renyi_divergence(1_000, 1, 11) == pytest.approx(0.005542, abs=5e-7)


MEANS, SHIFTS, ORDERS = (5.0, 40.0, 1_000.0), (1, 2, 4), (1.5, 11.0, 57.0)
"""At every change each two of them meet once."""


@pytest.mark.parametrize(
    ("mean", "shift", "order"),
    [
        pytest.param(
            MEANS[i],
            SHIFTS[j],
            ORDERS[k],
            marks=[] if (i + j + k) % 3 == 0 else pytest.mark.nightly,
        )
        for i, j, k in itertools.product(range(3), repeat=3)
    ],
)
def test_the_divergence_is_the_larger_exact_sum(mean: float, shift: int, order: float) -> None:
    exact = _exact_renyi(mean, shift, order)
    divergence = renyi_divergence(mean, shift, order)
    assert exact <= divergence
    assert divergence == pytest.approx(exact, rel=1e-8)


def test_the_divergence_is_summed_as_well_with_strides() -> None:
    exact = _exact_renyi(70_000.0, 30, 11.0)
    assert renyi_divergence(70_000.0, 30, 11.0) == pytest.approx(exact, rel=1e-8)


@pytest.mark.parametrize("mean", [1e6, 1e9, 1e12])
def test_the_divergence_of_large_means_is_that_of_the_gaussian(mean: float) -> None:
    shift = max(int(mean**0.5 / 100), 1)
    normal = 11 * shift**2 / (2 * mean)
    assert renyi_divergence(mean, shift, 11.0) == pytest.approx(normal, rel=0.02)


def test_the_divergence_is_infinite_where_it_is_beyond_use() -> None:
    assert renyi_divergence(1e6, 1_000, 500.0) == math.inf
    assert renyi_divergence(100.0, 300, 2.0) == math.inf


@pytest.mark.parametrize(
    ("mean", "shift", "order"),
    [
        (1.0, 2, 57.0),
        (1.01, 2, 511.0),
        pytest.param(1.3, 3, 1024.0, marks=pytest.mark.nightly),
        (2.5, 4, 400.0),
    ],
)
def test_noise_of_hardly_any_width_has_a_divergence_as_well(
    mean: float, shift: int, order: float
) -> None:
    exact = _exact_renyi(mean, shift, order)
    divergence = renyi_divergence(mean, shift, order)
    assert exact <= divergence
    assert divergence == pytest.approx(exact, rel=1e-8)
