"""Test log-probabilities against 60 digits, over all that the samplers accept from."""

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from penstock.randomness.saddle_point import Floats, log_poisson, log_self, product, split

TOLERANCE = 1e-13
MEANS = (16, 17.3, 40, 255.9, 1e3, 12_345.6, 1e6, 1e9 + 0.7, 2.0**40 / 3, 2.0**50 / 3)
WIDTHS = np.linspace(-9, 9, 91)
"""Deviations; beyond them a binomial or Poisson draw ends up once in 2^60."""


def _values(mean: float, deviation: float, most: float) -> Floats:
    around = np.unique(np.rint(mean + WIDTHS * deviation))
    return around[(around >= 0) & (around <= most)]


def _exact_poisson(x: float, mean: Fraction) -> mpmath.mpf:
    m = mpmath.mpf(mean.numerator) / mean.denominator
    return x * mpmath.log(m) - m - mpmath.loggamma(mpmath.mpf(x) + 1)


def _exact_binomial(x: float, n: int, p: Fraction) -> mpmath.mpf:
    top, q = mpmath.mpf(n), 1 - p
    chance, rest = (mpmath.mpf(part.numerator) / part.denominator for part in (p, q))
    choices = mpmath.loggamma(top + 1) - mpmath.loggamma(x + 1) - mpmath.loggamma(top - x + 1)
    return choices + x * mpmath.log(chance) + (top - x) * mpmath.log(rest)


def _worst(found: Floats, exact: list[mpmath.mpf]) -> float:
    return float(max(abs(mpmath.mpf(f) - e) for f, e in zip(found, exact, strict=True)))


@pytest.mark.parametrize("mean", MEANS)
def test_poisson_logarithms_are_right_to_1e_13(mean: float) -> None:
    exact = Fraction(mean) + Fraction(1, 3 << 30)
    high, low = split(exact)
    x = _values(mean, mean**0.5, 2.0**53)
    found = log_poisson(x, high, (x - high) - low)
    with mpmath.workdps(60):
        assert _worst(found, [_exact_poisson(value, exact) for value in x]) < TOLERANCE


def _binomial_by(multiply: Callable[[Floats, Fraction], tuple[Floats, Floats]]) -> list[float]:
    """Return the worst errors over sizes and chances, with the mean as ``multiply`` gives it."""
    worst = []
    for chance in (Fraction(1, 2), Fraction(3, 7), Fraction(1, 10), Fraction(1, 1000)):
        for mean in MEANS:
            n = min(round(mean / chance), 1 << 53)
            spread = (n * chance * (1 - chance)) ** 0.5
            x = _values(float(n * chance), spread, n)
            total = np.full(len(x), float(n))
            center, rest = multiply(total, chance)
            deviation = (x - center) - rest
            found = log_poisson(x, center, deviation) - log_self(total)
            found += log_poisson(total - x, total - center, -deviation)
            with mpmath.workdps(60):
                worst.append(_worst(found, [_exact_binomial(v, n, chance) for v in x]))
    return worst


def test_binomial_logarithms_are_right_to_1e_13() -> None:
    assert max(_binomial_by(lambda n, chance: product(n, *split(chance)))) < TOLERANCE


def test_a_mean_in_one_float_spoils_the_logarithms() -> None:
    rounded = _binomial_by(lambda n, chance: (n * float(chance), np.zeros_like(n)))
    assert max(rounded) > 100 * TOLERANCE


@pytest.mark.parametrize("n", [1, 17, 3**20, (1 << 53) - 1])
@pytest.mark.parametrize("chance", [Fraction(1, 3), Fraction(1, 2), Fraction(5, 1 << 40)])
def test_products_are_kept_to_twice_the_digits(n: int, chance: Fraction) -> None:
    high, low = product(np.array([float(n)]), *split(chance))
    kept = Fraction(float(high[0])) + Fraction(float(low[0]))
    assert abs(kept - n * chance) <= n * chance / (1 << 100)


def test_zero_and_all_are_ordinary_values() -> None:
    assert log_poisson(np.zeros(1), 20.0, np.array([-20.0])) == pytest.approx([-20.0])
    assert log_self(np.ones(1)) == pytest.approx([-1.0])
