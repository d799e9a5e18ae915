"""Test Bessel draws: the hat over the law, the tables of small means, and what is refused."""

from fractions import Fraction

import mpmath
import numpy as np
import pytest

from penstock.errors import InvalidInput
from penstock.randomness import Stream
from penstock.randomness.bernoulli import CERTAIN
from penstock.randomness.bessel.functions import _table, bessel, moments
from penstock.randomness.bessel.law import log_skellam
from penstock.randomness.rejection import SMALLEST_MEAN, TransformedRejection
from penstock.randomness.saddle_point import Floats, log_poisson


def _stream() -> Stream:
    return Stream.from_key(bytes(32))


@pytest.mark.parametrize(("order", "argument"), [(0, Fraction(3)), (7, Fraction(41, 2))])
def test_the_table_is_the_distribution_function(order: int, argument: Fraction) -> None:
    table = _table(order, argument)
    with mpmath.workdps(90):
        half = mpmath.mpf(argument.numerator) / argument.denominator / 2
        total = mpmath.besseli(order, 2 * half) * mpmath.gamma(order + 1) / half**order
        below = mpmath.mpf(0)
        for n, value in enumerate(table.thresholds):
            below += (
                half ** (2 * n)
                * mpmath.gamma(order + 1)
                / (mpmath.factorial(n) * mpmath.gamma(n + order + 1))
            )
            assert abs(value - below / total * CERTAIN) <= 1
    assert len(table.thresholds) > argument


def _log_pmf(values: Floats, order: float, argument: float) -> Floats:
    half = argument / 2
    both = log_poisson(values, half, values - half)
    both += log_poisson(values + order, half, values + order - half)
    return np.asarray(both - log_skellam(np.array([order]), argument))


@pytest.mark.parametrize("argument", [34.0, 64.0, 1e3, 1e5, 1e8])
@pytest.mark.parametrize("deviations", [0, 1, 3, 6, 12])
def test_the_hat_is_above_the_law_and_the_inside_below_it(argument: float, deviations: int) -> None:
    order = float(round(deviations * argument**0.5))
    mean, variance = (float(part[0]) for part in moments(np.array([order]), argument))
    if mean < SMALLEST_MEAN:
        return
    deviation = variance**0.5
    one = np.zeros(1, dtype=np.int64)
    sampler = TransformedRejection(one, np.zeros(1), np.array([deviation]), 0.0, _stream())
    us = np.geomspace(1e-6, 0.5, 20_000)
    bent = sampler.bend(us, np.zeros(len(us), dtype=np.int64))
    for side in (1, -1):
        value = np.maximum(np.floor(mean + side * bent + 0.5), 0)
        chance = np.exp(_log_pmf(value, order, argument)) * (sampler._a / us**2 + sampler._b)
        assert (chance <= sampler._ceiling).all()
        inside = us >= 0.07
        assert (chance[inside] >= sampler._ceiling * sampler._inside).all()


@pytest.mark.parametrize("argument", [Fraction(20), Fraction(101), Fraction(1 << 40)])
def test_draws_have_the_moments_of_the_law(argument: Fraction) -> None:
    orders = np.resize(np.array([0, 1, 9]), 90_000)
    drawn = bessel(orders, argument, _stream())
    for order in (0, 1, 9):
        part = drawn[orders == order]
        reach = 12 * float(argument) ** 0.5 + 40
        step = max(1, int(reach / 2000))
        center = moments(np.array([float(order)]), float(argument))[0][0]
        values = np.arange(max(0, center - reach) // 1, center + reach, step)
        mass = np.exp(_log_pmf(values, float(order), float(argument)))
        mass /= mass.sum()
        mean = float(mass @ values)
        deviation = float(mass @ (values - mean) ** 2) ** 0.5
        assert part.mean() == pytest.approx(mean, abs=6 * deviation / len(part) ** 0.5 + 1e-9)
        assert part.std() == pytest.approx(deviation, rel=6 / len(part) ** 0.5)


def test_no_orders_give_no_draws() -> None:
    assert not len(bessel(np.zeros(0, dtype=np.int64), Fraction(5), _stream()))


@pytest.mark.parametrize(("order", "argument"), [(-1, 5), (0, 0), (0, -1), (0, 1 << 54)])
def test_what_has_no_law_is_refused(order: int, argument: int) -> None:
    with pytest.raises(InvalidInput, match="Bessel"):
        bessel(np.array([order]), Fraction(argument), _stream())
